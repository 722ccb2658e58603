#include "orb/sim/job_source.h"

#include <utility>

namespace corelane::sim {
namespace {

constexpr std::uint64_t golden_ratio = 0x9e37'79b9'7f4a'7c15;

// The output function of SplitMix64. It spreads a small difference over all bits.
constexpr std::uint64_t scrambled(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58'476d'1ce4'e5b9;
  x = (x ^ x >> 27) * 0x94d0'49bb'1331'11eb;
  return x ^ x >> 31;
}

// Returns a uniform time in [0, most], most <= longest_random_time: the product fits into 64 bits.
Duration up_to(Duration most, std::uint64_t random) {
  const auto choices = static_cast<std::uint64_t>(most.count()) + 1;
  return Duration{static_cast<std::int64_t>(choices * (random >> 32) >> 32)};
}

}  // namespace

JobRandom::JobRandom(std::uint64_t seed, std::size_t task, std::uint64_t job)
    : state_(scrambled(scrambled(scrambled(seed + golden_ratio) + golden_ratio * (task + 1)) +
                       golden_ratio * (job + 1))) {}

JobRandom::result_type JobRandom::operator()() { return scrambled(state_ += golden_ratio); }

PatternJobs::PatternJobs(std::vector<JobPattern> patterns, std::uint64_t seed, Demand demand)
    : patterns_(std::move(patterns)), states_(patterns_.size()), seed_(seed), demand_(std::move(demand)) {
  for (std::size_t task = 0; task < patterns_.size(); ++task) states_[task].burst_at = Time{patterns_[task].offset};
}

// Each job draws all three numbers, whether its pattern needs them or not. So a pattern with jitter has the same gaps
// and demands as one without.
std::optional<JobRelease> PatternJobs::next(std::size_t task) {
  const JobPattern& pattern = patterns_[task];
  State& state = states_[task];
  JobRandom random(seed_, task, state.jobs);
  const std::uint64_t gap = random();
  const std::uint64_t delay = random();
  if (state.in_burst == pattern.burst) {
    state.in_burst = 0;
    state.burst_at += pattern.period + up_to(pattern.extra_gap, gap);
  }
  JobRelease job{.nominal = state.burst_at + state.in_burst * pattern.burst_gap, .delay = up_to(pattern.jitter, delay)};
  job.demand = demand_ ? demand_(task, state.jobs, random) : pattern.demand.at(random());
  ++state.in_burst;
  ++state.jobs;
  return job;
}

ListedJobs::ListedJobs(std::vector<std::vector<JobRelease>> jobs) : jobs_(std::move(jobs)), next_(jobs_.size()) {}

std::optional<JobRelease> ListedJobs::next(std::size_t task) {
  if (next_[task] == jobs_[task].size()) return {};
  return jobs_[task][next_[task]++];
}

}  // namespace corelane::sim
