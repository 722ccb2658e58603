#include "orb/eval/statistics/comparison.h"

#include <catch2/catch.hpp>

#include "orb/eval/report/comparison_tables.h"

namespace comparison_test {

using namespace corelane::eval;

namespace {

SetResult result(std::size_t cell, std::int64_t set, const char* dispatcher, bool missed, std::uint64_t admitted = 4) {
  return {.cell = cell,
          .set = set,
          .dispatcher = dispatcher,
          .tasks = 4,
          .admitted = admitted,
          .utilization = {1'600'000},
          .admitted_utilization = {static_cast<std::int64_t>(admitted) * 400'000},
          .jobs = 100,
          .misses = missed ? 2u : 0u,
          .late_tasks = missed ? 1u : 0u};
}

Compared two_cells() {
  return {.cells = {{{"generate.utilization", "1.4"}}, {{"generate.utilization", "1.6"}}},
          .dispatchers = {"mc-orb", "mc-orb*", "leader-followers-pinned"},
          .baseline = "leader-followers-pinned"};
}

// In cell 0 nobody misses. In cell 1 the baseline misses in 20 sets of 40, mc-orb* in 4 of these, mc-orb in none.
std::vector<SetResult> results_of_two_cells() {
  std::vector<SetResult> results;
  for (std::int64_t set = 0; set < 40; ++set) {
    results.push_back(result(0, set, "mc-orb", false));
    results.push_back(result(0, set, "mc-orb*", false));
    results.push_back(result(0, set, "leader-followers-pinned", false));
    results.push_back(result(1, set, "mc-orb", false, set < 6 ? 3 : 4));
    results.push_back(result(1, set, "mc-orb*", set < 4));
    results.push_back(result(1, set, "leader-followers-pinned", set < 20));
  }
  return results;
}

}  // namespace

TEST_CASE("a summary counts the sets that miss, with their interval") {
  const ExperimentSummary summary = summarize(two_cells(), results_of_two_cells());
  REQUIRE(summary.cells.size() == 2);
  const auto& dispatchers = summary.cells[1].dispatchers;
  REQUIRE(dispatchers.size() == 3);
  CHECK(dispatchers[2].missed_sets.hits == 20);
  CHECK(dispatchers[2].missed_sets.trials == 40);
  CHECK(dispatchers[2].missed_sets.value() == Approx(0.5));
  CHECK(dispatchers[2].missed_sets.low < 0.5);
  CHECK(dispatchers[2].missed_sets.high > 0.5);
  CHECK(dispatchers[0].admitted == 154);
  CHECK(dispatchers[0].admitted_sets.hits == 34);
  CHECK(dispatchers[0].admitted_utilization / dispatchers[0].utilization == Approx(154.0 / 160));
  CHECK(dispatchers[0].refuses);
  CHECK_FALSE(dispatchers[1].refuses);
}

TEST_CASE("a refusal was necessary if the set misses a deadline without it") {
  const ExperimentSummary summary = summarize(two_cells(), results_of_two_cells());
  CHECK(summary.cells[1].dispatchers[0].necessary_refusals == 4);
  CHECK(summary.cells[1].dispatchers[0].undecided_refusals == 2);
}

TEST_CASE("without mc-orb* the table does not say which refusals were needed") {
  const auto admission_of = [](const Compared& compared) {
    return text_of(tables_of(summarize(compared, results_of_two_cells()), {})[1]);
  };
  using Catch::Contains;
  CHECK_THAT(admission_of(two_cells()), Contains("sets that miss a deadline under mc-orb*") && !Contains("not known"));
  Compared compared = two_cells();
  compared.dispatchers = {"mc-orb", "leader-followers-pinned"};
  CHECK_THAT(admission_of(compared), Contains("     -          -     0\n") &&
                                         Contains("needed, undecided: not known, because mc-orb* did not run."));
}

TEST_CASE("control characters of names are not printed") {
  const Table table{.title = "t\x1b", .columns = {"c\x1b"}, .rows = {{"r\x1b"}}, .notes = {"n\x1b\nm"}};
  CHECK(text_of(table) == "t?\n\nc?\nr?\n\nn? m\n");
}

TEST_CASE("dispatchers are compared pairwise with the baseline, adjusted over the cells") {
  const ExperimentSummary summary = summarize(two_cells(), results_of_two_cells());
  const auto& differences = summary.cells[1].differences;
  REQUIRE(differences.size() == 2);
  CHECK(differences[1].dispatcher == "mc-orb*");
  CHECK(differences[1].only_here == 0);
  CHECK(differences[1].only_baseline == 16);
  CHECK(differences[1].value == Approx(-0.4));
  CHECK(differences[1].p == Approx(2.0 / 65536));
  CHECK(differences[1].adjusted_p == Approx(2 * 2.0 / 65536));
  CHECK(differences[1].verdict == Verdict::better);
  CHECK(summary.cells[0].differences[1].p == 1);
  CHECK(summary.cells[0].differences[1].verdict == Verdict::undecided);  // 40 sets are too few for 0.02
}

TEST_CASE("the opposite difference is worse, and many equal sets are no worse") {
  Compared compared{.cells = std::vector<SweptValues>(1), .dispatchers = {"a", "b"}, .baseline = "a"};
  std::vector<SetResult> results;
  for (std::int64_t set = 0; set < 400; ++set) {
    results.push_back(result(0, set, "a", false));
    results.push_back(result(0, set, "b", set < 30));
  }
  CHECK(summarize(compared, results).cells[0].differences[0].verdict == Verdict::worse);
  for (SetResult& r : results) r.misses = 0;
  CHECK(summarize(compared, results).cells[0].differences[0].verdict == Verdict::no_worse);
}

TEST_CASE("sets that ran under one dispatcher only are not compared") {
  std::vector<SetResult> results{result(0, 0, "mc-orb*", true)};
  const ExperimentSummary summary = summarize(two_cells(), results);
  CHECK(summary.cells[0].differences[1].sets == 0);
  CHECK(summary.cells[0].dispatchers[1].missed_sets.trials == 1);
  CHECK(summary.cells[0].dispatchers[0].missed_sets.trials == 0);
}

TEST_CASE("misses that the machine caused are shown apart") {
  std::vector<SetResult> results{result(0, 0, "mc-orb", true), result(0, 1, "mc-orb", true)};
  results[0].host_misses = 2;
  const ExperimentSummary summary = summarize(two_cells(), results);
  CHECK(summary.cells[0].dispatchers[0].missed_sets.hits == 2);
  CHECK(summary.cells[0].dispatchers[0].own_missed_sets.hits == 1);
  CHECK_THAT(text_of(tables_of(summary, {}).front()), Catch::Contains("not by host"));
}

TEST_CASE("the tables show our figures beside published ones, and tally the verdicts") {
  const ExperimentSummary summary = summarize(two_cells(), results_of_two_cells());
  const auto tables =
      tables_of(summary, {{.dispatcher = "leader-followers-pinned", .values = {"0", "0.4+"}, .source = "a book"}});
  REQUIRE(tables.size() == 4);
  const std::string misses = text_of(tables[0]);
  CHECK_THAT(misses, Catch::Contains("published") && Catch::Contains("0.500") && Catch::Contains("0.4+") &&
                         Catch::Contains("Published for leader-followers-pinned: a book."));
  CHECK_THAT(text_of(tables[1]), Catch::Contains("0.963") && Catch::Contains("Of all tasks, 0.9812 are admitted."));
  CHECK_THAT(text_of(tables[3]),
             Catch::Contains("mc-orb* is better in 1 of 2 combinations, worse in 0, no worse in 0, undecided in 1."));
}

TEST_CASE("figures for the last sweep only make the other sweeps configurations") {
  Compared compared = two_cells();
  compared.cells.clear();
  for (const char* const tasks : {"6", "8"})
    for (const char* const utilization : {"1.4", "1.6"})
      compared.cells.push_back({{"generate.tasks", tasks}, {"generate.utilization", utilization}});
  std::vector<SetResult> results = results_of_two_cells();
  for (SetResult r : results_of_two_cells()) {
    r.cell += 2;
    r.misses = 0;
    results.push_back(r);
  }
  const auto tables =
      tables_of(summarize(compared, results), {{.dispatcher = "mc-orb*", .values = {"0", "0.1+"}},
                                               {.dispatcher = "leader-followers-pinned", .values = {"0", "0.5"}}});
  REQUIRE(tables.size() == 1);
  REQUIRE(tables[0].rows.size() == 2);
  CHECK(tables[0].rows[0] == std::vector<std::string>{"6", "0.000", "0.000", "1/0", "1/0"});
  CHECK(tables[0].rows[1] == std::vector<std::string>{"8", "0.050", "0.250", "0/0", "0/0"});
  CHECK_THAT(tables[0].notes[0], Catch::Contains("generate.tasks = 6, with nORB as leader-followers-pinned"));
}

TEST_CASE("without results there are no tables, and without a baseline nothing is compared") {
  CHECK(tables_of({}, {}).empty());
  Compared compared = two_cells();
  compared.baseline.clear();
  CHECK(summarize(compared, results_of_two_cells()).cells[1].differences.empty());
}

}  // namespace comparison_test
