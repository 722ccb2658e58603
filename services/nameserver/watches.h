// Watches: listeners that hear of changes to names. One thread tells them, oneway, so that no writer waits for any, and
// no listener for the end of another's work. They take turns: what a listener does not take within its turn it is told
// in the next, and one that cannot be reached within a second is forgotten. Those that took all in their last turn are
// told before and between the others, and so wait for one call of these at most, however slow that is.
//
// Where names do not change, listeners are asked now and then whether they are there, and at once when the process that
// added them has ended: one that is gone is forgotten, and with it what it holds here. One that only does not answer
// stays: it may be stopped.
//
// Threads: any; the telling thread is Watches' own.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "CorelaneNamingC.h"
#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "services/nameserver/change_log.h"
#include "services/nameserver/clients.h"

namespace corelane::nameserver {

using WatchId = std::uint64_t;  // random

// The same change as the IDL tells it.
Corelane::Naming::Change cos_change_of(const NamedChange& change);

struct WatchLimits {
  std::size_t watches = 1024;
  std::size_t of_client = 64;
  Duration turn = std::chrono::milliseconds{50};  // no further call to a listener begins then
  Duration look = std::chrono::minutes{1};        // between two questions whether listeners are there
};

class Watches {
 public:
  using Listener = CORBA::object_reference<Corelane::Naming::Listener>;

  // `log` outlives the object.
  Watches(const ChangeLog& log, const WatchLimits& limits);
  ~Watches() { stop(); }

  // Or why not, as a sentence with its remedy.
  Expected<WatchId, std::string> add(const std::string& pattern, Listener listener, const Client& client);
  void remove(WatchId id);
  std::size_t size() const;

  // There is something new in the log.
  void ring();
  // That process has ended: those listeners that it added are asked whether they are there.
  void look_at(std::int32_t process);
  // Tells nobody any more. Waits for a call that goes on: a second at most. Idempotent.
  void stop();

 private:
  static constexpr Duration patience = std::chrono::seconds{1};  // with a listener's host

  struct Watch {
    Client client;
    NamePattern pattern;
    Listener listener;
    // The telling thread's, once it is in watches_.
    std::uint64_t seen;
    bool prompt = false;  // took all that there was in its last turn
    // Guarded by mutex_.
    bool is_asked = false;  // the process that added it has ended
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
  // Those that are asked, or all.
  void look(bool at_all);

  const ChangeLog& log_;
  const WatchLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable rung_;
  // Guarded by mutex_.
  std::map<WatchId, std::shared_ptr<Watch>> watches_;
  bool news_ = false;
  bool asks_ = false;  // some of them are asked whether they are there
  bool stopped_ = false;

  std::thread thread_;  // last: it uses the others
};

}  // namespace corelane::nameserver
