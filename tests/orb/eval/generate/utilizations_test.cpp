#include "orb/eval/generate/utilizations.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "orb/eval/generate/rand_fixed_sum.h"
#include "tests/orb/eval/generate/moments.h"

namespace utilizations_test {

using namespace corelane::eval;
using corelane::eval::testing::Moments;
using corelane::sched::Share;
using corelane::sched::whole_share;

namespace {

Share share(double cores) { return static_cast<Share>(cores * 1'000'000 + 0.5) * (whole_share / 1'000'000); }
double cores(Share share) { return static_cast<double>(share) / static_cast<double>(whole_share); }
Share sum(const std::vector<Share>& shares) { return std::accumulate(shares.begin(), shares.end(), Share{0}); }

std::vector<Share> draw(const char* name, Random& random, const UtilizationRequest& request) {
  const UtilizationGenerator* const generator = utilization_generator(name);
  REQUIRE(generator != nullptr);
  REQUIRE(generator->fault_of(request) == "");
  return generator->draw(random, request);
}

std::string fault(const char* name, const UtilizationRequest& request) {
  return utilization_generator(name)->fault_of(request);
}

// Returns the moments of the first utilization of many sets.
Moments moments_of(const char* name, const UtilizationRequest& request, int sets = 40'000) {
  Moments moments;
  Random random = random_of(7, 0);
  for (int i = 0; i < sets; ++i) moments.add(cores(draw(name, random, request).front()));
  return moments;
}

}  // namespace

TEST_CASE("the sum of the utilizations is exact and each is within its limits") {
  struct Case {
    const char* name;
    std::size_t tasks;
    double total, least, most;
  };
  const Case c = GENERATE(
      Case{"uunifast", 1, 0.7, 0, 1}, Case{"uunifast", 2, 1, 0, 1}, Case{"uunifast", 200, 0.333333, 0, 1},
      Case{"uunifast-discard", 8, 1.6, 0, 1}, Case{"uunifast-discard", 5, 2.5, 0.1, 0.9},
      Case{"randfixedsum", 1, 0.4, 0.1, 0.9}, Case{"randfixedsum", 2, 1.999999, 0, 1},
      Case{"randfixedsum", 8, 1.6, 0, 1}, Case{"randfixedsum", 8, 7.5, 0, 1}, Case{"randfixedsum", 40, 3, 0.05, 0.1},
      Case{"randfixedsum", 4, 4, 0, 1}, Case{"randfixedsum", 4, 0.4, 0.1, 0.9}, Case{"randfixedsum", 3, 0.9, 0.3, 0.3},
      Case{"randfixedsum", 300, 20, 0, 1}, Case{"independent", 0, 3.3, 0.1, 0.4});
  CAPTURE(c.name, c.tasks, c.total);
  Random random = random_of(1, 0);
  const UtilizationRequest request{
      .tasks = c.tasks, .total = share(c.total), .least = share(c.least), .most = share(c.most)};
  for (int set = 0; set < 20; ++set) {
    const std::vector<Share> shares = draw(c.name, random, request);
    if (c.tasks > 0) CHECK(shares.size() == c.tasks);
    CHECK(sum(shares) == request.total);
    const bool is_last_cut = c.tasks == 0;
    CHECK(std::all_of(shares.begin(), shares.end() - (is_last_cut ? 1 : 0),
                      [&](Share u) { return u >= request.least && u <= request.most; }));
  }
}

TEST_CASE("uunifast has the moments of a uniform simplex") {
  // Each utilization is the total times a number of the distribution Beta(1, n - 1).
  const auto [tasks, total] = GENERATE(table<int, double>({{2, 1.0}, {3, 0.9}, {10, 0.5}}));
  const double n = tasks;
  const Moments moments = moments_of("uunifast", {.tasks = static_cast<std::size_t>(tasks), .total = share(total)});
  CHECK(moments.has_mean(total / n));
  CHECK(moments.has_variance(total * total * (n - 1) / (n * n * (n + 1))));
}

TEST_CASE("randfixedsum has the moments of the polytope") {
  // n = 2 and a sum s > 1: uniform from s - 1 to 1. n = 3 and s = 1.5: the variance is 5 / 72.
  const Moments pair = moments_of("randfixedsum", {.tasks = 2, .total = share(1.5)});
  CHECK(pair.has_mean(0.75));
  CHECK(pair.has_variance(0.25 / 12));
  const Moments triple = moments_of("randfixedsum", {.tasks = 3, .total = share(1.5)});
  CHECK(triple.has_mean(0.5));
  CHECK(triple.has_variance(5.0 / 72));
  // A sum of one core is a simplex, as for uunifast.
  const Moments simplex = moments_of("randfixedsum", {.tasks = 4, .total = share(1)});
  CHECK(simplex.has_variance(3.0 / (16 * 5)));
  // Limits scale the same polytope.
  const Moments scaled =
      moments_of("randfixedsum", {.tasks = 3, .total = share(1.5), .least = share(0.2), .most = share(0.8)});
  CHECK(scaled.has_mean(0.5));
  CHECK(scaled.has_variance(0.36 * 5.0 / 72));
}

TEST_CASE("uunifast-discard and randfixedsum draw from the same distribution") {
  const UtilizationRequest request{.tasks = 4, .total = share(2)};
  Moments discard, fixed;
  Random random = random_of(9, 0);
  for (int i = 0; i < 30'000; ++i) {
    discard.add(cores(std::ranges::max(draw("uunifast-discard", random, request))));
    fixed.add(cores(std::ranges::max(draw("randfixedsum", random, request))));
  }
  CHECK(fixed.has_mean(discard.mean()));
  CHECK(fixed.has_variance(discard.variance(), 0.05));
}

TEST_CASE("sets with a balance factor have it, and their sum, in random order") {
  const char* const name = GENERATE("balanced", "balanced-uniform");
  Random random = random_of(4, 0);
  Moments first;
  for (int set = 0; set < 2000; ++set) {
    const auto shares = draw(name, random, {.tasks = 6, .total = share(1.5), .balance = share(0.3)});
    CHECK(sum(shares) == share(1.5));
    const auto [least, most] = std::ranges::minmax(shares);
    CHECK(cores(least) / cores(most) == Approx(0.3).epsilon(1e-9));
    first.add(cores(shares.front()));
  }
  CHECK(first.has_mean(0.25));
}

TEST_CASE("a set with a balance factor is drawn again until each task fits on a core") {
  // The largest of three tasks needs from 0.95 of a core, if the one between is as large, to 1.67.
  Random random = random_of(4, 1);
  for (int set = 0; set < 200; ++set)
    CHECK(std::ranges::max(draw("balanced-uniform", random, {.tasks = 3, .total = share(2), .balance = share(0.1)})) <=
          whole_share);
  CHECK(draw("balanced-uniform", random, {.tasks = 3, .total = share(2.2), .balance = share(0.1)}).empty());
}

TEST_CASE("independent utilizations are uniform within the limits") {
  const Moments moments = moments_of("independent", {.tasks = 1, .least = share(0.1), .most = share(0.5)});
  CHECK(moments.has_mean(0.3));
  CHECK(moments.has_variance(0.16 / 12));
}

TEST_CASE("the sets of a seed are the same on every machine") {
  const UtilizationRequest request{.tasks = 3, .total = share(0.9)};
  Random random = random_of(1, 0);
  CHECK(draw("uunifast", random, request) ==
        std::vector<Share>{217'654'875'123'359, 289'453'996'892'081, 141'539'127'984'560});
  CHECK(draw("randfixedsum", random, request) ==
        std::vector<Share>{443'432'807'832'264, 124'323'261'684'088, 80'891'930'483'648});
}

TEST_CASE("a generator says what it cannot do and what to change") {
  using Catch::Contains;
  CHECK_THAT(fault("uunifast", {.total = share(1)}), Contains("add tasks"));
  CHECK_THAT(fault("uunifast-discard", {.tasks = 4}), Contains("add utilization"));
  CHECK_THAT(
      fault("uunifast", {.tasks = 4, .total = share(1.6)}),
      Contains("with utilization 1.6 a task may need more than a whole core; use utilizations = \"uunifast-discard\""));
  CHECK_THAT(fault("uunifast", {.tasks = 4, .total = share(0.6), .most = share(0.5)}),
             Contains("no limits for one task"));
  CHECK_THAT(fault("uunifast-discard", {.tasks = 4, .total = share(4.5)}),
             Contains("4 tasks of at most 1 each cannot use 4.5; lower utilization"));
  CHECK_THAT(fault("randfixedsum", {.tasks = 4, .total = share(0.3), .least = share(0.1)}),
             Contains("4 tasks of at least 0.1 each need more than 0.3"));
  CHECK_THAT(fault("randfixedsum", {.tasks = 1001, .total = share(1)}), Contains("at most 1000 tasks"));
  CHECK_THAT(fault("randfixedsum", {.tasks = 2, .total = share(1), .most_each = {share(1), share(1)}}),
             Contains("use utilizations = \"convolutionalfixedsum\""));
  CHECK_THAT(fault("independent", {.tasks = 2, .least_each = {0, 0}}), Contains("the same limits for all tasks"));
  CHECK_THAT(fault("convolutionalfixedsum", {.tasks = 257, .total = share(1)}), Contains("at most 256 tasks"));
  CHECK_THAT(fault("convolutionalfixedsum", {.tasks = 3, .total = share(1), .most_each = {share(1), share(1)}}),
             Contains("utilization_max_each has 2 values for 3 tasks"));
  CHECK_THAT(fault("convolutionalfixedsum",
                   {.tasks = 2, .total = share(1), .most = share(0.5), .least_each = {0, share(0.6)}}),
             Contains("the least utilization of task 2, 0.6, is more than its greatest, 0.5"));
  CHECK_THAT(fault("convolutionalfixedsum", {.tasks = 2, .total = share(1), .most_each = {share(0.5), share(0.4)}}),
             Contains("the limits allow a sum from 0 to 0.9, and utilization is 1"));
  CHECK_THAT(fault("balanced", {.tasks = 8, .total = share(1.4)}), Contains("add balance, such as 0.1"));
  CHECK_THAT(fault("balanced-uniform", {.tasks = 8, .total = share(1.4)}), Contains("add balance, such as 0.1"));
  CHECK_THAT(
      fault("balanced", {.tasks = 3, .total = share(2), .balance = share(0.1)}),
      Contains("with balance 0.1 and utilization 2 the 3 tasks need from ") && Contains("raise balance or tasks"));
  CHECK_THAT(fault("independent", {.tasks = 4, .total = share(1)}), Contains("leave tasks or utilization out"));
  CHECK_THAT(fault("independent", {}), Contains("needs tasks or utilization"));
  CHECK_THAT(fault("independent", {.tasks = 4, .most = 0}), Contains("raise utilization_max"));
}

TEST_CASE("a generator that finds no set within the limits gives up") {
  Random random = random_of(1, 0);
  CHECK(draw("uunifast-discard", random, {.tasks = 12, .total = share(11.9)}).empty());
  CHECK_FALSE(draw("randfixedsum", random, {.tasks = 12, .total = share(11.9)}).empty());
}

}  // namespace utilizations_test
