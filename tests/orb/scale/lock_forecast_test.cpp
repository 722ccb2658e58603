// Tests that a model fitted to few cores predicts many.
#include "orb/scale/lock_forecast.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "orb/scale/lock_simulation.h"

using namespace corelane::scale;

namespace lock_forecast_test {
namespace {

constexpr LockModel collapsing{.outside = 10, .section = .4, .hand_over = .1};
constexpr KnownTimes known{.outside = 10, .section = .4};

// Returns exact throughputs of 1 to `most` cores.
std::vector<ThroughputPoint> exact_curve(const LockModel& model, int most) {
  std::vector<ThroughputPoint> curve;
  for (int cores = 1; cores <= most; ++cores) curve.push_back({cores, solve(model, cores).throughput});
  return curve;
}

// Returns throughputs as a short measurement would show them: simulated, each with a seed of its own.
std::vector<ThroughputPoint> noisy_curve(const LockModel& model, int most) {
  std::vector<ThroughputPoint> curve;
  for (int cores = 1; cores <= most; ++cores)
    curve.push_back(
        {cores,
         simulate(model, cores, {.seed = static_cast<std::uint64_t>(cores), .sections = 60'000}).point.throughput});
  return curve;
}

}  // namespace

TEST_CASE("a fit finds the model of exact throughputs") {
  const auto fit = fit_lock(exact_curve(collapsing, 16));
  REQUIRE(fit);
  CHECK(fit->error < 1e-6);
  CHECK(fit->model.outside == Approx(10).epsilon(.01));
  CHECK(fit->model.section == Approx(.4).epsilon(.01));
  CHECK(fit->model.hand_over == Approx(.1).epsilon(.01));
}

TEST_CASE("with known times a fit finds the hand-over cost") {
  const auto fit = fit_lock(exact_curve(collapsing, 8), known);
  REQUIRE(fit);
  CHECK(fit->model.outside == 10);
  CHECK(fit->model.section == .4);
  CHECK(fit->model.hand_over == Approx(.1).epsilon(1e-3));
  const auto none = fit_lock(exact_curve({.outside = 10, .section = .4, .hand_over = 0}, 8), known);
  REQUIRE(none);
  CHECK(none->model.hand_over == Approx(0).margin(1e-6));
}

TEST_CASE("the lower half predicts the upper half and the collapse") {
  const LockForecast result = forecast(exact_curve(collapsing, 40));
  REQUIRE(result.not_testable.empty());
  CHECK(result.highest_fitted == 20);
  REQUIRE(result.upper.size() == 20);
  CHECK(result.upper.front().cores == 21);
  CHECK(result.mean_error < .01);
  CHECK(result.measured_collapse == 18);
  CHECK(std::abs(result.predicted_collapse.value() - 18) <= 1);  // 17 and 18 cores differ by less than 0.1 %
}

TEST_CASE("noisy throughputs of the lower half predict the upper half within 15 percent") {
  const LockForecast result = forecast(noisy_curve(collapsing, 32), known);
  REQUIRE(result.not_testable.empty());
  CHECK(result.mean_error < .15);
  REQUIRE(result.measured_collapse);
  REQUIRE(result.predicted_collapse);
  CHECK(std::abs(*result.predicted_collapse - *result.measured_collapse) <= .15 * *result.measured_collapse);
}

TEST_CASE("fewer than 8 cores are not testable") {
  CHECK(forecast(exact_curve(collapsing, 7), known).not_testable ==
        "a prediction needs measurements with up to 8 cores or more; these have at most 7");
  CHECK(forecast({}, known).not_testable ==
        "a prediction needs measurements with up to 8 cores or more; these have at most 0");
  CHECK(forecast(exact_curve(collapsing, 8), known).not_testable.empty());
}

TEST_CASE("a lower half with too few points is not testable") {
  const std::vector<ThroughputPoint> few{{1, 1}, {4, 3}, {8, 5}};
  CHECK_THAT(forecast(few).not_testable, Catch::Contains("three numbers of cores"));
  CHECK(forecast(few, KnownTimes{.outside = .9, .section = .1}).not_testable.empty());
}

TEST_CASE("a throughput or a time that is not above 0 cannot be fitted") {
  auto curve = exact_curve(collapsing, 4);
  CHECK(fit_lock(curve));
  CHECK_FALSE(fit_lock(curve, KnownTimes{.outside = 0, .section = .4}));
  curve[2].throughput = 0;
  CHECK_FALSE(fit_lock(curve));
  CHECK_FALSE(fit_lock(curve, known));
  curve = exact_curve(collapsing, 8);
  curve.back().throughput = 0;
  CHECK_THAT(forecast(curve).not_testable, Catch::Contains("a throughput is not above 0"));
}

}  // namespace lock_forecast_test
