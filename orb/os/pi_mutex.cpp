#include "orb/os/pi_mutex.h"

#include <cassert>

namespace corelane::os {

PiMutex::PiMutex() noexcept {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
  pthread_mutex_init(&mutex_, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

void PiMutex::lock() noexcept {
  [[maybe_unused]] const int result = pthread_mutex_lock(&mutex_);
  assert(result == 0);
}

bool PiMutex::try_lock() noexcept { return pthread_mutex_trylock(&mutex_) == 0; }

void PiMutex::unlock() noexcept {
  [[maybe_unused]] const int result = pthread_mutex_unlock(&mutex_);
  assert(result == 0);
}

}  // namespace corelane::os
