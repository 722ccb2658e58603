// Requests for runs in virtual time, for tests.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "orb/base/registry.h"
#include "orb/eval/plan.h"
#include "orb/eval/run_requests.h"
#include "orb/eval/scenario_file.h"
#include "orb/sched/share.h"
#include "orb/sim/multicore_simulator.h"

namespace corelane::eval::testing {

inline Task task(const std::string& label, Duration budget, Duration period) {
  return {.label = label, .contract = {.period = period, .deadline = period, .budget = budget}};
}

// A request on cores without any load.
inline RunRequest request_of(std::vector<Task> tasks, const char* dispatcher, int cores = 1,
                             Duration length = std::chrono::seconds{1}) {
  RunRequest request{.tasks = std::move(tasks),
                     .cores = numbered_cores(cores),
                     .dispatcher = find_named(dispatchers(), dispatcher),
                     .length = length};
  request.server.platform = {};
  request.server.capacity = sched::whole_core;
  return request;
}

inline std::vector<Task> tasks_of_pairs(std::initializer_list<std::pair<Duration, Duration>> pairs) {
  std::vector<Task> tasks;
  for (const auto& [budget, period] : pairs) tasks.push_back(task("t" + std::to_string(tasks.size()), budget, period));
  return tasks;
}

inline std::vector<Duration> worst_of(const RunOutcome& outcome) {
  std::vector<Duration> worst;
  for (const TaskOutcome& task : outcome.tasks) worst.push_back(task.worst);
  return worst;
}

// Draws sets of eight tasks for two cores, with jitter and platform load as in a server.
inline Scenario drawn_scenario(const std::string& utilization) {
  const auto cells =
      parse_scenario("repetitions = 100\n[platform]\ncores = 2\n[generate]\ntasks = 8\nutilization = " + utilization +
                         "\narrival = \"sporadic\"\nexecution_min = 0.5\n[experiment]\nlength = \"500ms\"\n",
                     "s.toml");
  if (!cells) FAIL(cells.error().text);
  return cells->front().scenario;
}

inline RunRequest drawn_request(const Scenario& scenario, std::int64_t set, const char* dispatcher) {
  auto request = run_request(scenario, set, {});
  if (!request) FAIL(request.error().text);
  request->dispatcher = find_named(dispatchers(), dispatcher);
  return *std::move(request);
}

struct JobCount final : sim::JobObserver {
  void finished(const sim::FinishedJob&) override { ++jobs; }
  std::uint64_t jobs = 0;
};

}  // namespace corelane::eval::testing
