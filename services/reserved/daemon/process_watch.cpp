#include "services/reserved/daemon/process_watch.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include "orb/core/exception.h"
#include "orb/os/clock.h"
#include "orb/os/thread.h"

namespace corelane::reserved {

void ProcessWatch::start(Calls calls) {
  calls_ = std::move(calls);
  auto thread = os::plain_thread<std::thread>([this] { run(); });
  if (!thread) core::raise(thread.error());
  thread_ = std::move(*thread);
}

void ProcessWatch::stop() {
  // PAIR process_watch.stopping: release here -> acquire in run().
  stopping_.store(true, std::memory_order_release);
  processes_.wake();
  if (thread_.joinable()) thread_.join();
}

void ProcessWatch::hurry() {
  // PAIR process_watch.hurried: release here -> acquire in run(). The tick sees what the caller did before.
  hurried_.store(true, std::memory_order_release);
  processes_.wake();
}

Expected<void, std::string> ProcessWatch::watch(const Process& process) {
  const auto watched = processes_.add(process);
  if (watched) return {};
  const int fault = watched.error();
  return Unexpected{"process " + std::to_string(process.pid) +
                    " cannot be watched, so its end would be missed: " + std::generic_category().message(fault) +
                    (fault == EMFILE || fault == ENFILE
                         ? "; raise LimitNOFILE of corelane-reserved, or give reservations back"
                         : "")};
}

// Bound: runs until stop().
void ProcessWatch::run() {
  Time next = os::now();
  for (;;) {
    const auto ended = processes_.wait(next);
    // PAIR process_watch.stopping: acquire here <- release in stop().
    if (stopping_.load(std::memory_order_acquire)) return;
    for (const Process& process : ended) calls_.ended(process);
    // PAIR process_watch.hurried: acquire here <- release in hurry().
    if (!hurried_.exchange(false, std::memory_order_acquire) && os::now() < next) continue;
    const Duration wait = calls_.tick();
    next = os::now() + wait;
  }
}

}  // namespace corelane::reserved
