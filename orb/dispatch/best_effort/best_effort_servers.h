// BestEffortServers provides the servers that let best-effort jobs run above the admitted tasks (best_effort.server).
// There is one server on each core, at one SCHED_FIFO level above all tasks and below the manager. The analysis counts
// each server as a load of its core, and other processes see it as a promise. A server begins only when other processes
// know of it and would still meet their deadlines.
//
// Threads: claim(), take_back() and grant() on the manager's; the rest any thread once constructed.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "orb/dispatch/best_effort/best_effort_load.h"
#include "orb/dispatch/budgets/aperiodic_server.h"
#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/executive.h"
#include "orb/sched/priority.h"
#include "orb/sched/task.h"

namespace corelane::dispatch {

class BestEffortServers {
 public:
  // No servers.
  BestEffortServers() = default;
  // Makes a server on each core that the options name and that is leased, except cores run by the kernel's
  // SCHED_DEADLINE.
  BestEffortServers(const ExecutiveOptions& options, const std::vector<CoreLease>& leases, const Clock& clock = {});

  bool empty() const noexcept { return posts_.empty(); }
  std::size_t size() const noexcept { return posts_.size(); }
  CoreId core(std::size_t i) const noexcept { return posts_[i]->lease.core; }
  AperiodicServer& server(std::size_t i) noexcept { return posts_[i]->server; }

  // Appends the promises that are made or claimed to this process's promises.
  void add_promises(std::vector<Promise>& promises) const;
  // Claims capacity for each server that has not begun, if it fits beside `others` and `mine`. Servers that do not fit
  // are tried again by the next call; each logs its first failure. Call it inside a transaction of the provider.
  void claim(std::span<const Promise> others, std::vector<Promise> mine);
  // Drops the claims because they could not be written to the ledger. The next claim() tries again.
  void take_back() noexcept;
  // Lets the claimed servers begin, because their promises are written.
  void grant() noexcept;
  bool all_granted() const noexcept;

  std::vector<BestEffortServerReport> report() const;

 private:
  struct Post {
    Post(const CoreLease& on, const sched::Server& what, int native, const Clock& clock)
        : lease(on), server(what, native, clock) {}
    const CoreLease lease;
    AperiodicServer server;
    bool claimed = false;
    bool granted = false;
    bool said = false;  // the log says that it has to wait
  };
  Promise promise_of(const Post& post) const;

  sched::PlatformLoad load_;  // of each server
  std::vector<std::unique_ptr<Post>> posts_;
};

}  // namespace corelane::dispatch
