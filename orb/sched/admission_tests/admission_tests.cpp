// The folder orb/sched/admission_tests has the admission tests, one in each file. This file is their table.
#include "orb/sched/admission_test.h"

// Each line names the object that a file of this folder defines. The first test is the default.
#define CORELANE_ADMISSION_TESTS(TEST) \
  TEST(response_time)                  \
  TEST(liu_layland)                    \
  TEST(hyperbolic)                     \
  TEST(aperiodic_utilization)          \
  TEST(processor_demand)               \
  TEST(global_priorities)              \
  TEST(global_deadlines)               \
  TEST(none)

namespace corelane::sched {
namespace admission {

#define CORELANE_DECLARE(name) extern const AdmissionTest name;
CORELANE_ADMISSION_TESTS(CORELANE_DECLARE)
#undef CORELANE_DECLARE

}  // namespace admission

Registry<AdmissionTest> admission_tests() noexcept {
#define CORELANE_LIST(name) &admission::name,
  static constexpr const AdmissionTest* all[] = {CORELANE_ADMISSION_TESTS(CORELANE_LIST)};
#undef CORELANE_LIST
  return all;
}

}  // namespace corelane::sched
