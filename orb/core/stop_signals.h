// StopSignals: SIGTERM and SIGINT shut an ORB down, so that a server ends as its program says: run() returns, what runs
// finishes, traces are written. One that comes before run() is kept until then, so that what a program does before it
// does not fail. A second signal ends the process as if nobody had caught it, if it comes 200 ms after the first or
// later; one that comes sooner belongs to the same stop. A server also outlives the readers of its standard output and
// error: where the program has not said what SIGPIPE does, it does nothing any more.
//
//   auto orb = CORBA::ORB_init(argc, argv);
//   const corelane::core::StopSignals stop(*orb);
//   ...
//   orb->run();
//   orb->destroy();
//
// Threads: one for the wait; made and destroyed by one thread. One object at a time in a process; from its construction
// to its destruction both signals are its own, then they are again what they were. A signal that the process ignores
// stays ignored.
#pragma once

#include "orb/base/language.h"

#include <signal.h>

#include <array>
#include <memory>
#include <thread>

#include "orb/core/orb.h"
#include "orb/os/fd.h"

namespace corelane::core {

class StopSignals {
 public:
  // Raises NO_RESOURCES when the system gives no descriptor or no thread.
  explicit StopSignals(Orb& orb);
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

 private:
  static constexpr std::array<int, 2> signals{SIGTERM, SIGINT};

  void wait() const;

  const std::shared_ptr<Orb> orb_;
  os::Fd bell_;
  std::array<struct sigaction, signals.size()> before_{};
  std::thread waiter_;
};

}  // namespace corelane::core
