#include "orb/eval/report/examples.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "orb/eval/run.h"
#include "orb/eval/virtual_run.h"
#include "orb/sim/multicore_simulator.h"

namespace corelane::eval {
namespace {

constexpr std::int64_t most_example_sets = 20;
constexpr std::size_t most_slices = 200'000;
constexpr std::size_t curve_points = 200;

double ratio(Duration part, Duration whole) {
  return static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

// ExampleObserver keeps the responses of a run, and what its cores ran.
class ExampleObserver final : public sim::JobObserver {
 public:
  void finished(const sim::FinishedJob& job) override {
    responses.push_back({job.task, job.finish - job.release, job.deadline - job.release});
  }
  void executed(const sim::ExecutedSlice& slice) override {
    if (slices.size() < most_slices) slices.push_back(slice);
  }

  struct Response {
    std::size_t task;
    Duration response, deadline;
  };
  std::vector<Response> responses{};
  std::vector<sim::ExecutedSlice> slices{};
};

void add_responses(const ExampleObserver& observer, const RunOutcome& outcome, Example& example) {
  for (const auto& [task, response, deadline] : observer.responses) {
    example.of_deadline.push_back(ratio(response, deadline));
    const Duration bound = outcome.tasks[task].bound;
    if (bound > Duration::zero()) example.of_bound.push_back(ratio(response, bound));
  }
}

Gantt gantt_of(const RunRequest& request, const RunOutcome& outcome, ExampleObserver&& observer) {
  const JobRecord& late = outcome.misses.front();
  Gantt gantt{.title = "job " + std::to_string(late.number) + " of " + outcome.tasks[late.task].label + " is late",
              .cores = request.cores,
              .slices = std::move(observer.slices),
              .late = late};
  for (const TaskOutcome& task : outcome.tasks) gantt.tasks.push_back(task.label);
  return gantt;
}

}  // namespace

Example example_of(const Scenario& scenario, const Dispatcher& dispatcher, const RunDefaults& defaults,
                   const std::function<bool()>& is_to_stop) {
  Example example{.dispatcher = std::string(dispatcher.name)};
  for (std::int64_t set = 0; set < std::min(scenario.repetitions, most_example_sets); ++set) {
    if (is_to_stop && is_to_stop()) break;
    auto request = run_request(scenario, set, defaults);
    if (!request) break;
    request->dispatcher = &dispatcher;
    ExampleObserver observer;
    const auto outcome = run_virtually(*request, &observer, is_to_stop);
    if (!outcome) break;
    ++example.sets;
    add_responses(observer, *outcome, example);
    if (!outcome->misses.empty() && !example.first_miss) {
      example.first_miss = gantt_of(*request, *outcome, std::move(observer));
      example.set_of_miss = set;
    }
  }
  return example;
}

Curve exceedance(std::string name, std::vector<double> values, std::size_t style) {
  Curve curve{.name = std::move(name), .style = style};
  if (values.empty()) return curve;
  std::ranges::sort(values);
  const auto count = static_cast<double>(values.size());
  const auto add = [&](std::size_t i) {
    const double above = (count - 1 - static_cast<double>(i)) / count;
    curve.points.push_back({.x = values[i], .y = above, .low = above, .high = above});
  };
  // Half of the points are spaced evenly. The others divide what is left above by a constant, to show the tail.
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < curve_points / 2; ++i) chosen.push_back(i * values.size() / (curve_points / 2));
  for (std::size_t left = values.size(); left > 0 && chosen.size() < curve_points; left = left * 9 / 10)
    chosen.push_back(values.size() - left);
  chosen.push_back(values.size() - 1);
  std::ranges::sort(chosen);
  const auto repeated = std::ranges::unique(chosen);
  chosen.erase(repeated.begin(), repeated.end());
  for (const std::size_t i : chosen) add(i);
  return curve;
}

}  // namespace corelane::eval
