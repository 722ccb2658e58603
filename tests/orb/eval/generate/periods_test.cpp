#include "orb/eval/generate/periods.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "tests/orb/eval/generate/moments.h"

namespace periods_test {

using namespace corelane;
using namespace corelane::eval;
using corelane::eval::testing::Moments;
using namespace std::chrono_literals;

namespace {

Duration draw(const char* name, Random& random, const PeriodRequest& request) {
  const PeriodDistribution* const distribution = period_distribution(name);
  REQUIRE(distribution != nullptr);
  REQUIRE(distribution->fault_of(request) == "");
  return distribution->draw(random, request);
}

double milliseconds(Duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

Moments moments_of(const char* name, const PeriodRequest& request) {
  Moments moments;
  Random random = random_of(5, 0);
  for (int i = 0; i < 40'000; ++i) moments.add(milliseconds(draw(name, random, request)));
  return moments;
}

}  // namespace

TEST_CASE("drawn periods are multiples of the step within the limits") {
  const auto [name, least, most, step] =
      GENERATE(table<const char*, Duration, Duration, Duration>({{"uniform", 10ms, 100ms, 1us},
                                                                 {"uniform", 3ms, 17ms, 5ms},
                                                                 {"log-uniform", 10ms, 100ms, 1us},
                                                                 {"log-uniform", 3ms, 17ms, 5ms},
                                                                 {"log-uniform", 1us, 3600s, 1ns},
                                                                 {"log-uniform", 7ms, 7ms, 1ms},
                                                                 {"uniform", 7ms, 7ms, 1ms}}));
  Random random = random_of(1, 0);
  for (int i = 0; i < 2000; ++i) {
    const Duration period = draw(name, random, {.least = least, .most = most, .step = step});
    CHECK(period >= least);
    CHECK(period <= most);
    CHECK(period % step == 0ns);
  }
}

TEST_CASE("periods have the moments of their distribution") {
  const PeriodRequest decade{.least = 10ms, .most = 100ms, .step = 1us};
  const Moments uniform = moments_of("uniform", decade);
  CHECK(uniform.has_mean(55));
  CHECK(uniform.has_variance(90.0 * 90 / 12));
  const Moments log_uniform = moments_of("log-uniform", decade);
  const double mean = 90 / std::log(10);
  CHECK(log_uniform.has_mean(mean));
  CHECK(log_uniform.has_variance((100.0 * 100 - 10 * 10) / (2 * std::log(10)) - mean * mean));
}

TEST_CASE("each order of magnitude is as frequent among log-uniform periods") {
  Random random = random_of(6, 0);
  std::map<int, int> decades;
  for (int i = 0; i < 30'000; ++i)
    ++decades[static_cast<int>(
        std::log10(milliseconds(draw("log-uniform", random, {.least = 1ms, .most = 1s, .step = 1us}))))];
  for (int decade = 0; decade < 3; ++decade) CHECK(std::abs(decades[decade] - 10'000) < 400);
}

TEST_CASE("listed periods are equally frequent") {
  Random random = random_of(6, 1);
  std::map<Duration, int> counts;
  for (int i = 0; i < 30'000; ++i) ++counts[draw("list", random, {.step = 1us, .list = {1ms, 5ms, 10ms}})];
  CHECK(counts.size() == 3);
  for (const auto& [period, count] : counts) CHECK(std::abs(count - 10'000) < 400);
}

TEST_CASE("automotive periods have the published shares and mean") {
  std::uint64_t total = 0;
  double sum = 0;
  for (const auto& [period, percent] : automotive_periods())
    total += percent, sum += milliseconds(period) * static_cast<double>(percent);
  CHECK(total == 85);  // 15 percent follow the crankshaft
  CHECK(sum / 85 == Approx(83.7294).epsilon(1e-5));
  Random random = random_of(6, 2);
  std::map<Duration, int> counts;
  constexpr int draws = 85'000;
  for (int i = 0; i < draws; ++i) ++counts[draw("automotive", random, {})];
  for (const auto& [period, percent] : automotive_periods()) {
    const double expected = 1000.0 * static_cast<double>(percent);
    CHECK(std::abs(counts[period] - expected) < 4 * std::sqrt(expected));
  }
  CHECK(moments_of("automotive", {}).has_mean(83.7294));
}

TEST_CASE("the periods of a seed are the same on every machine") {
  Random random = random_of(1, 0);
  const PeriodRequest decade{.least = 10ms, .most = 100ms, .step = 1us};
  CHECK(draw("log-uniform", random, decade) == 36'183us);
  CHECK(draw("uniform", random, decade) == 39'556us);
}

TEST_CASE("a distribution says what it cannot do and what to change") {
  CHECK(period_distribution("list")->fault_of({}) ==
        "it needs the periods; add period_list, such as [\"1ms\", \"5ms\"]");
  CHECK(period_distribution("uniform")->fault_of({.least = 11ms, .most = 14ms, .step = 5ms}) ==
        "no multiple of period_step = 5ms is within period_min = 11ms and period_max = 14ms; lower period_step");
  CHECK(period_distribution("gaussian") == nullptr);
}

}  // namespace periods_test
