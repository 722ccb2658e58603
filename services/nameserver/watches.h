// Watches notifies listeners of changes to names. One thread sends the oneway calls, so no writer waits for a listener,
// and no listener for the end of another listener's backlog.
//
// The thread works in rounds, in which each listener has a turn of bounded length. Changes that a listener does not
// take within its turn go to it in the next round. A listener that cannot be reached within a second is removed. A
// listener that took all changes in its last turn is prompt. Prompt listeners are notified before and between the
// others. So they wait for at most one call of a slow listener.
//
// If names do not change, the thread checks from time to time whether the listeners still exist. It checks at once when
// the process that added a listener has ended. A listener that does not exist is removed with what it holds here. A
// listener that only does not answer stays: it may be stopped.
//
// Threads: any. Watches has one thread of its own, which notifies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "CorelaneNamingC.h"
#include "orb/base/expected.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/os/mutex.h"
#include "orb/os/wait/condition_variable.h"
#include "services/nameserver/change_log.h"
#include "services/nameserver/clients.h"

namespace corelane::nameserver {

using WatchId = std::uint64_t;  // random

// Returns the change as the IDL describes it.
Corelane::Naming::Change cos_change_of(const NamedChange& change);

struct WatchLimits {
  std::size_t watches = 1024;
  std::size_t of_client = 64;
  Duration turn = std::chrono::milliseconds{50};  // no further call to a listener begins after this time
  Duration look = std::chrono::minutes{1};        // between two checks whether the listeners exist
};

class Watches {
 public:
  using Listener = CORBA::object_reference<Corelane::Naming::Listener>;

  // `log` must outlive the object.
  Watches(const ChangeLog& log, const WatchLimits& limits);
  ~Watches() { stop(); }

  // Adds a listener, or returns why not, as a sentence with its remedy.
  Expected<WatchId, std::string> add(const std::string& pattern, Listener listener, const Client& client);
  void remove(WatchId id);
  std::size_t size() const;

  // Wakes the thread, because the log has a new change.
  void ring();
  // Makes the thread check whether the listeners that this process added still exist. Call it when the process has
  // ended.
  void look_at(std::int32_t process);
  // Stops notifying. Waits for a call in progress, for a second at most. Idempotent.
  void stop();

 private:
  static constexpr Duration patience = std::chrono::seconds{1};  // the timeout of a call to a listener

  struct Watch {
    Client client;
    NamePattern pattern;
    Listener listener;
    // Thread: the notifying one only, once the watch is in watches_.
    std::uint64_t seen;
    bool prompt = false;  // took all that there was in its last turn
    // Guarded by mutex_.
    bool is_asked = false;  // its process has ended, so the thread checks whether it exists
  };
  void run();
  std::vector<std::pair<WatchId, std::shared_ptr<Watch>>> copy() const;
  bool has_news() const;
  bool is_stopped() const;
  bool tell_some(Watch& watch) const;
  void tell(Watch& watch);
  void tell_or_forget(WatchId id, Watch& watch);
  void tell_prompt();
  void tell_all();
  bool is_there(const Watch& watch) const;
  // Checks those whose process has ended, or all.
  void look(bool at_all);

  const ChangeLog& log_;
  const WatchLimits limits_;
  mutable os::Mutex mutex_;
  os::ConditionVariable rung_;
  std::map<WatchId, std::shared_ptr<Watch>> watches_ CORELANE_GUARDED_BY(mutex_);
  bool news_ CORELANE_GUARDED_BY(mutex_) = false;
  bool asks_ CORELANE_GUARDED_BY(mutex_) = false;  // is_asked is set in some watch
  bool stopped_ CORELANE_GUARDED_BY(mutex_) = false;

  std::thread thread_;  // last, because it uses the other members
};

}  // namespace corelane::nameserver
