#include "services/corelane/evaluate/evaluate.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>

#include "orb/eval/virtual_run.h"
#include "services/corelane/evaluate/interrupt.h"
#include "services/corelane/evaluate/origin.h"
#include "services/corelane/evaluate/pdf_figures.h"
#include "services/corelane/evaluate/progress.h"
#include "services/corelane/evaluate/results_file.h"
#include "tests/support/system/temp_directory.h"

namespace evaluate_test {

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;
using Catch::Contains;
using corelane::testing::TempDirectory;

namespace {

constexpr const char* two_cells_of_three_sets =
    "name = \"small\"\nrepetitions = 3\n[platform]\ncores = 2\n[generate]\ntasks = 4\n"
    "[experiment]\nlength = \"200ms\"\n[[sweep]]\nfield = \"generate.utilization\"\nvalues = [1.0, 1.9]\n";

std::string text_in(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t lines_in(const std::string& path) {
  const std::string text = text_in(path);
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

// Experiment is a folder with a scenario and the results of running it.
class ExperimentFolder {
 public:
  explicit ExperimentFolder(const std::string& scenario = two_cells_of_three_sets) { write(scenario); }

  void write(const std::string& scenario) { std::ofstream(place_ / "s.toml") << scenario; }

  // Runs the command. It is asked to stop after `most` runs.
  int run(EvaluateOptions options = {}, int most = 1'000'000) {
    options.file = place_ / "s.toml";
    if (options.output.empty()) options.output = results();
    if (options.threads == 0) options.threads = 1;
    std::ostringstream out, err;
    runs_ = 0;
    const Evaluation evaluation{.run = [&](const eval::RunRequest& request) -> Expected<eval::RunOutcome, std::string> {
                                  ++runs_;
                                  if (!fault_.empty()) return fault_;
                                  return eval::run_virtually(request);
                                },
                                .fault_of = [&](const eval::RunRequest& request) { return fault_of_(request); },
                                .is_to_stop = [&] { return runs_ >= most; }};
    const int status = evaluate(options, evaluation, out, err);
    out_ = out.str();
    err_ = err.str();
    return status;
  }

  int run_count() {
    run();
    return runs_;
  }

  void fail_with(const std::string& fault) { fault_ = fault; }
  void refuse(std::function<std::string(const eval::RunRequest&)> fault_of) { fault_of_ = std::move(fault_of); }
  std::string results() const { return place_ / "results.csv"; }
  std::string path(const std::string& name) const { return place_ / name; }
  int runs() const { return runs_; }
  const std::string& out() const { return out_; }
  const std::string& err() const { return err_; }

 private:
  TempDirectory place_;
  std::atomic<int> runs_{0};
  std::string fault_, out_, err_;
  std::function<std::string(const eval::RunRequest&)> fault_of_{[](const eval::RunRequest&) { return std::string(); }};
};

// SearchPath is a PATH of one folder, in which rsvg-convert is the script; "": there is none.
class SearchPath {
 public:
  SearchPath(const std::string& folder, const std::string& script) {
    std::filesystem::create_directories(folder);
    if (!script.empty()) {
      const std::string program = folder + "/rsvg-convert";
      std::ofstream(program) << script;
      std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    }
    setenv("PATH", folder.c_str(), 1);
  }
  ~SearchPath() { setenv("PATH", before_.c_str(), 1); }

 private:
  const std::string before_ = std::getenv("PATH");
};

double utilization_of(const eval::RunRequest& request) {
  double sum = 0;
  for (const eval::Task& task : request.tasks)
    sum += static_cast<double>(task.contract.budget.count()) / static_cast<double>(task.contract.period.count());
  return sum;
}

// The output without its line breaks.
std::string in_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

TEST_CASE("an experiment runs every set under every dispatcher, and keeps each result") {
  ExperimentFolder folder;
  CHECK(folder.run() == 0);
  CHECK(folder.runs() == 12);
  CHECK(lines_in(folder.results()) == 13);
  CHECK_THAT(text_in(folder.results()), Catch::StartsWith("experiment,scenario,mode,machine,kernel,version,seed,cell,"
                                                          "generate.utilization,set,dispatcher,"));
  CHECK_THAT(folder.out(), Contains("small: virtual time, 2 cores, 3 sets in each of 2 combinations, 200ms each") &&
                               Contains("Sets with a missed deadline") && Contains("mc-orb against mc-orb*"));
  CHECK_THAT(folder.err(), Contains("6 of 12 runs, about ") && Contains("12 of 12 runs\n"));
}

TEST_CASE("the heading names the policies that are not swept, and the results those of each line") {
  ExperimentFolder folder(std::string(two_cells_of_three_sets) +
                          "[policy]\norder = \"decreasing-utilization\"\n"
                          "[[sweep]]\nfield = \"policy.allocation\"\nvalues = [\"worst-fit\", \"first-fit\"]\n");
  CHECK(folder.run({.report = folder.path("r.html")}) == 0);
  CHECK_THAT(in_one_line(folder.out()),
             Catch::StartsWith("small: virtual time, 2 cores, 3 sets in each of 4 combinations, 200ms each, "
                               "test response-time, order decreasing-utilization, platform load "));
  CHECK_THAT(text_in(folder.results()),
             Contains(",cell,generate.utilization,policy.allocation,set,dispatcher,allocation,test,order,tasks,") &&
                 Contains(",first-fit,0,mc-orb,first-fit,response-time,decreasing-utilization,4,") &&
                 Contains(",first-fit,0,mc-orb*,worst-fit,none,decreasing-utilization,4,"));
  const char* const title = "mc-orb against mc-orb with policy.allocation = worst-fit: difference of the fractions";
  CHECK_THAT(folder.out(), Contains(title) && Contains("policy.allocation = first-fit is "));
  CHECK_THAT(text_in(folder.path("r.html")), Contains(title));
}

TEST_CASE("an experiment without a name is called as its file, in the text and on the page") {
  std::string scenario = two_cells_of_three_sets;
  scenario.erase(0, scenario.find("repetitions"));
  ExperimentFolder folder(scenario);
  CHECK(folder.run({.report = folder.path("r.html")}) == 0);
  CHECK_THAT(in_one_line(folder.out()),
             Catch::StartsWith("s: virtual time, ") &&
                 Contains(", allocation worst-fit, test response-time, order arrival, platform load "));
  CHECK_THAT(text_in(folder.path("r.html")), Contains("<title>s</title>") && Contains("<h1>s</h1>"));
}

TEST_CASE("the heading names how the first dispatcher places tasks if none refuses any") {
  std::string scenario = two_cells_of_three_sets;
  scenario.insert(scenario.find("length"), "dispatchers = [\"leader-followers\", \"mc-orb*\"]\n");
  ExperimentFolder folder(scenario);
  CHECK(folder.run() == 0);
  CHECK_THAT(in_one_line(folder.out()), Contains("allocation any core, test none, order"));
}

TEST_CASE("a second run finds all results and runs nothing") {
  ExperimentFolder folder;
  folder.run();
  const std::string first = folder.out(), results = text_in(folder.results());
  CHECK(folder.run() == 0);
  CHECK(folder.runs() == 0);
  CHECK(folder.out() == first);
  CHECK(text_in(folder.results()) == results);
}

TEST_CASE("a stopped experiment keeps what is done, and goes on from there") {
  ExperimentFolder whole, stopped;
  whole.run();
  CHECK(stopped.run({}, 4) == 1);
  CHECK_THAT(stopped.err(), Contains("stopped; ") && Contains("the same command goes on from there"));
  CHECK(lines_in(stopped.results()) == 5);
  CHECK(stopped.run() == 0);
  CHECK(stopped.runs() == 8);
  CHECK_THAT(stopped.err(), Contains("4 results are there already, 8 runs are missing"));
  CHECK(text_in(stopped.results()) == text_in(whole.results()));
}

TEST_CASE("a line that was cut when a run was killed is run again") {
  ExperimentFolder folder;
  folder.run();
  const std::string results = text_in(folder.results());
  std::filesystem::resize_file(folder.results(), results.size() - 10);
  CHECK(folder.run() == 0);
  CHECK(folder.runs() == 1);
  CHECK(text_in(folder.results()) == results);
}

TEST_CASE("several threads give the same file as one") {
  ExperimentFolder one, three;
  one.run();
  three.run({.threads = 3});
  CHECK(text_in(one.results()) == text_in(three.results()));
}

TEST_CASE("more repetitions add sets, and run none again") {
  ExperimentFolder folder;
  folder.run();
  CHECK(folder.run({.repetitions = 5}) == 0);
  CHECK(folder.runs() == 8);
  CHECK_THAT(folder.out(), Contains("5 sets in each of 2 combinations"));
}

TEST_CASE("the heading counts the sets of the results, also if fewer are asked for") {
  ExperimentFolder folder;
  folder.run({.repetitions = 5});
  CHECK(folder.run({.repetitions = 2}) == 0);
  CHECK(folder.runs() == 0);
  CHECK_THAT(folder.out(), Contains("5 sets in each of 2 combinations"));
}

TEST_CASE("sets are added until the differences are as precise as the file wants them") {
  // Without any miss the interval of n sets is +- 1.96 / (n + 2): 0.327 for 4 sets, and 0.280 for 5.
  const auto file = [](const char* precision) {
    return std::string("repetitions = 4\n[platform]\ncores = 2\n[generate]\ntasks = 4\nutilization = 0.5\n") +
           "[experiment]\nlength = \"200ms\"\nprecision = " + precision + "\n";
  };
  CHECK(ExperimentFolder(file("0.33")).run_count() == 2 * 4);
  CHECK(ExperimentFolder(file("0.30")).run_count() == 2 * 5);
  CHECK(ExperimentFolder(file("0.001")).run_count() == 2 * 40);
}

TEST_CASE("results of a changed scenario are not mixed") {
  ExperimentFolder folder;
  folder.run();
  folder.write(std::string(two_cells_of_three_sets) + "# changed\n");
  CHECK(folder.run() == 2);
  CHECK_THAT(folder.err(),
             Contains("results of another scenario, of an earlier version of this file, or with another file in "
                      "dispatch.slowdowns; move it away, or name another file with --output"));
  CHECK(folder.runs() == 0);
}

TEST_CASE("results with and without the setting of slowdowns are not mixed, and the output names the setting") {
  ExperimentFolder folder;
  const std::string file = folder.path("slowdowns.toml");
  const auto write = [&file](const std::string& factor) {
    std::ofstream(file) << "[[slowdown]]\noperation = \"task\"\nbeside = \"load\"\nfactor = " << factor << "\n";
  };
  const EvaluateOptions charging{.orb_options = {"-ORBDispatchSlowdowns", file}};
  write("1.1");
  CHECK(folder.run() == 0);
  CHECK(folder.run(charging) == 2);
  CHECK_THAT(folder.err(), Contains("or with another file in dispatch.slowdowns"));
  std::filesystem::remove(folder.results());
  CHECK(folder.run(charging) == 0);
  CHECK_THAT(folder.out(), Contains("With the setting dispatch.slowdowns, budgets include slowdowns"));
  CHECK(folder.run(charging) == 0);
  CHECK(folder.runs() == 0);
  write("1.2");
  CHECK(folder.run(charging) == 2);
  // The setting has no effect on a scenario that says how it charges.
  folder.write("policy = { charge_slowdowns = false }\n" + std::string(two_cells_of_three_sets));
  std::filesystem::remove(folder.results());
  CHECK(folder.run(charging) == 0);
  write("1.1");
  CHECK(folder.run(charging) == 0);
  CHECK(folder.runs() == 0);
}

TEST_CASE("the quick form runs few sets, into a file of its own") {
  ExperimentFolder folder;
  folder.write(std::string("repetitions = 9\n[platform]\ncores = 2\n[generate]\ntasks = 4\n") +
               "[experiment]\nlength = \"200ms\"\ndispatchers = [\"mc-orb\", \"mc-orb*\", \"leader-followers\"]\n" +
               "[[sweep]]\nfield = \"generate.utilization\"\nfrom = 1.0\nto = 1.8\nstep = 0.1\n");
  CHECK(folder.run({.quick = true}) == 0);
  CHECK(folder.runs() == 3 * 4 * 2);
  CHECK_THAT(text_in(folder.results()), Contains("-quick,virtual") && Contains(",1.4,") && !Contains("mc-orb*"));
  CHECK(folder.run() == 2);
}

TEST_CASE("published figures stand beside ours, one for each combination") {
  ExperimentFolder folder(std::string(two_cells_of_three_sets) +
                          "[[published]]\ndispatcher = \"mc-orb*\"\nvalues = [\"0\", \"0.7+\"]\n");
  CHECK(folder.run() == 0);
  CHECK_THAT(folder.out(), Contains("published") && Contains("0.7+"));
  folder.write(std::string(two_cells_of_three_sets) +
               "[[published]]\ndispatcher = \"mc-orb*\"\nvalues = [\"0.7+\", \"0\", \"0\"]\n");
  CHECK(folder.run({.output = folder.path("other.csv")}) == 2);
  CHECK_THAT(folder.err(), Contains("has 3 values, but there are 2 combinations of the sweeps; give one for each, or"));
}

TEST_CASE("a report is written when it is asked for") {
  ExperimentFolder folder;
  CHECK(folder.run({.report = folder.path("r.html")}) == 0);
  CHECK_THAT(text_in(folder.path("r.html")), Contains("<h1>small</h1>") && Contains("</html>"));
  CHECK(folder.run({.report = "/nowhere/r.html"}) == 2);
}

TEST_CASE("a report says how to run the set of the first miss again, by its number in the file") {
  ExperimentFolder folder;
  // The second combination misses deadlines. It begins with set 4 of the file, however many sets are run.
  CHECK(folder.run({.report = folder.path("r.html"), .repetitions = 2}) == 0);
  CHECK_THAT(text_in(folder.path("r.html")),
             Contains("corelane simulate '" + folder.path("s.toml") + "' --set 4 --dispatcher 'mc-orb*'<"));
  CHECK(folder.run({.quick = true, .output = folder.path("quick.csv"), .report = folder.path("quick.html")}) == 0);
  CHECK_THAT(text_in(folder.path("quick.html")), Contains(" --set 4 --dispatcher 'mc-orb*'<"));
}

TEST_CASE("a report that cannot be written leaves the earlier one") {
  ExperimentFolder folder;
  std::ofstream(folder.path("r.html")) << "earlier";
  std::filesystem::create_directory(folder.path("r.html.new"));  // the new page cannot be made
  CHECK(folder.run({.report = folder.path("r.html")}) == 2);
  CHECK_THAT(folder.err(), Contains("r.html cannot be written; name another file for --report"));
  CHECK(text_in(folder.path("r.html")) == "earlier");
}

TEST_CASE("a report goes to where a link leads, and to a device") {
  ExperimentFolder folder;
  std::ofstream(folder.path("page.html")) << "earlier";
  std::filesystem::create_symlink("page.html", folder.path("link.html"));
  CHECK(folder.run({.report = folder.path("link.html")}) == 0);
  CHECK(std::filesystem::is_symlink(folder.path("link.html")));
  CHECK_THAT(text_in(folder.path("page.html")), Contains("</html>"));
  CHECK(folder.run({.report = "/dev/null"}) == 0);
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("a report goes to a new file in another folder than that of its link") {
  using std::filesystem::perms;
  ExperimentFolder folder;
  const std::string links = folder.path("links");
  std::filesystem::create_directory(links);
  std::filesystem::create_symlink("../page.html", links + "/link.html");
  std::filesystem::permissions(links, perms::owner_read | perms::owner_exec);  // root may write there all the same
  CHECK(folder.run({.report = links + "/link.html"}) == 0);
  std::filesystem::permissions(links, perms::owner_all);
  CHECK_THAT(text_in(folder.path("page.html")), Contains("</html>"));
}

TEST_CASE("an output that would overwrite another file or cannot be written is refused before anything runs") {
  ExperimentFolder folder;
  const std::string scenario = text_in(folder.path("s.toml"));
  std::filesystem::create_symlink("s.toml", folder.path("link"));
  const auto refused = [&](const EvaluateOptions& options, const char* sentence) {
    CHECK(folder.run(options) == 2);
    CHECK(folder.runs() == 0);
    CHECK_THAT(folder.err(), Contains(sentence));
    CHECK(text_in(folder.path("s.toml")) == scenario);
  };
  refused({.output = folder.path("./s.toml")}, "is the scenario, and the results would go into it; name another file");
  refused({.report = folder.path("s.toml")}, "is the scenario, and the report would replace it; name another file");
  refused({.report = folder.path("link")}, "is the scenario, and the report would replace it; name another file");
  refused({.output = folder.path("new.csv"), .report = folder.path("./new.csv")},
          "is the file of results, and the report would replace it; name another file with --report");
  refused({.output = folder.path("new.csv"), .report = "/nowhere/r.html"},
          "/nowhere/r.html cannot be written: No such file or directory; name a file");
  refused({.output = folder.path("new.csv"), .report = folder.path(".")}, "is a folder; name a file: --report FILE");
  refused({.output = folder.path("new.csv"), .figures = folder.path("s.toml/figures")},
          "s.toml/figures cannot be written; name another directory for --figures");
  CHECK_FALSE(std::filesystem::exists(folder.path("new.csv")));
}

TEST_CASE("two experiments do not write the same results at a time") {
  ExperimentFolder folder;
  {
    const auto held = ResultsFile::open(folder.results(), {}, {}, 1);
    REQUIRE(held);
    CHECK(folder.run() == 2);
    CHECK(folder.runs() == 0);
    CHECK_THAT(folder.err(), Contains("results.csv is in use by another corelane eval") &&
                                 Contains("; wait until it ends, or name another file with --output"));
  }
  std::filesystem::remove(folder.results());
  CHECK(folder.run() == 0);
}

TEST_CASE("an experiment without a list of dispatchers runs under that of its policy") {
  ExperimentFolder folder(std::string(two_cells_of_three_sets) + "[policy]\ndispatcher = \"direct\"\n");
  CHECK(folder.run() == 0);
  CHECK_THAT(folder.out(), Contains("direct against mc-orb*"));
}

TEST_CASE("the text of an experiment says that budgets include slowdowns, which are estimates") {
  const std::string estimates =
      "With policy.charge_slowdowns = true, budgets include slowdowns, which are estimates: bounds hold\n"
      "only as far as these do.\n";
  ExperimentFolder charged(std::string(two_cells_of_three_sets) + "[policy]\ncharge_slowdowns = true\n");
  CHECK(charged.run() == 0);
  CHECK_THAT(charged.out(), Contains(estimates));
  ExperimentFolder usual;
  CHECK(usual.run() == 0);
  CHECK_THAT(usual.out(), !Contains("slowdowns"));
}

TEST_CASE("a sweep over the policy's dispatcher is refused, because an experiment has a list of them") {
  ExperimentFolder folder(std::string(two_cells_of_three_sets) +
                          "[[sweep]]\nfield = \"policy.dispatcher\"\nvalues = [\"manager\", \"direct\"]\n");
  CHECK(folder.run() == 2);
  CHECK_THAT(folder.err(), Contains("a sweep over policy.dispatcher has no meaning in an experiment; leave it out"));
}

TEST_CASE("a combination that cannot run is refused before any other runs") {
  ExperimentFolder folder(
      "[platform]\ncores = 2\nbudget = \"0us\"\nblocking = \"0us\"\ncapacity = 1\n[generate]\ntasks = 4\nutilization = "
      "1.0\njitter = 0\n[policy]\nallocation = \"splitting\"\n"
      "[[sweep]]\nfield = \"policy.test\"\nvalues = [\"qpa\", \"response-time\"]\n");
  CHECK(folder.run() == 2);
  CHECK(folder.runs() == 0);
  CHECK_THAT(folder.err(), Contains("s.toml: with policy.test = response-time: "));
  CHECK_FALSE(std::filesystem::exists(folder.results()));
}

TEST_CASE("a combination that only some runs refuse is refused before any other runs") {
  ExperimentFolder folder;
  folder.refuse([](const eval::RunRequest& request) {
    const bool is_refused = request.dispatcher->name == "mc-orb*" && utilization_of(request) > 1.5;
    return std::string(is_refused ? "no host is so fast" : "");
  });
  CHECK(folder.run() == 2);
  CHECK(folder.runs() == 0);
  CHECK_THAT(folder.err(), Contains("s.toml: with generate.utilization = 1.9: no host is so fast"));
}

TEST_CASE("control characters of a name are not printed") {
  ExperimentFolder folder;
  std::string scenario = two_cells_of_three_sets;
  scenario.replace(scenario.find("small"), 5, "a\\u001b[31m");
  folder.write(scenario);
  CHECK(folder.run() == 0);
  CHECK_THAT(folder.out(), Contains("a?[31m: virtual time") && !Contains("\x1b"));
  CHECK_THAT(text_in(folder.results()), !Contains("\x1b"));
}

TEST_CASE("figures are files of their own") {
  ExperimentFolder folder;
  CHECK(folder.run({.figures = folder.path("a/b")}) == 0);
  const std::string svg = text_in(folder.path("a/b/misses-1.svg"));
  CHECK_THAT(svg, Catch::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=") && Contains("<style>") &&
                      Catch::EndsWith("</svg>\n"));
  CHECK_THAT(folder.out(), Contains(" figures: " + folder.path("a/b")));
  CHECK(folder.run({.figures = "/proc/nowhere"}) == 2);
  CHECK_THAT(folder.err(), Contains("name another directory for --figures"));
}

TEST_CASE("figures are PDF files, too, if rsvg-convert makes them") {
  ExperimentFolder folder;
  SECTION("a program that writes what it was told") {
    const SearchPath path(folder.path("bin"), "#!/bin/sh\n[ $# = 1 ] || printf '%s %s' \"$2\" \"$6\" > \"$4\"\n");
    CHECK(folder.run({.figures = folder.path("a"), .pdf = true}) == 0);
    CHECK(text_in(folder.path("a/misses-1.pdf")) == "pdf " + folder.path("a/misses-1.svg"));
  }
  SECTION("a program that fails") {
    const SearchPath path(folder.path("bin"), "#!/bin/sh\n[ $# = 1 ] || { echo no space; exit 1; }\n");
    CHECK(folder.run({.figures = folder.path("a"), .pdf = true}) == 2);
    CHECK_THAT(folder.err(), Contains("misses-1.pdf cannot be written (rsvg-convert: no space"));
  }
  SECTION("no program: nothing is run") {
    const SearchPath path(folder.path("bin"), "");
    CHECK(folder.run({.figures = folder.path("a"), .pdf = true}) == 2);
    CHECK(folder.runs() == 0);
    CHECK_THAT(folder.err(), Contains("--pdf needs the program rsvg-convert, which cannot be started; install it"));
  }
}

TEST_CASE("the real rsvg-convert reads the figures, where it is installed") {
  ExperimentFolder folder;
  if (!fault_of_pdf().empty()) {
    WARN("SKIPPED: rsvg-convert is missing (Debian: librsvg2-bin)");
    return;
  }
  CHECK(folder.run({.figures = folder.path("a"), .pdf = true}) == 0);
  CHECK_THAT(text_in(folder.path("a/misses-1.pdf")), Catch::StartsWith("%PDF-"));
}

TEST_CASE("a baseline that does not run is refused") {
  ExperimentFolder folder;
  folder.write(
      "[experiment]\nbaseline = \"direct\"\n[platform]\ncores = 1\n[[task]]\nperiod = \"10ms\"\nbudget = \"1ms\"\n");
  CHECK(folder.run() == 2);
  CHECK_THAT(folder.err(), Contains("experiment.baseline = \"direct\" is none of experiment.dispatchers"));
}

TEST_CASE("a fault of a run ends the experiment with its sentence") {
  ExperimentFolder folder;
  folder.fail_with("the server did not start; look at its log");
  CHECK(folder.run() == 2);
  CHECK_THAT(folder.err(), Contains("s.toml: the server did not start; look at its log"));
}

TEST_CASE("results that cannot be written are refused before anything runs") {
  ExperimentFolder folder;
  CHECK(folder.run({.output = "/nowhere/r.csv"}) == 2);
  CHECK(folder.runs() == 0);
  CHECK_THAT(folder.err(), Contains("/nowhere/r.csv cannot be written"));
}

TEST_CASE("the committed experiments run") {
  for (const char* const name : {"bench/eval/mc-orb-misses.toml", "bench/eval/mc-orb-generators.toml",
                                 "bench/eval/hand-off-or-migration.toml", "examples/scenarios/sweep.toml"}) {
    ExperimentFolder folder(text_in(std::string(CORELANE_SOURCE "/") + name) + "\n# one set of each\n");
    CAPTURE(name, folder.err());
    CHECK(folder.run({.quick = true, .repetitions = 1}) == 0);
    CHECK(folder.runs() == 6);
    CHECK_THAT(folder.out(), Contains("1 set in each of 3 combinations"));
  }
}

TEST_CASE("a signal asks to stop, and is forgotten with the command") {
  {
    const Interrupt interrupt;
    CHECK_FALSE(Interrupt::asked());
    REQUIRE(std::raise(SIGINT) == 0);
    CHECK(Interrupt::asked());
  }
  const Interrupt next;
  CHECK_FALSE(Interrupt::asked());
}

TEST_CASE("results say on which machine they were made") {
  CHECK_THAT(machine_text(), Contains("core"));
  CHECK_FALSE(kernel_text().empty());
}

TEST_CASE("progress says how long the rest takes") {
  Progress progress(100, Time{});
  CHECK(progress.after(0, Time{1s}) == "0 of 100 runs");
  CHECK(progress.after(10, Time{3s}) == "10 of 100 runs, about 28 s left");
  CHECK(progress.after(10, Time{100s}) == "20 of 100 runs, about 6 min left");
  CHECK(progress.after(80, Time{200s}) == "100 of 100 runs");
}

}  // namespace evaluate_test
