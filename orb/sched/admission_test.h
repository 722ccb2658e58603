// AdmissionTest decides whether tasks meet their deadlines. Each test decides alone: a task that it does not admit is
// refused. Every test that promises deadlines is sound: a set that it admits meets its deadlines. An exact test admits
// each such set; the others refuse more.
//
// A test of one core is asked by a Manager, for each core that it tries. A test of all cores together is for global
// scheduling, where a job runs on whatever core is free. A Manager binds tasks to cores, so it cannot use such a test.
//
// A test is one file in orb/sched/admission_tests and one line in the table of admission_tests.cpp there. The setting
// dispatch.admission and the field policy.test of scenario files choose one by its name.
//
// Threads: constant objects and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "orb/base/registry.h"
#include "orb/sched/ticks.h"
#include "orb/sched/usable_in.h"

namespace corelane::sched {

// A task with an implicit deadline: D = T.
struct Usage {
  Ticks budget = 0;  // C > 0
  Ticks period = 1;  // T > 0
};

// A task without jitter whose jobs are at least T apart.
struct SporadicTask {
  Ticks budget = 0;    // C > 0
  Ticks period = 1;    // T > 0
  Ticks deadline = 1;  // 0 < D <= T
};

// How the cores are scheduled for which a test is valid.
enum class Scheduling : std::uint8_t {
  priorities,         // each core for itself, by fixed priorities
  deadlines,          // each core for itself, the earliest deadline first
  global_priorities,  // all cores together, by fixed priorities
  global_deadlines,   // all cores together, the earliest deadline first
};
constexpr bool is_global(Scheduling scheduling) noexcept { return scheduling >= Scheduling::global_priorities; }

struct AdmissionTest {
  std::string_view name;  // the value of the setting: lower case, with dashes
  std::string_view help;  // says what it does, behind the name and a colon
  Scheduling scheduling = Scheduling::priorities;
  UsableIn usable_in{};
  std::string_view instead{};  // if it does not work in a server: what to do there
  bool promises = true;        // false: every task is admitted without analysis, and no deadline is promised
  // For a test of one core with fixed priorities. Returns whether tasks with these budgets and periods meet their
  // deadlines under rate-monotonic priorities. Null: the core's own analysis decides. It allocates nothing, and takes
  // at most a few passes over the tasks.
  bool (*holds)(std::span<const Usage> tasks) noexcept = nullptr;
  // For a test of all cores together. The tasks are in descending order of priority, and cores >= 1. Returns whether
  // they meet their deadlines, and then writes a bound of each response. Both spans have the same length.
  bool (*holds_globally)(std::span<const SporadicTask> tasks, int cores, std::span<Ticks> responses) noexcept = nullptr;
};

Registry<AdmissionTest> admission_tests() noexcept;
inline const AdmissionTest* default_admission_test() noexcept { return admission_tests().front(); }

// The tests that code chooses by itself.
namespace admission {
extern const AdmissionTest response_time;     // the default
extern const AdmissionTest processor_demand;  // for cores that run the earliest deadline first
extern const AdmissionTest none;              // promises nothing
}  // namespace admission

}  // namespace corelane::sched
