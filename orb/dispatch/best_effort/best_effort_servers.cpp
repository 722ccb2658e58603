#include "orb/dispatch/best_effort/best_effort_servers.h"

#include <algorithm>
#include <string>

#include "orb/dispatch/leases/cross_process_analysis.h"
#include "orb/os/log.h"

namespace corelane::dispatch {
namespace {

sched::Server server_of(const BestEffortServerOptions& options) {
  if (options.kind == BestEffortServer::deferrable) return sched::DeferrableServer(options.reservation);
  return sched::SporadicServer(options.reservation);
}

}  // namespace

BestEffortServers::BestEffortServers(const ExecutiveOptions& options, const std::vector<CoreLease>& leases,
                                     const Clock& clock) {
  const BestEffortServerOptions& wanted = options.best_effort_server;
  if (wanted.kind == BestEffortServer::none) return;
  for (const CoreLease& lease : leases)
    if (const auto load = best_effort_load(options, lease.core)) {
      load_ = *load;  // the same on all cores
      posts_.push_back(std::make_unique<Post>(lease, server_of(wanted), task_natives(options).highest, clock));
    }
}

Promise BestEffortServers::promise_of(const Post& post) const {
  return {
      .core = post.lease.core,
      .physical_core = post.lease.physical_core,
      .contract = {.period = load_.period, .deadline = load_.period, .budget = load_.budget, .jitter = load_.jitter},
      .kind = PromiseKind::platform};
}

void BestEffortServers::add_promises(std::vector<Promise>& promises) const {
  for (const auto& post : posts_)
    if (post->claimed) promises.push_back(promise_of(*post));
}

void BestEffortServers::claim(std::span<const Promise> others, std::vector<Promise> mine) {
  for (const auto& post : posts_) {
    if (post->claimed) continue;
    mine.push_back(promise_of(*post));
    post->claimed = others_hold(post->lease, others, mine);
    if (post->claimed) continue;
    mine.pop_back();
    if (std::exchange(post->said, true)) continue;
    os::log::warn("best_effort.server has not started on core " + std::to_string(post->lease.core.value) +
                  ", because a task of another process would be late; a smaller best_effort.budget may fit");
  }
}

void BestEffortServers::take_back() noexcept {
  for (const auto& post : posts_) post->claimed = post->granted;
}

void BestEffortServers::grant() noexcept {
  for (const auto& post : posts_) {
    if (!post->claimed || post->granted) continue;
    post->granted = true;
    post->server.grant();
  }
}

bool BestEffortServers::all_granted() const noexcept {
  return std::all_of(posts_.begin(), posts_.end(), [](const auto& post) { return post->granted; });
}

std::vector<BestEffortServerReport> BestEffortServers::report() const {
  std::vector<BestEffortServerReport> result;
  for (const auto& post : posts_) {
    const ServerStatus status = post->server.status();
    result.push_back(
        {.core = post->lease.core, .granted = status.granted, .used = status.used, .exhausted = status.exhausted});
  }
  return result;
}

}  // namespace corelane::dispatch
