#include "orb/sched/limit_trial.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>

using namespace corelane;
using namespace corelane::sched;
using namespace std::chrono_literals;

namespace limit_trial_test {
namespace {

using Verdict = LimitTrial::Verdict;

ServantWindow sample(std::uint64_t ended) { return {.length = 1s, .in_servants = 1s, .ended = ended}; }

// Returns the verdict after one more pair of samples.
Verdict vote(LimitTrial& trial, std::uint64_t limit, std::uint64_t candidate) {
  REQUIRE_FALSE(trial.tries_candidate());
  REQUIRE(trial.take(sample(limit)) == Verdict::open);
  REQUIRE(trial.tries_candidate());
  return trial.take(sample(candidate));
}

// Returns after how many samples the rest is over.
int samples_of(RestPeriod& rest) {
  int samples = 1;
  while (!rest.ends()) ++samples;
  return samples;
}

}  // namespace

TEST_CASE("a candidate wins after seven votes") {
  LimitTrial trial;
  CHECK_FALSE(trial.is_on());
  trial.begin(4);
  CHECK(trial.is_on());
  CHECK(trial.candidate() == 4);
  for (int i = 1; i < LimitTrial::votes; ++i) REQUIRE(vote(trial, 1'000, 1'200) == Verdict::open);
  CHECK(vote(trial, 1'000, 1'200) == Verdict::wins);
  CHECK(trial.last_of_limit().ended == 1'000);
  trial.end();
  CHECK_FALSE(trial.is_on());
  CHECK(trial.candidate() == 4);
}

TEST_CASE("one vote against a candidate is noise, and two are not") {
  LimitTrial trial;
  trial.begin(4);
  CHECK(vote(trial, 1'000, 1'000) == Verdict::open);
  SECTION("one") {
    for (int i = 2; i < LimitTrial::votes; ++i) REQUIRE(vote(trial, 1'000, 1'200) == Verdict::open);
    CHECK(vote(trial, 1'000, 1'200) == Verdict::wins);
  }
  SECTION("two") { CHECK(vote(trial, 1'000, 1'020) == Verdict::loses); }
}

TEST_CASE("a candidate that is much worse loses at once") {
  LimitTrial trial;
  trial.begin(4);
  CHECK(vote(trial, 1'000, 700) == Verdict::loses);
}

TEST_CASE("a candidate loses if chance explains its votes") {
  LimitTrial trial;
  trial.begin(4);
  for (int i = 1; i < LimitTrial::votes; ++i) REQUIRE(vote(trial, 10, 11) == Verdict::open);
  CHECK(vote(trial, 10, 11) == Verdict::loses);
}

TEST_CASE("a new trial knows nothing of the votes of the last one") {
  LimitTrial trial;
  trial.begin(4);
  CHECK(vote(trial, 1'000, 1'000) == Verdict::open);
  trial.begin(8);
  CHECK(vote(trial, 1'000, 1'000) == Verdict::open);
  CHECK(vote(trial, 1'000, 1'000) == Verdict::loses);
}

TEST_CASE("a rest lasts as many samples as it was begun with") {
  RestPeriod rest;
  CHECK(samples_of(rest) == 1);
  rest.begin(3);
  CHECK(samples_of(rest) == 3);
  CHECK(samples_of(rest) == 1);  // over, until the next one begins
}

TEST_CASE("longer rests double up to the longest one") {
  RestPeriod rest;
  for (int expected = 2; expected <= RestPeriod::longest; expected *= 2) {
    rest.begin_longer();
    CHECK(samples_of(rest) == expected);
  }
  rest.begin_longer();
  CHECK(samples_of(rest) == RestPeriod::longest);
  rest.forget_length();
  rest.begin_longer();
  CHECK(samples_of(rest) == 2);
}

TEST_CASE("a rest ends early if three samples in a row are of another load") {
  RestPeriod rest;
  rest.begin(100);
  const std::uint64_t other = GENERATE(as<std::uint64_t>{}, 200, 40);
  CHECK_FALSE(rest.has_other_load(sample(100)));
  CHECK_FALSE(rest.ends());
  for (int i = 0; i < 2; ++i) CHECK_FALSE(rest.has_other_load(sample(other)));
  SECTION("in a row") {
    CHECK(rest.has_other_load(sample(other)));
    CHECK(rest.ends());
  }
  SECTION("not in a row") {
    CHECK_FALSE(rest.has_other_load(sample(100)));
    CHECK_FALSE(rest.has_other_load(sample(other)));
    CHECK_FALSE(rest.ends());
  }
}

}  // namespace limit_trial_test
