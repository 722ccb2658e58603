#include "orb/eval/generate/utilizations.h"

#include <algorithm>
#include <cstdint>

#include "orb/base/registry.h"
#include "orb/eval/generate/balanced.h"
#include "orb/eval/generate/convolutional_fixed_sum.h"
#include "orb/eval/generate/fixed_log.h"
#include "orb/eval/generate/rand_fixed_sum.h"
#include "orb/eval/scenario.h"

namespace corelane::eval {
namespace {

using sched::Share;
using sched::whole_share;

constexpr int most_attempts = 100'000;

std::string decimal_of(Share share) { return decimal({sched::ppm_of(share)}); }

std::string fault_of_missing(const UtilizationRequest& request) {
  if (request.tasks == 0) return "it needs the number of tasks; add tasks, or use utilizations = \"independent\"";
  if (request.total == 0) return "it needs the sum; add utilization, or use utilizations = \"independent\"";
  return {};
}

// Most generators have one limit for all tasks.
std::string fault_of_each(const UtilizationRequest& request) {
  if (request.least_each.empty() && request.most_each.empty()) return {};
  return "it has the same limits for all tasks; use utilizations = \"convolutionalfixedsum\", or leave "
         "utilization_min_each and utilization_max_each out";
}

// Returns what is wrong with a sum, a count and limits that a generator has to combine.
std::string fault_of_sum(const UtilizationRequest& request) {
  if (std::string fault = fault_of_missing(request); !fault.empty()) return fault;
  if (std::string fault = fault_of_each(request); !fault.empty()) return fault;
  const sched::Wide count = static_cast<Share>(request.tasks);
  const std::string tasks = std::to_string(request.tasks);
  if (request.total < count * request.least)
    return tasks + " tasks of at least " + decimal_of(request.least) + " each need more than " +
           decimal_of(request.total) + "; raise utilization, or lower tasks or utilization_min";
  if (request.total > count * request.most)
    return tasks + " tasks of at most " + decimal_of(request.most) + " each cannot use " + decimal_of(request.total) +
           "; lower utilization, or raise tasks or utilization_max";
  return {};
}

std::string fault_of_uunifast(const UtilizationRequest& request) {
  if (std::string fault = fault_of_sum(request); !fault.empty()) return fault;
  if (request.total > whole_share)
    return "with utilization " + decimal_of(request.total) +
           " a task may need more than a whole core; use utilizations = \"uunifast-discard\"";
  if (request.least == 0 && request.most == whole_share) return {};
  return "it has no limits for one task; use utilizations = \"uunifast-discard\" or \"randfixedsum\"";
}

std::string fault_of_rand_fixed_sum(const UtilizationRequest& request) {
  if (request.tasks > most_fixed_sum)
    return "it draws at most " + std::to_string(most_fixed_sum) +
           " tasks; lower tasks, or use utilizations = \"uunifast-discard\"";
  return fault_of_sum(request);
}

// Returns the limits of each task.
std::vector<Share> limits_of(const UtilizationRequest& request, const std::vector<Share>& each, Share all) {
  return each.empty() ? std::vector<Share>(request.tasks, all) : each;
}

std::string fault_of_length(const UtilizationRequest& request, const std::vector<Share>& each, const char* field) {
  if (each.empty() || each.size() == request.tasks) return {};
  return std::string(field) + " has " + std::to_string(each.size()) + " values for " + std::to_string(request.tasks) +
         " tasks; write one for each task";
}

std::string fault_of_convolution(const UtilizationRequest& request) {
  if (std::string fault = fault_of_missing(request); !fault.empty()) return fault;
  if (request.tasks > most_convolved)
    return "it draws at most " + std::to_string(most_convolved) +
           " tasks; lower tasks, or use utilizations = \"randfixedsum\"";
  if (std::string fault = fault_of_length(request, request.least_each, "utilization_min_each"); !fault.empty())
    return fault;
  if (std::string fault = fault_of_length(request, request.most_each, "utilization_max_each"); !fault.empty())
    return fault;
  const std::vector<Share> least = limits_of(request, request.least_each, request.least);
  const std::vector<Share> most = limits_of(request, request.most_each, request.most);
  sched::Wide lowest = 0, highest = 0;
  for (std::size_t i = 0; i < request.tasks; ++i) {
    if (least[i] > most[i])
      return "the least utilization of task " + std::to_string(i + 1) + ", " + decimal_of(least[i]) +
             ", is more than its greatest, " + decimal_of(most[i]) + "; lower one or raise the other";
    lowest += least[i];
    highest += most[i];
  }
  if (request.total < lowest || request.total > highest)
    return "the limits allow a sum from " + decimal_of(static_cast<Share>(lowest)) + " to " +
           decimal_of(static_cast<Share>(highest)) + ", and utilization is " + decimal_of(request.total) +
           "; change it or the limits";
  return {};
}

std::string fault_of_balance(const UtilizationRequest& request) {
  if (std::string fault = fault_of_sum(request); !fault.empty()) return fault;
  if (request.balance > 0) return {};
  return "it needs the least utilization as a part of the greatest one; add balance, such as 0.1";
}

std::string fault_of_geometric(const UtilizationRequest& request) {
  if (std::string fault = fault_of_balance(request); !fault.empty()) return fault;
  const auto shares = geometric_utilizations(request.tasks, request.total, request.balance);
  const auto [least, most] = std::ranges::minmax(shares);
  if (least >= request.least && most <= request.most) return {};
  return "with balance " + decimal_of(request.balance) + " and utilization " + decimal_of(request.total) + " the " +
         std::to_string(request.tasks) + " tasks need from " + decimal_of(least) + " to " + decimal_of(most) +
         " of a core, which is beyond utilization_min or utilization_max; raise balance or tasks, or lower utilization";
}

std::string fault_of_independent(const UtilizationRequest& request) {
  if (std::string fault = fault_of_each(request); !fault.empty()) return fault;
  if (request.tasks > 0 && request.total > 0)
    return "it fixes either the number of tasks or their sum; leave tasks or utilization out, or use utilizations = "
           "\"uunifast-discard\"";
  if (request.tasks == 0 && request.total == 0) return "it needs tasks or utilization; add one of them";
  if (request.most == 0) return "each task needs a utilization above 0; raise utilization_max";
  return {};
}

// Bini & Buttazzo 2005: what is left for the tasks behind task i is S * r^(1 / their number).
std::vector<Share> uunifast(Random& random, const UtilizationRequest& request) {
  std::vector<Share> shares(request.tasks);
  auto rest = static_cast<std::uint64_t>(request.total);
  for (std::size_t left = shares.size() - 1; left > 0; --left) {
    const auto next = static_cast<std::uint64_t>(UnsignedWide{rest} * root_of(fraction(random), left) >> 64);
    shares[shares.size() - 1 - left] = static_cast<Share>(rest - next);
    rest = next;
  }
  shares.back() = static_cast<Share>(rest);
  return shares;
}

// Draws again until each task is within its limits.
template <typename Draw>
std::vector<Share> within_limits(const UtilizationRequest& request, Draw draw) {
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    std::vector<Share> shares = draw();
    const auto [least, most] = std::ranges::minmax(shares);
    if (least >= request.least && most <= request.most) return shares;
  }
  return {};
}

// Davis & Burns 2009.
std::vector<Share> uunifast_discard(Random& random, const UtilizationRequest& request) {
  return within_limits(request, [&] { return uunifast(random, request); });
}

std::vector<Share> by_fixed_sum(Random& random, const UtilizationRequest& request) {
  return rand_fixed_sum(random, request.tasks, request.total, request.least, request.most);
}

std::vector<Share> by_convolution(Random& random, const UtilizationRequest& request) {
  return convolutional_fixed_sum(random, request.total, limits_of(request, request.least_each, request.least),
                                 limits_of(request, request.most_each, request.most));
}

std::vector<Share> balanced(Random& random, const UtilizationRequest& request) {
  std::vector<Share> shares = geometric_utilizations(request.tasks, request.total, request.balance);
  shuffle(random, std::span(shares));
  return shares;
}

std::vector<Share> balanced_uniform(Random& random, const UtilizationRequest& request) {
  std::vector<Share> shares = within_limits(
      request, [&] { return uniform_utilizations(random, request.tasks, request.total, request.balance); });
  shuffle(random, std::span(shares));
  return shares;
}

std::vector<Share> independent(Random& random, const UtilizationRequest& request) {
  std::vector<Share> shares;
  Share sum = 0;
  const auto values = static_cast<std::uint64_t>(request.most - request.least) + 1;
  while (request.tasks > 0 ? shares.size() < request.tasks : sum < request.total) {
    if (shares.size() == most_generated) return {};
    Share share = request.least + static_cast<Share>(below(random, values));
    if (request.total > 0) sum += share = std::min(share, request.total - sum);
    shares.push_back(share);
  }
  return shares;
}

constexpr UtilizationGenerator generators[] = {
    {.name = "uunifast-discard",
     .help = "all sets with this sum are equally likely; a set in which a task is beyond its limits is drawn again",
     .fault_of = fault_of_sum,
     .draw = uunifast_discard},
    {.name = "uunifast",
     .help = "all sets with this sum are equally likely; for a sum of one core at most",
     .fault_of = fault_of_uunifast,
     .draw = uunifast},
    {.name = "randfixedsum",
     .help = "all sets with this sum and these limits are equally likely; quick also if few sets are within the limits",
     .fault_of = fault_of_rand_fixed_sum,
     .draw = by_fixed_sum},
    {.name = "convolutionalfixedsum",
     .help = "like randfixedsum, also with limits of each task (Griffin & Davis 2025); for 256 tasks at most",
     .fault_of = fault_of_convolution,
     .draw = by_convolution},
    {.name = "balanced",
     .help = "a geometric sequence whose least utilization is the part balance of the greatest one, in random order",
     .fault_of = fault_of_geometric,
     .draw = balanced},
    {.name = "balanced-uniform",
     .help =
         "uniform between the least and the greatest utilization, whose ratio is balance and which are both present",
     .fault_of = fault_of_balance,
     .draw = balanced_uniform},
    {.name = "independent",
     .help = "each task is uniform within the limits; without tasks, there are as many as the sum needs, and the last "
             "one is cut",
     .fault_of = fault_of_independent,
     .draw = independent},
};

}  // namespace

std::span<const UtilizationGenerator> utilization_generators() noexcept { return generators; }

const UtilizationGenerator* utilization_generator(std::string_view name) noexcept {
  return find_named(utilization_generators(), name);
}

}  // namespace corelane::eval
