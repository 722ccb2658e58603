// corelane-bench-scenarios measures the manager's decisions in the scenarios that Zhang, Gill and Lu published for
// MC-ORB (RTCSA 2009), and jobs for which the manager decides nothing. The state of the pool is constructed anew for
// each sample. services/corelane/real_run/overheads has the scenarios and says what the stages are.
// `corelane eval bench/eval/mc-orb-overheads.toml` prints the published figures beside ours.
//
//   1  a new task on the manager's core          2  a new task on another core
//   3  a sleeping thread of the pool moves from another core and runs the new task
//   4  all tasks are packed anew to make room, and those that have to move do so
//   5  a new task is rejected
//   a sleeping task   moves to another core to make room for the new one
//   job  a job of an admitted task, on the manager's core and on the other one. It comes a period after the last one,
//        so it is not early. The manager decides nothing and waits for nothing.
//   bare two hops between threads that sleep on a futex, on one core, and nothing else: the lower bound of `job`
//
// Here each task has a thread of its own, taken from a pool when the task is admitted. With --no-ledger, `decide` is
// the analysis alone.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/command_line.h"
#include "bench/support/machine.h"
#include "orb/os/log.h"
#include "orb/os/privileges.h"
#include "services/corelane/real_run/overheads/decision_costs.h"
#include "services/corelane/real_run/run_directory.h"

namespace {

using namespace corelane;
using namespace corelane::tool;

struct Options {
  std::size_t samples = 1000;
  std::string only;
  std::string commit = "unknown";
  bool ledger = true;
  std::string directory = std::filesystem::temp_directory_path().string();
};

double microseconds(Duration duration) { return static_cast<double>(duration.count()) / 1000; }

void print(const DecisionScenario& scenario, const DecisionStages& stages) {
  std::printf("  %-28.28s", std::string(scenario.title).c_str());
  for (const StageTimes* const stage : stages.parts())
    if (stage->empty())
      std::printf(" %8s", "-");
    else
      std::printf(" %8.2f", microseconds(stage->quantile(50)));
  const StageTimes& total = stages.total;
  std::printf(" %8.2f %8.2f %8.2f %8.2f %9.2f %7zu\n", microseconds(total.quantile(50)),
              microseconds(total.quantile(0)), total.mean(), microseconds(total.quantile(99)),
              microseconds(total.quantile(100)), total.count());
  std::fflush(stdout);
}

std::vector<const DecisionScenario*> chosen(const std::string& only) {
  std::vector<const DecisionScenario*> scenarios;
  for (const DecisionScenario& scenario : decision_scenarios())
    if (scenario.title.starts_with(only)) scenarios.push_back(&scenario);
  return scenarios;
}

int measure_all(const Options& options, const std::vector<CoreId>& cores) {
  std::optional<RunDirectory> ledger;
  if (options.ledger) ledger.emplace(options.directory);
  const std::string path = ledger ? ledger->path() : "";
  std::printf("%s\ncommit %s, %zu samples of each scenario; us; p50 of each stage; promises are %s\n\n",
              bench_support::machine_facts().c_str(), options.commit.c_str(), options.samples,
              ledger_text(path).c_str());
  std::printf("  %-28s %8s %8s %8s %8s %8s %8s %8s %8s %8s %9s %7s\n", "", "queue", "decide", "move", "thread", "wake",
              "total", "min", "mean", "p99", "max", "count");
  const std::string fault =
      measure_decisions(chosen(options.only), {.samples = options.samples, .cores = cores, .ledger = path}, print);
  if (fault.empty()) return 0;
  std::fprintf(stderr, "scenarios: %s\n", fault.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Times the manager, scenario by scenario, in states that are constructed for each sample."};
  app.add_option("--samples", options.samples, "samples of each scenario")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--only", options.only, "run only the scenarios whose title begins like this: 1 to 5, a, job or bare");
  app.add_option("--directory", options.directory, "directory of the ledger")->capture_default_str();
  app.add_flag("!--no-ledger", options.ledger, "write no promises into a ledger: measure the analysis alone");
  app.add_option("--commit", options.commit, "commit to print with the results");
  if (const auto end = bench_support::parse(app, argc, argv)) return *end;
  std::vector<CoreId> cores = bench_support::usable_cores();
  if (cores.size() < 2) {
    std::fprintf(stderr, "scenarios: two hardware threads are needed, this process may use one\n");
    return 1;
  }
  cores.resize(2);
  os::log::set_level(os::log::Level::error);
  if (!os::privileges().memlock || !os::lock_memory())
    std::fprintf(stderr, "scenarios: memory is not locked, unlike a server's that may do so\n");
  try {
    return measure_all(options, cores);
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "scenarios: %s\n", fault.what());
    return 1;
  }
}
