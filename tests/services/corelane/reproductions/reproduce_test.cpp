#include "services/corelane/reproductions/reproduce.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "orb/os/privileges.h"

namespace reproduce_test {

using namespace corelane;
using namespace corelane::tool;
using namespace corelane::tool::reproductions;

ReproductionFile file_of(const std::string& text) {
  auto file = parse_reproductions(text, "test.toml");
  REQUIRE(file);
  return *std::move(file);
}

ReproductionFile eval_file(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(CORELANE_SOURCE "/bench/eval/" + name).rdbuf();
  return file_of(text.str());
}

struct Ran {
  int status;
  std::string out, err;
};

Ran run_file(const ReproductionFile& file, const ReproduceOptions& options) {
  std::ostringstream out, err;
  const int status = reproduce(file, options, out, err);
  return {status, out.str(), err.str()};
}

const Experiment& experiment_of(const ReproductionFile& file, std::size_t entry) {
  return *file.entries[entry].experiment;
}

TEST_CASE("each virtual experiment of the published files gives a value for each row and column") {
  for (const std::string name : {"quest.toml", "time-sensitive-linux.toml"})
    for (const ReproductionFile::Entry& entry : eval_file(name).entries) {
      if (entry.experiment->time == ExperimentTime::really) continue;
      INFO(entry.experiment->name);
      const auto values = entry.experiment->run({.length = entry.length / 10});
      REQUIRE(values);
      CHECK(values->size() == entry.experiment->rows.size());
      for (const auto& row : *values) CHECK(row.size() == entry.experiment->columns.size());
    }
}

TEST_CASE("each experiment in virtual time confirms what was published") {
  for (const Experiment* const experiment : experiments()) {
    if (experiment->time == ExperimentTime::really) continue;
    INFO(experiment->name);
    const auto values = experiment->run({.length = experiment->length});
    REQUIRE(values);
    CHECK(experiment->holds(*values));
  }
}

TEST_CASE("values that are missing confirm nothing") {
  for (const Experiment* const experiment : experiments()) {
    INFO(experiment->name);
    const std::vector<std::string> row(experiment->columns.size(), "-");
    CHECK(!experiment->holds(ExperimentValues(experiment->rows.size(), row)));
  }
}

TEST_CASE("the table has ours, and beside them the columns for which something was published") {
  const ReproductionFile file = file_of(
      "[[reproduction]]\nexperiment = \"timer-interrupts\"\n"
      "published = { \"one-shot timers\" = [\"\", \"11\", \"\", \"\"] }\n");
  const auto values = experiment_of(file, 0).run({});
  REQUIRE(values);
  const eval::Table table = reproduction_table(file.entries[0], *values);
  CHECK(table.columns.back() == "published interrupts");
  CHECK(table.columns.size() == 1 + 4 + 1);
  CHECK(table.rows[0] == std::vector<std::string>{"a tick of 1 ms", "35", "35", "0", "0", "-"});
  CHECK(table.rows[1] == std::vector<std::string>{"one-shot timers", "12", "11", "0", "0", "11"});
  REQUIRE(table.notes.size() == 1);
  CHECK_THAT(table.notes[0],
             Catch::StartsWith("Published: a tick interrupts 35 times") && Catch::EndsWith(". Here: confirmed."));
}

TEST_CASE("the table says that a published claim is not confirmed") {
  const ReproductionFile file = file_of("[[reproduction]]\nexperiment = \"timer-interrupts\"\n");
  auto values = experiment_of(file, 0).run({});
  REQUIRE(values);
  (*values)[1][1] = "12";
  CHECK_THAT(reproduction_table(file.entries[0], *values).notes[0], Catch::EndsWith(". Here: not confirmed."));
}

TEST_CASE("with --virtual only the experiments in virtual time run") {
  const Ran ran = run_file(eval_file("quest.toml"), {.only = ExperimentTime::virtually, .quick = true});
  CHECK(ran.status == 0);
  CHECK_THAT(ran.out, Catch::Contains("Published: Danish, Li & West") && Catch::Contains("io-servers") &&
                          !Catch::Contains("server-counts") && !Catch::Contains("-real"));
  CHECK(ran.err == "");
}

TEST_CASE("an experiment on this host runs where SCHED_FIFO is allowed, and says what it needs elsewhere") {
  const ReproductionFile file = file_of(
      "[[reproduction]]\nexperiment = \"io-on-behalf-real\"\nlength = \"100ms\"\n"
      "[[reproduction]]\nexperiment = \"timer-costs\"\nlength = \"10ms\"\n");
  const Ran ran = run_file(file, {.host = "this machine"});
  if (!os::privileges().fifo) {
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Catch::Contains("io-on-behalf-real needs SCHED_FIFO"));
    return;
  }
  CHECK(ran.err == "");
  CHECK(ran.status == 0);
  CHECK_THAT(ran.out, Catch::Contains("I/O 10 % for VCPU1") && Catch::Contains("50 timers, overshoot 500 us") &&
                          Catch::Contains("of this machine."));
}

TEST_CASE("a run that is stopped says so") {
  const Ran ran = run_file(eval_file("quest.toml"), {.is_to_stop = [] { return true; }});
  CHECK(ran.status == 1);
  CHECK_THAT(ran.err, Catch::Contains("stopped"));
}

}  // namespace reproduce_test
