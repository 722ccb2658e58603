#include "orb/sim/multicore/cluster.h"

#include <algorithm>

namespace corelane::sim::multicore {
namespace {

constexpr auto is_less_urgent = [](const auto& a, const auto& b) { return b.urgency < a.urgency; };

}  // namespace

Cluster::Cluster(std::uint32_t first_core, std::uint32_t cores)
    : first_core_(first_core), cores_(cores), running_(cores), idle_(cores) {
  for (std::uint32_t core = 0; core < cores; ++core) idle_.add(core);
}

void Cluster::add(JobIndex job, const Urgency& urgency, std::uint32_t core) {
  ready_.push_back({urgency, job, core});
  std::push_heap(ready_.begin(), ready_.end(), is_less_urgent);
}

void Cluster::free(std::uint32_t core) {
  running_.remove(core - first_core_);
  idle_.add(core - first_core_);
}

std::optional<Cluster::Decision> Cluster::decide() {
  if (ready_.empty()) return {};
  if (!idle_.empty()) {
    const std::uint32_t core = idle_core_for(ready_.front());
    idle_.remove(core);
    return run_first(core, false);
  }
  if (!(ready_.front().urgency < running_.top_key().urgency)) return {};
  const std::uint32_t core = running_.top();
  running_.remove(core);
  return run_first(core, true);
}

// Where a job has run, its data may still be in the cache.
std::uint32_t Cluster::idle_core_for(const Ready& job) {
  const std::uint32_t core = job.core - first_core_;
  return job.core != nowhere && core < cores_ && idle_.contains(core) ? core : idle_.first();
}

Cluster::Decision Cluster::run_first(std::uint32_t local_core, bool preempts) {
  const Ready job = ready_.front();
  std::pop_heap(ready_.begin(), ready_.end(), is_less_urgent);
  ready_.pop_back();
  running_.push(local_core, {job.urgency});
  return {job.job, first_core_ + local_core, preempts};
}

}  // namespace corelane::sim::multicore
