// StopSignals shuts an ORB down at SIGTERM or SIGINT, so that a server ends in the normal way: run() returns, running
// requests finish, traces are written. A signal that comes before run() takes effect in run(), so that the program's
// earlier steps do not fail. A second signal ends the process by its default action, if it comes
// 200 ms after the first or later. One that comes sooner belongs to the same stop.
//
// From its construction on, a server also survives when the readers of its standard output and error end: a write fails
// with an error and raises no fatal SIGPIPE. An action for SIGPIPE that the program has set stays.
//
//   auto orb = CORBA::ORB_init(argc, argv);
//   const corelane::core::StopSignals stop(*orb);
//   ...
//   orb->run();
//   orb->destroy();
//
// Threads: one that waits for signals. One thread constructs and destroys the object. Only one object may exist in a
// process at a time. It owns both signals from its construction to its destruction, which restores the actions from
// before. A signal that the process ignores stays ignored.
//
// Children: in a child of fork() both signals have their default effect, and the destructor leaves the parent's thread
// and ORB alone.
#pragma once

#include "orb/base/language.h"

#include <signal.h>

#include <array>
#include <memory>
#include <thread>

#include "orb/core/orb.h"

namespace corelane::core {

class StopSignals {
 public:
  // Raises NO_RESOURCES if the system provides no descriptor or no thread.
  explicit StopSignals(Orb& orb);
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

 private:
  static constexpr std::array<int, 2> signals{SIGTERM, SIGINT};

  void wait() const;

  const std::shared_ptr<Orb> orb_;
  const int bell_;  // an eventfd of the process, which stays open
  std::array<struct sigaction, signals.size()> before_{};
  std::thread waiter_;
};

}  // namespace corelane::core
