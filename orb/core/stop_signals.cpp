#include "orb/core/stop_signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "orb/base/errors.h"
#include "orb/core/exception.h"
#include "orb/core/lifecycle/orb_state.h"
#include "orb/os/process/standard_descriptors.h"
#include "orb/os/thread.h"

namespace corelane::core {
namespace {

constexpr std::uint64_t by_signal = 1, by_destructor = std::uint64_t{1} << 32;

// The eventfd that signal handlers write to. It stays open after StopSignals is destroyed, because a handler may still
// run on another thread then. Thread: written by the thread that constructs StopSignals, read by signal handlers.
std::atomic<int> signal_bell{-1};

// The process that made signal_bell. A child of fork() shares the eventfd and must not use it. Thread: as signal_bell.
std::atomic<pid_t> bell_process{-1};

// When the first signal came, in ns of the monotonic clock; 0: none came. Thread: signal handlers.
std::atomic<std::int64_t> first_came{0};

// One stop may send two signals at once: timeout(1) sends one to its child and one to the group of both.
constexpr std::int64_t same_stop = 200'000'000;  // ns

// Gives the signal its default effect when the handler returns. Signal handler.
void take_default_effect(int signal) {
  const int before = errno;
  (void)::signal(signal, SIG_DFL);
  (void)::raise(signal);
  errno = before;
}

bool is_child() noexcept { return getpid() != bell_process.load(std::memory_order_relaxed); }  // relaxed: set before

// Signal handler: calls only what may be called in one.
void ring(int signal) {
  if (is_child()) return take_default_effect(signal);
  const int before = errno;
  timespec time{};
  (void)clock_gettime(CLOCK_MONOTONIC, &time);
  const std::int64_t now = time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
  std::int64_t first = 0;
  // relaxed: nothing is published by it
  if (!first_came.compare_exchange_strong(first, now, std::memory_order_relaxed)) {
    if (now - first >= same_stop) take_default_effect(signal);
    errno = before;
    return;
  }
  const std::uint64_t ones = by_signal;
  (void)!::write(signal_bell.load(std::memory_order_relaxed), &ones, sizeof ones);  // relaxed: never closed
  errno = before;
}

// Forgets signals of an earlier StopSignals that its waiter did not read.
void silence(int bell) noexcept {
  pollfd rung{.fd = bell, .events = POLLIN, .revents = 0};
  std::uint64_t ones = 0;
  if (::poll(&rung, 1, 0) == 1) (void)!::read(bell, &ones, sizeof ones);
}

// Returns the eventfd of this process. Makes it at the first call, and again in a child of fork().
int bell_of_process() {
  const int known = signal_bell.load(std::memory_order_relaxed);  // relaxed: this thread alone writes it
  if (known >= 0 && !is_child()) return silence(known), known;
  os::Fd made(::eventfd(0, EFD_CLOEXEC));
  if (!made) raise(errors::no_descriptor);
  if (known >= 0) ::close(known);                            // the parent's; no handler of this process writes to it
  signal_bell.store(made.get(), std::memory_order_relaxed);  // relaxed: no handler of this process is installed yet
  bell_process.store(getpid(), std::memory_order_relaxed);   // relaxed: as above
  return made.release();
}

}  // namespace

StopSignals::StopSignals(Orb& orb) : orb_(orb.shared_from_this()), bell_(bell_of_process()) {
  first_came.store(0, std::memory_order_relaxed);  // relaxed: the handler is installed below
  auto waiter = os::plain_thread<std::thread>([this] { wait(); });
  if (!waiter) raise(waiter.error());
  waiter_ = std::move(*waiter);
  os::outlive_readers();
  struct sigaction action {};
  action.sa_handler = ring;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    ::sigaction(signals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) ::sigaction(signals[i], &action, nullptr);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < signals.size(); ++i)
    if (before_[i].sa_handler != SIG_IGN) ::sigaction(signals[i], &before_[i], nullptr);
  if (is_child()) {
    waiter_.detach();  // only the parent has that thread
    return;
  }
  const std::uint64_t ones = by_destructor;
  (void)!::write(bell_, &ones, sizeof ones);
  waiter_.join();
}

// Bound: until the destructor. Leaves the signals to other threads: the thread sanitizer does not run a handler in a
// thread that read() blocks.
void StopSignals::wait() const {
  sigset_t handled;
  sigemptyset(&handled);
  for (const int each : signals) sigaddset(&handled, each);
  pthread_sigmask(SIG_BLOCK, &handled, nullptr);
  for (;;) {
    std::uint64_t rung = 0;
    if (::read(bell_, &rung, sizeof rung) != sizeof rung) continue;  // interrupted by a signal
    if (rung >= by_destructor) return;
    try {
      if (!orb_->state().stop_in_run()) orb_->shutdown(false);
    } catch (const SystemException&) {
      // The ORB is destroyed already.
    }
  }
}

}  // namespace corelane::core
