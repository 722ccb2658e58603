#include "orb/sched/analysis/holistic.h"

#include <algorithm>
#include <utility>

#include "orb/sched/response_time.h"

namespace corelane::sched {
namespace {

class HolisticSearch {
 public:
  HolisticSearch(std::span<const ChainedTask> tasks, const HolisticLimits& limits)
      : tasks_(tasks), limits_(limits), found_(tasks.size()) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      found_[i].jitter = tasks[i].released_by ? 0 : tasks[i].jitter;
      for (auto before = tasks[i].released_by; before; before = tasks[*before].released_by)  // bound: the chain
        found_[i].earliest += tasks[*before].shortest;
    }
  }

  std::vector<ChainedResponse> run() {
    for (int round = 0; round < limits_.rounds; ++round) {
      for (std::size_t i = 0; i < tasks_.size(); ++i) analyze(i);
      if (!propagate()) return std::move(found_);
    }
    for (ChainedResponse& response : found_) response.response = response.end = response.jitter = endless;
    return std::move(found_);
  }

 private:
  // Sets the jitter of each task to what the task before it leads to. Jitters only grow, so this ends at the least
  // solution. Returns whether one has grown.
  bool propagate() {
    bool has_grown = false;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (!tasks_[i].released_by) continue;
      const Ticks end = found_[*tasks_[i].released_by].end;
      const Ticks jitter = end == endless ? endless : end - found_[i].earliest;
      has_grown = has_grown || jitter > found_[i].jitter;
      found_[i].jitter = std::max(found_[i].jitter, jitter);
    }
    return has_grown;
  }

  void analyze(std::size_t index) {
    above_.clear();
    for (std::size_t j = 0; j < tasks_.size(); ++j) {
      const ChainedTask& other = tasks_[j];
      if (j == index || other.core != tasks_[index].core || other.priority < tasks_[index].priority) continue;
      above_.push_back({other.longest, other.period, std::max(found_[j].jitter, other.least_jitter)});
    }
    ChainedResponse& found = found_[index];
    found.response = found.end = 0;
    if (found.jitter == endless || !add_windows(tasks_[index], least_distance(tasks_[index]), found))
      found.response = found.end = endless;
  }

  // Jobs of one task end at least its shortest execution time apart. So do the releases that these ends cause.
  Ticks least_distance(const ChainedTask& task) const {
    return task.released_by ? tasks_[*task.released_by].shortest : 0;
  }

  // Looks at each job of the longest busy period. Returns false if it has no end within the limits.
  bool add_windows(const ChainedTask& task, Ticks distance, ChainedResponse& found) const {
    int iterations = limits_.iterations;
    Ticks window = 0;
    for (Ticks q = 0;; ++q) {  // bound: the iterations
      const Ticks own = add_up(task.blocking, multiply_up(q + 1, add_up(task.longest, task.suspension)));
      const Ticks nominal = multiply_up(q, task.period);
      window = std::max(own, window);
      for (Ticks next = 0; (next = add_up(own, interference_in(window))) != window; window = next)
        if (iterations-- <= 0) return false;
      if (window == endless) return false;
      const Ticks release = std::max(nominal - found.jitter, multiply_up(q, distance));
      found.response = std::max(found.response, window - release);
      found.end = std::max(found.end, add_up(found.earliest + found.jitter, window - nominal));
      if (found.end > limits_.stop_above || iterations-- <= 0) return false;
      if (add_up(found.jitter, window) <= add_up(nominal, task.period)) return true;
    }
  }

  Ticks interference_in(Ticks window) const {
    Ticks sum = 0;
    for (const Interference& other : above_)
      sum = add_up(sum, multiply_up(ceil_div(add_up(window, other.jitter), other.period), other.budget));
    return sum;
  }

  const std::span<const ChainedTask> tasks_;
  const HolisticLimits limits_;
  std::vector<ChainedResponse> found_;
  std::vector<Interference> above_;  // of the task that is analyzed
};

}  // namespace

std::vector<ChainedResponse> holistic_responses(std::span<const ChainedTask> tasks, const HolisticLimits& limits) {
  return HolisticSearch(tasks, limits).run();
}

}  // namespace corelane::sched
