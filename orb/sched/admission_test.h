// AdmissionTest is the way in which a Manager decides whether a task fits on a core with fixed priorities. The exact
// decision is the response-time analysis. A test may come before it and admit sets that certainly fit, in less time. It
// never refuses: what it does not admit goes to the analysis. So all tests that promise deadlines decide alike.
//
// A test is one file in orb/sched/admission_tests and one line in the table of admission_tests.cpp there. The setting
// dispatch.admission chooses one by its name.
//
// Threads: constant objects and pure functions.
#pragma once

#include <span>
#include <string_view>

#include "orb/base/registry.h"
#include "orb/sched/ticks.h"

namespace corelane::sched {

// The utilization of one task.
struct Usage {
  Ticks budget = 0;  // C > 0
  Ticks period = 1;  // T > 0
};

// A core with fixed priorities, as tests see it.
struct TestedCore {
  std::span<const Usage> tasks;  // with the new task; the most urgent first
  // The setting of the classical bounds. Each deadline is the period. No task has jitter, suspends itself, locks a
  // resource, or shares its priority. Nothing runs above the tasks or blocks them.
  bool is_classical = false;
};

struct AdmissionTest {
  std::string_view name;  // the value of the setting: lower case, with dashes
  std::string_view help;  // says what it does, behind the name and a colon
  bool promises = true;   // false: every task is admitted without analysis, and no deadline is promised
  // Returns true only if all deadlines hold for certain. Null: the analysis decides at once. It allocates nothing, and
  // takes at most one pass over the tasks.
  bool (*holds)(const TestedCore& core) noexcept = nullptr;
};

Registry<AdmissionTest> admission_tests() noexcept;
inline const AdmissionTest* default_admission_test() noexcept { return admission_tests().front(); }

// The tests that code chooses by itself.
namespace admission {
extern const AdmissionTest response_time;  // the default
extern const AdmissionTest none;           // promises nothing
}  // namespace admission

}  // namespace corelane::sched
