#include "orb/os/pi_mutex.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace corelane::os {
namespace {

// Returns 0 or the error. Keeps errno, which the caller of lock() or unlock() may still need.
int futex_pi(std::atomic<std::uint32_t>& word, int operation) noexcept {
  const int before = errno;
  const int error = syscall(SYS_futex, &word, operation, 0, nullptr, nullptr, 0) == 0 ? 0 : errno;
  errno = before;
  return error;
}

}  // namespace

// The thread of a child after fork() has another id. It finds it again.
std::uint32_t PiMutex::find_thread() noexcept {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { thread_ = 0; });
  (void)registered;  // without memory for it, a child can use no mutex that another thread of it holds
  return thread_ = static_cast<std::uint32_t>(gettid());
}

// Waits in the kernel, which gives this mutex to the waiting thread with the highest priority. Bound: the critical
// sections of other threads. An error that cannot pass is a bug: this thread holds the mutex already, or its holder
// ended without releasing it. If a thread waited when the holder ended, the kernel reports that in the word.
void PiMutex::wait() noexcept {
  for (;;) {
    const int error = futex_pi(word_, FUTEX_LOCK_PI_PRIVATE);
    // relaxed: this thread holds the mutex, and the kernel set the bit before
    if (error == 0 && (word_.load(std::memory_order_relaxed) & FUTEX_OWNER_DIED) == 0) break;
    if (error != EAGAIN && error != EINTR && error != ENOMEM) std::abort();
  }
  note_passed_on();
}

void PiMutex::pass_on() noexcept {
  note_passing_on();
  for (;;) {  // bound: signals
    const int error = futex_pi(word_, FUTEX_UNLOCK_PI_PRIVATE);
    if (error == 0) return;
    if (error != EAGAIN && error != EINTR) std::abort();
  }
}

}  // namespace corelane::os
