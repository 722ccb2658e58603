// Runtime holds what all ORBs of a process share: the reactor, and the executive with the provider of its cores. Both
// start when they are first needed, so a pure client leases no core and has no real-time thread.
//
// Threads: any. A mutex guards starting. The threads end when the last ORB is destroyed. Their objects stay alive as
// long as they are in use, and refuse requests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/thread_safety.h"
#include "orb/core/settings.h"
#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/executive.h"
#include "orb/os/mutex.h"
#include "orb/transport/reactor.h"

namespace corelane::core {

// Returns a sentence that names the settings that differ from their defaults but have no meaning in the mode that is
// set; "" if there are none.
std::string unused_settings(const Settings& settings);

// Returns the directory through which this host's processes find one another: runtime.directory, or the default.
std::string runtime_directory_of(const Settings& settings);
// reservation_socket() returns where corelane-reserved listens with these settings. reservation_sockets() returns where
// its clients look for it, in this order.
std::string reservation_socket(const Settings& settings);
std::vector<std::string> reservation_sockets(const Settings& settings);
// Returns whether runtime.directory was set, or its environment variable. If not, a user's programs also look for
// services of root, which serve the whole host.
bool is_runtime_directory_given(const Settings& settings);
// Returns why no socket can be made in the runtime directory and what to do; "" if one can. Makes the directory if it
// is missing.
std::string runtime_directory_fault(const Settings& settings);

// Returns the cores of the mode `leader-followers`: pool.cores, or all that this process may use. BAD_PARAM
// core_unusable: one of them cannot be used; the log says which.
Expected<std::vector<CoreId>> follower_cores(const Settings& settings);

class Runtime {
 public:
  // Returns the Runtime of this process. It works until each ORB that got it has left. After that a new one is made.
  static std::shared_ptr<Runtime> of_process();
  ~Runtime() { stop(); }

  // Notes that one ORB is destroyed. After the last one, calls stop().
  void leave();

  // Returns the reactor, and starts it if need be. It runs under SCHED_OTHER until an ORB serves. BAD_INV_ORDER
  // orb_destroyed: the Runtime has stopped. The reactor lives as long as the Runtime.
  Expected<transport::Reactor*> reactor();
  // Returns the executive. The first call starts it with its settings, locks memory if pool.real_time is on, and gives
  // the reactor its io.priority. The executive lives as long as the Runtime.
  // Errors: BAD_PARAM bad_option if the executive runs with other settings than these; the log names the first.
  // BAD_INV_ORDER orb_destroyed if the Runtime has stopped.
  Expected<dispatch::Executive*> executive(const Settings& settings);
  // Returns a sentence about the first setting in which the running executive differs from `settings`; "" if there is
  // none.
  std::string conflict(const Settings& settings);
  // Returns null until the executive was started.
  dispatch::Executive* started_executive();

  // Ends all threads. Idempotent. Do not call it on one of them.
  void stop();

 private:
  Expected<transport::Reactor*> start_reactor() CORELANE_REQUIRES(mutex_);
  Expected<void> start_executive(const Settings& settings) CORELANE_REQUIRES(mutex_);
  std::string conflict_with(const Settings& settings) const CORELANE_REQUIRES(mutex_);

  static os::Mutex all_mutex_;
  int orbs_ CORELANE_GUARDED_BY(all_mutex_) = 0;

  os::Mutex mutex_;
  bool stopped_ CORELANE_GUARDED_BY(mutex_) = false;
  std::unique_ptr<transport::Reactor> reactor_ CORELANE_GUARDED_BY(mutex_);
  std::unique_ptr<dispatch::CoreProvider> provider_ CORELANE_GUARDED_BY(mutex_);
  std::unique_ptr<dispatch::Executive> executive_ CORELANE_GUARDED_BY(mutex_);
  // The settings that the executive runs with.
  std::unique_ptr<const Settings> settings_ CORELANE_GUARDED_BY(mutex_);
};

}  // namespace corelane::core
