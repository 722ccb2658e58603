// Nameserver holds all parts of a nameserver on one ORB: the store, the contexts as objects, the leases, and the
// listeners.
//
//   Nameserver server(orb, std::move(store), orb->settings().services.of<NameserverSettings>());
//   server.open();
//   orb->run();
//   server.stop();
//   orb->destroy();
//
// Threads: it has two of its own. The housekeeper ends leases and iterators; the other one notifies listeners. One
// thread constructs and destroys the Nameserver, which outlives the ORB's destroy().
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "services/nameserver/directory.h"
#include "services/nameserver/server_servant.h"
#include "services/nameserver/settings.h"

namespace corelane::nameserver {

class Nameserver {
 public:
  // Takes the ORB's object key NameService, and removes the names whose owners have ended. Requests wait until open(),
  // because a request for a context that is not active yet would get OBJECT_NOT_EXIST.
  Nameserver(CORBA::object_reference<CORBA::ORB> orb, std::unique_ptr<Store> store, const NameserverSettings& settings);
  Nameserver(const Nameserver&) = delete;
  Nameserver& operator=(const Nameserver&) = delete;
  ~Nameserver() { stop(); }

  // Answers requests from now on, and is the ORB's initial reference NameService.
  void open();
  // Ends the threads. Later requests may stay unanswered. Idempotent.
  void stop();

  Objects::ContextReference root() { return objects_.reference_to(root_context); }

 private:
  static constexpr std::size_t kept_changes = 4096;
  // The time until the next try, if the store did not answer or the system had no descriptor for a process.
  static constexpr Duration again = std::chrono::seconds{1};
  // Bounds of the time between two checks for unused iterators.
  static constexpr Duration shortest_look = std::chrono::milliseconds{100}, longest_look = std::chrono::seconds{60};

  // Unregisters changed() from the store on destruction. Until then, a thread of the store may be inside changed().
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
  // Thread: the housekeeper only, after open().
  std::vector<std::string> ended_;  // owners whose names are still to be removed
  bool unwatched_ = false;          // some process with a lease is not watched, so its end would be missed
  bool is_behind_ = false;          // the store could not be reached at the start, and may report more owners later
  std::atomic<bool> stopped_{false};
  std::thread housekeeper_;
  const Hearing hearing_{*store_};  // last, because it uses the other members
};

}  // namespace corelane::nameserver
