#include "orb/os/locks/requester_lock.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "orb/os/locks/light_wait.h"
#include "orb/os/machine/cpu_mask.h"
#include "orb/os/thread.h"

namespace corelane::os {
namespace {

constexpr int usual_spins = 400;       // about as long as a wake-up takes
constexpr int usual_light_waits = 10;  // of 20,000 cycles at most

// The number that the kernel gives the calling thread; 0 until it is asked. In the child of a fork() the thread has
// another number.
constinit thread_local std::uint32_t known_number = 0;

void forget_number() noexcept { known_number = 0; }

std::uint32_t ask_for_number() noexcept {
  static const int registered = pthread_atfork(nullptr, nullptr, forget_number);
  (void)registered;
  known_number = static_cast<std::uint32_t>(gettid());
  return known_number;
}

long futex(RequesterLockSystem::Word& word, int operation, std::uint32_t value) noexcept {
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

}  // namespace

std::uint32_t RequesterLockSystem::this_thread() noexcept {
  return known_number != 0 ? known_number : ask_for_number();
}

bool RequesterLockSystem::is_real_time() noexcept { return os::is_real_time(); }

int RequesterLockSystem::spins() noexcept {
  static const bool has_one_core = process_affinity().only().has_value();
  return has_one_core ? 0 : usual_spins;
}

int RequesterLockSystem::light_waits() noexcept { return can_wait_lightly() ? usual_light_waits : 0; }

void RequesterLockSystem::wait_lightly(const Word& word, std::uint32_t value) noexcept {
  os::wait_lightly(word, value);
}

void RequesterLockSystem::sleep_while(Word& word, std::uint32_t value) noexcept {
  (void)futex(word, FUTEX_WAIT, value);
}

bool RequesterLockSystem::wake(Word& word) noexcept { return futex(word, FUTEX_WAKE, 1) > 0; }

bool RequesterLockSystem::lock_in_kernel(Word& word) noexcept {
  for (;;) {
    if (futex(word, FUTEX_LOCK_PI, 0) == 0) return true;
    // EAGAIN: the holder is about to end, and the kernel asks for another attempt.
    if (errno != EAGAIN && errno != EINTR) return false;
  }
}

void RequesterLockSystem::unlock_in_kernel(Word& word) noexcept { (void)futex(word, FUTEX_UNLOCK_PI, 0); }

}  // namespace corelane::os
