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

Compared two_policies() {
  Compared compared{.dispatchers = {"mc-orb", "mc-orb*"}, .baseline = "mc-orb*"};
  for (const char* const utilization : {"1.4", "1.6"})
    for (const char* const allocation : {"worst-fit", "first-fit"})
      compared.cells.push_back({{"generate.utilization", utilization}, {"policy.allocation", allocation}});
  return compared;
}

// Of 100 sets at 1.4, only first-fit admits 12 as a whole, and only worst-fit 2. Of 99 sets at 1.6 it is 1 and 5.
std::vector<SetResult> results_of_two_policies() {
  std::vector<SetResult> results;
  for (std::int64_t set = 0; set < 100; ++set) {
    results.push_back(result(0, set, "mc-orb", false, set < 12 ? 3 : 4));
    results.push_back(result(1, set, "mc-orb", false, set >= 98 ? 3 : 4));
    results.push_back(result(2, set, "mc-orb", false, set < 1 ? 3 : 4));
    if (set < 99) results.push_back(result(3, set, "mc-orb", false, set >= 94 ? 3 : 4));
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
  CHECK_THAT(
      admission_of(two_cells()),
      Contains("\nneeded: refused tasks. Under mc-orb*, which admits all, they or others of their set were late.\n") &&
          Contains("\nundecided: refused tasks. Under mc-orb* no task of their set was late: ") &&
          !Contains("not known"));
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

TEST_CASE("swept policies are compared pairwise with the first one, by the sets of which every task is admitted") {
  using Catch::Contains;
  const ExperimentSummary summary = summarize(two_policies(), results_of_two_policies());
  REQUIRE(summary.policies.size() == 1);  // mc-orb* refuses no task
  const PolicyComparison& comparison = summary.policies.front();
  CHECK(comparison.field == "policy.allocation");
  CHECK(comparison.first == "worst-fit");
  CHECK(comparison.dispatcher == "mc-orb");
  REQUIRE(comparison.differences.size() == 2);
  CHECK(comparison.differences[0].cell == 1);
  CHECK(comparison.differences[1].cell == 3);
  // 12 sets against 2: p = 2 (1 + 14 + 91) / 2^14 = 106 / 8192 = 0.012939. Holm multiplies the smaller p by 2.
  const Difference& easy = comparison.differences[0].difference;
  CHECK(easy.sets == 100);
  CHECK(easy.only_here == 12);
  CHECK(easy.only_baseline == 2);
  CHECK(easy.value == Approx(0.1));
  CHECK(easy.p == Approx(106.0 / 8192));
  CHECK(easy.adjusted_p == Approx(2 * 106.0 / 8192));
  CHECK(easy.verdict == Verdict::better);
  // Set 99 ran with one policy only. 1 against 5: p = 2 (1 + 6) / 2^6 = 14 / 64 = 0.21875.
  const Difference& hard = comparison.differences[1].difference;
  CHECK(hard.sets == 99);
  CHECK(hard.only_here == 1);
  CHECK(hard.only_baseline == 5);
  CHECK(hard.value == Approx(-4.0 / 99));
  CHECK(hard.p == Approx(0.21875));
  CHECK(hard.adjusted_p == Approx(0.21875));
  CHECK(hard.verdict == Verdict::undecided);
}

TEST_CASE("fewer sets of which every task is admitted are worse, and many equal sets are no worse") {
  std::vector<SetResult> results = results_of_two_policies();
  for (SetResult& r : results) r.cell ^= 1;  // swaps the policies
  CHECK(summarize(two_policies(), results).policies.front().differences[0].difference.verdict == Verdict::worse);
  for (SetResult& r : results) r.admitted = r.tasks;
  for (std::int64_t set = 100; set < 400; ++set)
    for (const std::size_t cell : {0u, 1u}) results.push_back(result(cell, set, "mc-orb", false));
  CHECK(summarize(two_policies(), results).policies.front().differences[0].difference.verdict == Verdict::no_worse);
}

TEST_CASE("a table has a row for each combination with another policy, and tallies the verdicts of each policy") {
  const auto tables = tables_of(summarize(two_policies(), results_of_two_policies()), {});
  REQUIRE(tables.size() == 4);  // misses, admission, policies, and mc-orb against mc-orb*
  // The intervals add half a set to each of the four outcomes: (12.5 - 2.5) / 102 +- 1.96 sqrt(15 - 100 / 102) / 102,
  // and (1.5 - 5.5) / 101 +- 1.96 sqrt(7 - 16 / 101) / 101.
  CHECK(text_of(tables[2]) ==
        "mc-orb against mc-orb with policy.allocation = worst-fit: difference of the fractions of whole sets\n\n"
        "generate.utilization  policy.allocation  sets  difference             95 %  p (McNemar)  p (Holm)    verdict\n"
        "                 1.4          first-fit   100       0.100   [0.026, 0.170]       0.0129    0.0259     better\n"
        "                 1.6          first-fit    99      -0.040  [-0.090, 0.011]       0.2188    0.2188  undecided\n"
        "\n"
        "policy.allocation = first-fit is better in 1 of 2 combinations, worse in 0, no worse in 0, undecided\n"
        "in 1.\n"
        "The widest interval is +-0.072. no worse: no significant difference, and the lower end of the\n"
        "interval is above -0.02.\n");
}

TEST_CASE("three policies and two sweeps over policies are compared where the other swept values are equal") {
  Compared compared{.dispatchers = {"mc-orb"}};
  for (const char* const allocation : {"worst-fit", "first-fit", "best-fit"})
    for (const char* const order : {"arrival", "decreasing-utilization"})
      compared.cells.push_back({{"policy.allocation", allocation}, {"policy.order", order}});
  const auto policies = summarize(compared, {}).policies;
  REQUIRE(policies.size() == 2);
  const auto cells_of = [](const PolicyComparison& comparison) {
    std::vector<std::size_t> cells;
    for (const PolicyDifference& policy : comparison.differences) cells.push_back(policy.cell);
    return cells;
  };
  CHECK(cells_of(policies[0]) == std::vector<std::size_t>{2, 3, 4, 5});
  CHECK(policies[1].field == "policy.order");
  CHECK(cells_of(policies[1]) == std::vector<std::size_t>{1, 3, 5});
  compared.cells = {{{"policy.allocation", "worst-fit"}, {"policy.order", "arrival"}},
                    {{"policy.allocation", "first-fit"}, {"policy.order", "decreasing-utilization"}}};
  CHECK(summarize(compared, {}).policies.empty());  // two policies at a time: the difference could be due to either
}

TEST_CASE("without results there are no tables, and without a baseline nothing is compared") {
  CHECK(tables_of({}, {}).empty());
  Compared compared = two_cells();
  compared.baseline.clear();
  CHECK(summarize(compared, results_of_two_cells()).cells[1].differences.empty());
}

}  // namespace comparison_test
