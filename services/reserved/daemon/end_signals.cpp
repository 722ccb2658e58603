#include "services/reserved/daemon/end_signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdint>
#include <iterator>
#include <utility>

#include "orb/base/errors.h"
#include "orb/core/exception.h"
#include "orb/core/lifecycle/orb_state.h"
#include "orb/os/thread.h"

namespace corelane::reserved {
namespace {

constexpr int end_signals[] = {SIGTERM, SIGINT, SIGHUP};

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void block_end_signals() {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGPIPE);
  for (const int signal : end_signals)
    if (!is_ignored(signal)) sigaddset(&blocked, signal);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
}

EndSignals::EndSignals(core::Orb& orb) : orb_(orb.shared_from_this()), stop_(::eventfd(0, EFD_CLOEXEC)) {
  sigset_t taken;
  sigemptyset(&taken);
  for (const int signal : end_signals) sigaddset(&taken, signal);
  signals_ = os::Fd(::signalfd(-1, &taken, SFD_CLOEXEC));
  if (!signals_ || !stop_) core::raise(errors::no_descriptor);
  auto waiter = os::plain_thread<std::thread>([this] { wait(); });
  if (!waiter) core::raise(waiter.error());
  waiter_ = std::move(*waiter);
}

EndSignals::~EndSignals() {
  const std::uint64_t ones = 1;
  (void)!::write(stop_.get(), &ones, sizeof ones);
  waiter_.join();
}

// Bound: runs until the destructor.
void EndSignals::wait() const {
  for (;;) {
    pollfd ready[] = {{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                      {.fd = stop_.get(), .events = POLLIN, .revents = 0}};
    if (::poll(ready, std::size(ready), -1) < 0) continue;  // interrupted
    if (ready[1].revents != 0) return;
    signalfd_siginfo signal{};
    if (::read(signals_.get(), &signal, sizeof signal) != sizeof signal) continue;
    try {
      if (!orb_->state().stop_in_run()) orb_->shutdown(false);
    } catch (const core::SystemException&) {
      // the ORB is destroyed, so it has already stopped
    }
  }
}

}  // namespace corelane::reserved
