// UtilizationGenerator draws the utilizations of the tasks of a set. A generator is one function in utilizations.cpp
// and one line in the table there. A scenario chooses it by its name.
//
// Threads: constant objects; the functions use a generator of random numbers that one thread owns, and allocate.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orb/eval/generate/random_source.h"
#include "orb/sched/share.h"

namespace corelane::eval {

inline constexpr std::size_t most_generated = 100'000;  // tasks of a set

// A request to a generator. All shares are parts of one core.
struct UtilizationRequest {
  std::size_t tasks = 0;   // 0: as many as the total needs
  sched::Share total = 0;  // 0: whatever the tasks need
  sched::Share least = 0;  // of one task
  sched::Share most = sched::whole_share;
  std::vector<sched::Share> least_each{}, most_each{};  // limits of each task, in place of least and most; empty: none
  sched::Share balance = 0;                             // least / greatest utilization; 0: not given
};

struct UtilizationGenerator {
  std::string_view name;
  std::string_view help;  // behind the name and a colon
  // Returns why the generator cannot do what is asked, and what to change; "" if it can. The request is sound: fields
  // are not negative, and least <= most <= whole_share.
  std::string (*fault_of)(const UtilizationRequest& request);
  // Returns the utilizations. Their sum is exactly the total. Empty: after many attempts no set was within the limits.
  // Call it only if fault_of() finds no fault.
  std::vector<sched::Share> (*draw)(Random& random, const UtilizationRequest& request);
};

// The first is the default.
std::span<const UtilizationGenerator> utilization_generators() noexcept;
// Returns null if there is none of this name.
const UtilizationGenerator* utilization_generator(std::string_view name) noexcept;

}  // namespace corelane::eval
