#include "orb/scale/parameter_search.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "tests/support/law.h"

using namespace corelane::scale;
using corelane::testing::Draw;
using corelane::testing::expect;
using corelane::testing::holds;

namespace parameter_search_test {
namespace {

using Figure = std::function<std::optional<double>(const ParameterValues&)>;

int run(ParameterSearch& search, const Figure& figure) {
  int runs = 0;
  for (auto values = search.next(); values; values = search.next()) {
    ++runs;
    search.take(figure(*values));
  }
  return runs;
}

class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed) {}
  // Returns a factor from 1 - size to 1 + size.
  double operator()(double size) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return 1 + size * (2 * static_cast<double>(state_ >> 11U) * 0x1p-53 - 1);
  }

 private:
  std::uint64_t state_;
};

}  // namespace

TEST_CASE("the improvement is the geometric mean of the pairs, with Student's interval") {
  // Logarithms 0, ln 2, ln 4: mean ln 2, standard deviation ln 2, 4.303 * ln 2 / sqrt(3) = 1.7220.
  const Improvement improvement = improvement_of({1, 2, 4});
  CHECK(improvement.factor == Approx(2));
  CHECK(improvement.low == Approx(2 * std::exp(-1.7220)).epsilon(1e-3));
  CHECK(improvement.high == Approx(2 * std::exp(1.7220)).epsilon(1e-3));
  CHECK(improvement.pairs == 3);
}

TEST_CASE("the search begins with the defaults, and alternates the order of the pairs") {
  ParameterSearch search({2}, {});
  const ParameterValues defaults{0}, changed{1};
  const std::vector<ParameterValues> order{defaults, changed, changed, defaults, defaults, changed};
  for (const ParameterValues& values : order) {
    REQUIRE(search.next() == values);
    search.take(values == changed ? 2.0 : 1.0);
  }
  CHECK(search.decision().event == ParameterSearch::Event::won);
  CHECK(search.decision().ratios == std::vector<double>{2, 2, 2});
  CHECK(search.best() == changed);
}

TEST_CASE("the best value of each parameter is found and validated") {
  const bool maximizes = GENERATE(true, false);
  const std::vector<double> first{1, 1.3, 0.9}, second{1, 1.1, 1.5, 1.2};
  ParameterSearch search({3, 4}, {.runs = 100, .validation_pairs = 5, .maximizes = maximizes});
  (void)run(search, [&](const ParameterValues& values) {
    const double figure = first[values[0]] * second[values[1]];
    return maximizes ? figure : 1 / figure;
  });
  CHECK(search.best() == ParameterValues{1, 2});
  REQUIRE(search.improvement());
  CHECK(search.improvement()->factor == Approx(1.95));
  CHECK(search.improvement()->pairs == 5);
  CHECK(search.is_better());
}

TEST_CASE("the default comes back if it is better together with another value") {
  ParameterSearch search({2, 2}, {.runs = 100});
  const std::vector<std::vector<double>> figures{{1, 1.1}, {1.05, 0.5}};
  (void)run(search, [&](const ParameterValues& values) { return figures[values[0]][values[1]]; });
  // {1, 0} wins first. {1, 1} loses. {0, 0} loses. So the search ends at this local optimum.
  CHECK(search.best() == ParameterValues{1, 0});
  ParameterSearch other({2, 2}, {.runs = 100});
  const std::vector<std::vector<double>> ridge{{1, 1.4}, {1.05, 1.2}};
  (void)run(other, [&](const ParameterValues& values) { return ridge[values[0]][values[1]]; });
  CHECK(other.best() == ParameterValues{0, 1});
}

TEST_CASE("without a better value the defaults stay, and nothing is validated") {
  ParameterSearch search({3, 3}, {});
  const int runs = run(search, [](const ParameterValues&) { return 1.0; });
  CHECK(runs == 8);  // one pair for each value
  CHECK_FALSE(search.improvement());
  CHECK_FALSE(search.is_better());
}

TEST_CASE("values with which the program fails are dropped") {
  ParameterSearch search({3}, {});
  (void)run(search, [](const ParameterValues& values) {
    return values[0] == 1 ? std::nullopt : std::optional<double>(values[0] == 2 ? 3 : 1);
  });
  CHECK(search.best() == ParameterValues{2});
  CHECK(search.is_better());
}

TEST_CASE("values that fail twice in the validation are not better") {
  const int most = GENERATE(1, 2);
  const ParameterValues failing{static_cast<std::size_t>(GENERATE(0, 1))};
  ParameterSearch search({2}, {.validation_pairs = 4});
  int failures = 0;
  (void)run(search, [&](const ParameterValues& values) {
    if (search.validates() && values == failing && failures < most) {
      ++failures;
      return std::optional<double>();
    }
    return std::optional<double>(values[0] == 1 ? 2 : 1);
  });
  CHECK(failures == most);
  CHECK(search.is_better() == (most == 1));
  CHECK(search.improvement().has_value() == (most == 1));
  if (most == 1) CHECK(search.improvement()->pairs == 4);
}

TEST_CASE("the search keeps to its runs") {
  CHECK(holds([](Draw& draw) {
    std::vector<std::size_t> counts;
    for (std::uint64_t i = draw.below(6); i > 0; --i) counts.push_back(1 + draw.below(5));
    const int runs = static_cast<int>(draw.below(50));
    ParameterSearch search(counts, {.runs = runs, .validation_pairs = 2});
    const int done = run(search, [&draw, &counts](const ParameterValues& values) {
      for (std::size_t i = 0; i < values.size(); ++i)
        expect(values[i] < counts[i], "a value is one of the parameter's");
      return draw.below(8) == 0 ? std::nullopt : std::optional<double>(1 + static_cast<double>(draw.below(100)));
    });
    expect(done <= runs + 6, "no more runs than allowed, two pairs, and a repeated one");
  }));
}

TEST_CASE("noise alone is rarely validated") {
  int taken = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Noise noise(seed);
    ParameterSearch search({4, 4, 4}, {});
    (void)run(search, [&noise](const ParameterValues&) { return noise(0.2); });
    if (search.is_better()) ++taken;
  }
  CHECK(taken <= 12);  // 2.5 % of the validations are expected
}

TEST_CASE("a tenth is found beside noise of a few percent") {
  int taken = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Noise noise(seed);
    ParameterSearch search({3, 3, 3}, {});
    (void)run(search, [&noise](const ParameterValues& values) { return noise(0.04) * (values[1] == 2 ? 1.1 : 1); });
    if (search.is_better() && search.best()[1] == 2) ++taken;
  }
  CHECK(taken >= 45);
}

}  // namespace parameter_search_test
