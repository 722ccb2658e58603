// Scenario describes an experiment with admission and scheduling: the cores, the tasks, and how they are placed and
// tested. The tasks are listed, or they are drawn at random. scenario_file.h reads one from a file, and task_set.h
// returns its tasks.
//
// Threads: values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/fraction.h"
#include "orb/base/time.h"
#include "orb/core/contracts/slowdowns.h"
#include "orb/eval/measured_overheads.h"
#include "orb/sched/task.h"

namespace corelane::eval {

using core::most_slowdown;
using core::PairSlowdown;
using corelane::decimal;
using corelane::Fraction;
using corelane::unity;

// Returns a part of a duration, rounded down. Neither is negative.
Duration part_of(Duration duration, Fraction fraction) noexcept;

// What is wrong with a scenario: the place, the fault, and what to change, in a sentence.
struct ScenarioFault {
  std::string text;
};

// The cores, and what runs on them above the tasks. What a file leaves out is as in a server with its settings.
struct Platform {
  std::int64_t cores = 0;                                            // 0: not given
  std::optional<Duration> budget{}, period{}, blocking{}, jitter{};  // of the platform load
  std::optional<Fraction> capacity{};                                // of each core
  std::int64_t cache_domains = 0;                                    // 0: not given
  Fraction slowdown = unity;  // of an intensive task beside another one on its cache, in virtual time
};

// How the budgets of the analysis include slowdowns.
enum class SlowdownCharge : std::uint8_t {
  none,
  placed,  // by the tasks that are placed on other cores: see SlowdownSet
  worst,   // by the worst task on each other core, as in a server: see dispatch::BudgetCharge
};

// Names. Empty: as in a server with its settings.
struct Policy {
  std::string dispatcher{};
  std::string allocation{};
  bool repack = true;  // whether tasks may move to make room for a new one, as in a server
  std::string order{};
  std::string test{};
  std::string aub{};              // see aperiodic_policy_names(); empty: the test aub is that of a server
  std::string locks = "ceiling";  // or msrp: for resources that tasks on several cores use
  std::optional<SlowdownCharge> charge_slowdowns{};  // not given: as in a server with its settings
};

// The platform's costs in a file. The costs that the file states replace those of `from`.
struct OverheadFields : sim::OverheadCosts<std::optional<Duration>> {
  std::string from{};                           // what read_overheads() reads; empty: nothing
  bool charged = true;                          // whether the budgets of the analysis include them
  std::optional<MeasuredOverheads> measured{};  // what `from` has
};

// A resource that a job locks, with its longest section.
struct Section {
  std::string resource;
  Duration longest{};

  friend bool operator==(const Section&, const Section&) = default;
};

// A task of the file.
struct ListedTask {
  std::string label{};  // empty: "task-" and its number
  Duration period{}, budget{};
  std::optional<Duration> deadline{}, jitter{};
  Duration suspension{};
  std::int64_t importance = 0;
  std::string on_overrun = "report";
  std::int64_t intensity = 0;
  std::vector<Section> uses{};
  std::int64_t requests = 1;              // how often a job locks each of them at most
  std::string criticality = "low";        // or high
  std::optional<Duration> budget_high{};  // of a task of high criticality; not given: the budget
  Duration offset{};                      // of the first release, from the start
  std::string arrival = "periodic";
  std::optional<Duration> gap{};  // of sporadic and bursty arrivals; not given: the period
  std::int64_t burst = 4;         // of bursty arrivals
  Fraction execution = unity;     // of the budget
  std::optional<Fraction> execution_min{};
  std::vector<Duration> execution_trace{};
  std::int64_t count = 1;  // so many tasks of this kind
};

// Tasks that follow each other: the end of a job releases a job of the next task.
struct Chain {
  std::string label{};                 // empty: "chain-" and its number
  std::vector<std::string> tasks{};    // labels, in their order; all have the same period
  std::optional<Duration> deadline{};  // of the last task, from the nominal release of the first one
};

// How tasks are drawn at random.
struct Generator {
  std::int64_t tasks = 0;  // 0: as many as the utilization needs
  Fraction utilization{};  // of all tasks; 0: whatever they need
  std::string utilizations = "uunifast-discard";
  Fraction utilization_min{}, utilization_max = unity;                   // of one task
  std::vector<Fraction> utilization_min_each{}, utilization_max_each{};  // of each task; empty: the same for all
  Fraction balance{};                                                    // least / greatest utilization; 0: not given
  std::string periods = "log-uniform";
  Duration period_min = std::chrono::milliseconds{10}, period_max = std::chrono::milliseconds{100};
  Duration period_step = std::chrono::microseconds{1};
  std::vector<Duration> period_list{};
  Fraction deadline = unity;  // of the period
  Fraction jitter{100'000};   // of the smaller of period and deadline; the default is a server's
  std::string order = "as-drawn";
  std::string offsets = "zero";
  std::string arrival = "periodic";
  Fraction gap = unity;        // of the period, of sporadic and bursty arrivals
  std::int64_t burst = 4;      // of bursty arrivals
  Fraction execution = unity;  // of the budget
  std::optional<Fraction> execution_min{};
  Fraction high_tasks{};            // the part of the tasks that have high criticality
  Fraction high_factor{2'000'000};  // their budget_high as a multiple of the budget
};

// How the sets of tasks are run and compared, for `corelane simulate` and `corelane eval`.
struct Experiment {
  std::vector<std::string> dispatchers{};  // see dispatchers.h; empty: see dispatchers_of()
  std::string baseline{};                  // the dispatcher with which the others are compared; empty: the last one
  Duration length = std::chrono::seconds{1};
  Fraction precision{};               // of the differences between dispatchers; 0: not given
  std::string transport = "channel";  // of real runs
  std::string note{};                 // a sentence that belongs under the results
};

// Figures that somebody published, to be printed beside ours.
struct Published {
  std::string dispatcher{};
  std::vector<std::string> values{};  // one for each combination of the sweeps, in their order
  std::string source{};
};

struct Scenario {
  std::string name{};
  std::int64_t seed = 1;
  std::int64_t repetitions = 1;  // how many sets of tasks are drawn
  Platform platform{};
  Policy policy{};
  OverheadFields overheads{};
  std::vector<ListedTask> tasks{};
  std::vector<Chain> chains{};
  std::vector<PairSlowdown> slowdowns{};
  std::optional<Generator> generate{};
  Experiment experiment{};
  std::vector<Published> published{};
  std::vector<std::string>
      notes{};  // what a file of another format says that a scenario cannot; see scenario_formats.h
};

}  // namespace corelane::eval
