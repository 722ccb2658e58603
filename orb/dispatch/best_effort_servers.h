// BestEffortServers: what best-effort jobs may use of the cores above the admitted tasks (best_effort.server): a server
// on each core, one SCHED_FIFO level above all tasks and one below the manager. To the analysis each is a load of that
// core, to other processes a promise; and none begins before they know of it and would still hold their deadlines.
//
// Threads: claim(), take_back() and grant() on the manager's; the rest any thread once constructed.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/thread_server.h"
#include "orb/sched/priority.h"
#include "orb/sched/task.h"

namespace corelane::dispatch {

// SCHED_FIFO levels of the tasks: below the manager's, and below the servers' where there are any.
sched::NativeRange task_natives(const ExecutiveOptions& options) noexcept;

class BestEffortServers {
 public:
  // None.
  BestEffortServers() = default;
  // One on each of the cores that the options name, as far as they are leased.
  BestEffortServers(const ExecutiveOptions& options, const std::vector<CoreLease>& leases, const Clock& clock = {});

  bool empty() const noexcept { return posts_.empty(); }
  std::size_t size() const noexcept { return posts_.size(); }
  CoreId core(std::size_t i) const noexcept { return posts_[i]->lease.core; }
  ThreadServer& server(std::size_t i) noexcept { return posts_[i]->server; }

  // Appends what runs on the core. Those that have not begun count, too: they may begin at any time.
  void add_loads(CoreId core, std::vector<sched::PlatformLoad>& loads) const;
  // Appends what is promised, or claimed, to this process's promises.
  void add_promises(std::vector<Promise>& promises) const;
  // Inside a transaction of the provider: claims for each server that has not begun the room that `others` leave beside
  // `mine`. Those that find none are tried again by the next call; the log says so once.
  void claim(std::span<const Promise> others, std::vector<Promise> mine);
  // What was claimed could not be written down: the next claim() looks anew.
  void take_back() noexcept;
  // What was claimed is written down: it begins.
  void grant() noexcept;
  bool all_granted() const noexcept;

  std::vector<BestEffortServerReport> report() const;

 private:
  struct Post {
    Post(const CoreLease& on, const sched::Server& what, int native, const Clock& clock)
        : lease(on), server(what, native, clock) {}
    const CoreLease lease;
    ThreadServer server;
    bool claimed = false;
    bool granted = false;
    bool said = false;  // that it has to wait
  };
  Promise promise_of(const Post& post) const;

  sched::PlatformLoad load_;  // of each
  std::vector<std::unique_ptr<Post>> posts_;
};

}  // namespace corelane::dispatch
