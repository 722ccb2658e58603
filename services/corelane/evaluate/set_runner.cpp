#include "services/corelane/evaluate/set_runner.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <semaphore>
#include <thread>
#include <utility>

#include "orb/eval/policy_names.h"
#include "orb/os/clock.h"

namespace corelane::tool {
namespace {

constexpr auto between_questions = std::chrono::milliseconds{50};  // whether to stop, while other threads run

}  // namespace

SetRunner::SetRunner(RunFunction run, eval::RunDefaults defaults, std::size_t threads, Duration longest)
    : run_(std::move(run)),
      defaults_(std::move(defaults)),
      threads_(std::max<std::size_t>(threads, 1)),
      longest_(longest) {}

Expected<std::vector<eval::SetResult>, std::string> SetRunner::run(const eval::Scenario& scenario, std::size_t cell,
                                                                   const std::vector<OpenRun>& sets,
                                                                   const std::function<bool()>& is_to_stop) const {
  std::vector<Part> parts(std::min(threads_, std::max<std::size_t>(sets.size(), 1)));
  std::atomic<std::size_t> next{0};
  const Time end = os::now() + longest_;
  const auto work = [&](Part& part) {
    for (bool is_first = true; part.fault.empty() && !is_to_stop() && (is_first || os::now() < end); is_first = false) {
      const std::size_t i = next.fetch_add(1, std::memory_order_relaxed);  // relaxed: only shares out the sets
      if (i >= sets.size()) return;
      run_one(scenario, cell, sets[i], is_to_stop, part);
    }
  };
  std::counting_semaphore<> ended(0);
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < parts.size(); ++i)
      others.emplace_back([&, i] {
        work(parts[i]);
        ended.release();
      });
    work(parts.front());
    for (std::size_t i = 1; i < parts.size(); ++i)
      while (!ended.try_acquire_for(between_questions)) static_cast<void>(is_to_stop());
  }
  std::vector<eval::SetResult> results;
  for (Part& part : parts) {
    if (!part.fault.empty()) return part.fault;
    results.insert(results.end(), std::move_iterator(part.results.begin()), std::move_iterator(part.results.end()));
  }
  std::ranges::stable_sort(results, {}, &eval::SetResult::set);
  return results;
}

// A run that was stopped has no result, and is no fault.
void SetRunner::run_one(const eval::Scenario& scenario, std::size_t cell, const OpenRun& set,
                        const std::function<bool()>& is_to_stop, Part& part) const {
  auto request = eval::run_request(scenario, set.set, defaults_);
  if (!request) {
    part.fault = request.error().text;
    return;
  }
  for (const eval::Dispatcher* const dispatcher : set.dispatchers) {
    request->dispatcher = dispatcher;
    const auto outcome = run_(*request);
    if (!outcome) {
      if (!is_to_stop()) part.fault = outcome.error();
      return;
    }
    eval::SetResult& result = part.results.emplace_back(eval::summed_up(*request, *outcome));
    result.cell = cell;
    result.set = set.set;
    result.policies = eval::policy_names(*dispatcher, scenario, defaults_);
  }
}

}  // namespace corelane::tool
