// Watches: listeners that hear of changes to names. One thread tells them, oneway, so that no writer waits for any; a
// listener that cannot be reached is forgotten.
//
// Threads: any; the telling thread is Watches' own.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "CorelaneNamingC.h"
#include "services/nameserver/change_log.h"

namespace corelane::nameserver {

using WatchId = std::uint64_t;  // random

// The same change as the IDL tells it.
Corelane::Naming::Change cos_change_of(const NamedChange& change);

class Watches {
 public:
  using Listener = CORBA::object_reference<Corelane::Naming::Listener>;

  // `log` outlives the object.
  Watches(const ChangeLog& log, std::size_t most);
  ~Watches() { stop(); }

  // Nothing: there are as many as may be.
  std::optional<WatchId> add(const std::string& pattern, Listener listener);
  void remove(WatchId id);
  std::size_t size() const;

  // There is something new in the log.
  void ring();
  // Tells nobody any more. Idempotent.
  void stop();

 private:
  struct Watch {
    NamePattern pattern;
    Listener listener;
    std::uint64_t seen;  // the telling thread's, once it is in watches_
  };
  void run();
  std::map<WatchId, std::shared_ptr<Watch>> copy() const;
  bool tell(Watch& watch) const;

  const ChangeLog& log_;
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::condition_variable rung_;
  // Guarded by mutex_.
  std::map<WatchId, std::shared_ptr<Watch>> watches_;
  bool news_ = false;
  bool stopped_ = false;

  std::thread thread_;  // last: it uses the others
};

}  // namespace corelane::nameserver
