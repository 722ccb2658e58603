// PeriodDistribution draws the period of a task. A distribution is one function in periods.cpp and one line in the
// table there. A scenario chooses it by its name.
//
// Threads: constant objects; the functions use a generator of random numbers that one thread owns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/time.h"
#include "orb/eval/generate/random_source.h"

namespace corelane::eval {

struct PeriodRequest {
  Duration least{}, most{};      // 0 < least <= most
  Duration step{};               // drawn periods are multiples of this; step > 0
  std::vector<Duration> list{};  // of the distribution "list"
};

struct PeriodDistribution {
  std::string_view name;
  std::string_view help;  // behind the name and a colon
  // Returns why the distribution cannot do what is asked, and what to change; "" if it can.
  std::string (*fault_of)(const PeriodRequest& request);
  // Call it only if fault_of() finds no fault.
  Duration (*draw)(Random& random, const PeriodRequest& request);
};

// The first is the default.
std::span<const PeriodDistribution> period_distributions() noexcept;
// Returns null if there is none of this name.
const PeriodDistribution* period_distribution(std::string_view name) noexcept;

// The periods of engine control software and their shares in percent, after Kramer, Ziegenbein & Hamann 2015, "Real
// World Automotive Benchmarks For Free", table III. The shares sum to 85, because the tasks that follow the angle of
// the crankshaft are left out.
struct PeriodShare {
  Duration period;
  std::uint64_t percent;
};
std::span<const PeriodShare> automotive_periods() noexcept;

}  // namespace corelane::eval
