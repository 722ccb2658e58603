#include "orb/eval/generate/convolutional_fixed_sum.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "tests/orb/eval/generate/moments.h"

namespace convolutional_fixed_sum_test {

using namespace corelane::eval;
using corelane::eval::testing::Moments;
using corelane::sched::Share;
using corelane::sched::whole_share;

namespace {

using Shares = std::vector<Share>;

Share share(double cores) { return static_cast<Share>(cores * 1'000'000 + 0.5) * (whole_share / 1'000'000); }
double cores(Share share) { return static_cast<double>(share) / static_cast<double>(whole_share); }
Share sum(const Shares& shares) { return std::accumulate(shares.begin(), shares.end(), Share{0}); }

Shares shares(const std::vector<double>& values) {
  Shares result;
  for (const double value : values) result.push_back(share(value));
  return result;
}

bool are_within(const Shares& values, const Shares& least, const Shares& most) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] < least[i] || values[i] > most[i]) return false;
  return true;
}

// Draws three numbers that are uniform within their limits until the third is, too: slow, and right by definition.
Shares by_rejection(Random& random, Share total, const Shares& least, const Shares& most) {
  for (;;) {
    Shares values(3);
    for (std::size_t i = 0; i < 2; ++i)
      values[i] = least[i] + static_cast<Share>(below(random, static_cast<std::uint64_t>(most[i] - least[i]) + 1));
    values[2] = total - values[0] - values[1];
    if (are_within(values, least, most)) return values;
  }
}

}  // namespace

TEST_CASE("convolved utilizations have their exact sum and keep the limits of each task") {
  struct Case {
    double total;
    std::vector<double> least, most;
  };
  const Case c = GENERATE(Case{0.4, {0.1}, {0.9}}, Case{1.6, {0, 0, 0, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1, 1, 1}},
                          Case{1, {0.5, 0.1, 0, 0}, {0.6, 0.2, 0.9, 0.000001}}, Case{0.3, {0.1, 0.2}, {0.5, 0.9}},
                          Case{1.4, {0.1, 0.2}, {0.5, 0.9}}, Case{1.399999, {0.1, 0.2}, {0.5, 0.9}},
                          Case{20, std::vector<double>(256, 0.0), std::vector<double>(256, 0.1)});
  CAPTURE(c.total, c.least, c.most);
  Random random = random_of(1, 0);
  for (int set = 0; set < 3; ++set) {
    const Shares drawn = convolutional_fixed_sum(random, share(c.total), shares(c.least), shares(c.most));
    CHECK(sum(drawn) == share(c.total));
    CHECK(are_within(drawn, shares(c.least), shares(c.most)));
  }
}

TEST_CASE("limits that leave one list give that list") {
  Random random = random_of(1, 0);
  const Shares least = shares({0.1, 0.2, 0}), most = shares({0.5, 0.9, 0.3});
  CHECK(convolutional_fixed_sum(random, share(0.3), least, most) == least);
  CHECK(convolutional_fixed_sum(random, share(1.7), least, most) == most);
}

TEST_CASE("convolved utilizations are as likely as those of a rejection") {
  const Shares least = shares({0.05, 0, 0.3}), most = shares({0.5, 0.2, 0.6});
  const Share total = share(0.9);
  Random random = random_of(3, 0);
  Moments expected[3], drawn[3];
  for (int set = 0; set < 4000; ++set) {
    const Shares values = by_rejection(random, total, least, most);
    for (std::size_t i = 0; i < 3; ++i) expected[i].add(cores(values[i]));
  }
  for (int set = 0; set < 60; ++set) {
    const Shares values = convolutional_fixed_sum(random, total, least, most);
    for (std::size_t i = 0; i < 3; ++i) drawn[i].add(cores(values[i]));
  }
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(drawn[i].has_mean(expected[i].mean()));
    CHECK(drawn[i].has_variance(expected[i].variance(), 0.6));  // of 60 sets
  }
}

TEST_CASE("the convolved set of a seed is the same on every machine") {
  Random random = random_of(1, 0);
  CHECK(convolutional_fixed_sum(random, share(0.9), shares({0, 0, 0}), shares({1, 1, 0.5})) ==
        Shares{360'566'377'815'969, 61'807'420'224'788, 226'274'201'959'243});
}

}  // namespace convolutional_fixed_sum_test
