// Runtime: what all ORBs of a process share: the reactor, and the executive with the provider of its cores. Both start
// when first needed, so that a pure client leases no core and has no real-time thread.
//
// Threads: any. Starting is guarded by a mutex; the threads end when the last ORB is destroyed. What they worked on
// stays for whoever has it in use then, and turns him away.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/core/settings.h"
#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/executive.h"
#include "orb/transport/reactor.h"

namespace corelane::core {

// Which settings that differ from their defaults mean nothing in the mode that is set, as a sentence; "" when none.
std::string unused_settings(const Settings& settings);

// Where this host's processes meet: runtime.directory, or the one that is theirs without it.
std::string runtime_directory_of(const Settings& settings);
// Where corelane-reserved with these settings listens, and where those who look for it look, in this order.
std::string reservation_socket(const Settings& settings);
std::vector<std::string> reservation_sockets(const Settings& settings);
// Whether somebody has named it. Else what a user's programs look for may be root's, for the whole host, too.
bool is_runtime_directory_given(const Settings& settings);
// Why no socket can be put there, and how to mend it; "" when one can. Makes the directory if need be.
std::string runtime_directory_fault(const Settings& settings);

class Runtime {
 public:
  // The one of this process, which lives until as many ORBs have left it as have got it here; then it is made anew.
  static std::shared_ptr<Runtime> of_process();
  ~Runtime() { stop(); }

  // One ORB is destroyed. The last: stop().
  void leave();

  // Under SCHED_OTHER until somebody serves. BAD_INV_ORDER orb_destroyed: it has stopped. As long as the Runtime.
  Expected<transport::Reactor*> reactor();
  // Starts with the settings of whoever asks first, memory locked where pool.real_time is on, and gives the reactor its
  // io.priority. BAD_PARAM bad_option: it runs with other settings than these; the log names the first. BAD_INV_ORDER
  // orb_destroyed: it has stopped. As long as the Runtime.
  Expected<dispatch::Executive*> executive(const Settings& settings);
  // The first setting in which what runs differs from `settings`, as a sentence; "" when none.
  std::string conflict(const Settings& settings);
  // Null until it was started.
  dispatch::Executive* started_executive();

  // Ends all threads. Idempotent. Not from one of them.
  void stop();

 private:
  Expected<transport::Reactor*> start_reactor();
  Expected<void> start_executive(const Settings& settings);
  std::string conflict_with(const Settings& settings) const;

  int orbs_ = 0;  // guarded by the mutex of all Runtimes

  std::mutex mutex_;
  // Guarded by mutex_.
  bool stopped_ = false;
  std::unique_ptr<transport::Reactor> reactor_;
  std::unique_ptr<dispatch::CoreProvider> provider_;
  std::unique_ptr<dispatch::Executive> executive_;
  std::unique_ptr<const Settings> settings_;  // those that the executive runs with
};

}  // namespace corelane::core
