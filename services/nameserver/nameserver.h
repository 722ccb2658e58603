// Nameserver: all parts of a nameserver on one ORB: the store, its contexts as objects, leases and those who end them,
// listeners.
//
//   Nameserver server(orb, std::move(store), orb->settings().naming);
//   server.open();
//   orb->run();
//   server.stop();
//   orb->destroy();
//
// Threads: one of its own ends leases and iterators (housekeeper), one tells listeners. Made and ended by one thread;
// outlives the ORB's destroy().
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "orb/core/settings.h"
#include "services/nameserver/directory.h"
#include "services/nameserver/server_servant.h"

namespace corelane::nameserver {

class Nameserver {
 public:
  // Takes the ORB's object key NameService. Names whose owners have ended go. Nothing listens yet: whoever comes before
  // its contexts are there would be told that they do not exist.
  Nameserver(CORBA::object_reference<CORBA::ORB> orb, std::unique_ptr<Store> store,
             const core::NamingSettings& settings);
  Nameserver(const Nameserver&) = delete;
  Nameserver& operator=(const Nameserver&) = delete;
  ~Nameserver() { stop(); }

  // From here on it answers, and is the ORB's initial reference NameService.
  void open();
  // Its threads end; what is asked later may stay unanswered. Idempotent.
  void stop();

  Objects::ContextReference root() { return objects_.reference_to(root_context); }

 private:
  static constexpr std::size_t kept_changes = 4096;
  // To a store that did not answer, and a system that had no descriptor for a process.
  static constexpr Duration again = std::chrono::seconds{1};
  // For iterators that nobody uses.
  static constexpr Duration shortest_look = std::chrono::milliseconds{100}, longest_look = std::chrono::seconds{60};

  // The store tells nobody any more once it is gone: a store's thread may be in the midst of changed() until then.
  struct Hearing {
    Store& store;
    ~Hearing() { store.on_change({}); }
  };

  void changed(const Change& change) noexcept;
  void restore_leases();
  void restore_more_leases();
  void watch_processes();
  void keep_house();
  void drop(const std::vector<std::string>& owners);
  Time next_chore() const;

  const std::unique_ptr<Store> store_;
  NameTree tree_;
  const Duration iterator_age_;
  const Writers writers_;
  Leases leases_;
  os::ProcessWatch processes_;
  ChangeLog log_;
  Watches watches_;
  Objects objects_;
  const std::shared_ptr<Iterators> iterators_;
  DirectoryParts directory_;
  // The housekeeper's.
  std::vector<std::string> ended_;  // owners whose names are to go
  bool unwatched_ = false;          // the end of some process with a lease would be missed
  bool is_behind_ = false;          // the store was away at the start, and may know of more owners when it is back
  std::atomic<bool> stopped_{false};
  std::thread housekeeper_;
  const Hearing hearing_{*store_};  // last: it uses the others
};

}  // namespace corelane::nameserver
