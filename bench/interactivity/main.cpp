// corelane-bench-interactivity measures how late events reach an editor, and how long a computation takes, beside 128
// threads that never wait, without and with reserved cores. These are the published experiments of channels with a
// resource allocation daemon (RS).
//
// Events: an I/O service sends keystrokes at an irregular rate to an editor in another process. The editor records how
// late they are. Both use one clock (CLOCK_MONOTONIC). Ways:
//
//   Unix socket, channel           blocking reads of the socket, and orb/channel alone with its default options
//   ORB, Unix socket, TCP, channel a oneway call, to a servant without a contract
//
// Rows: each way without load (NL) and with it (L), without RS and with it. The threads of the load belong to one
// process. Without RS all threads run where they may. With RS, service and editor have cores from corelane-reserved:
// one core for both, or one each if four or more are usable. All other threads run on the other cores. A round runs
// every row once, and the rounds follow each other. The threads of the load start when the measured process is ready,
// and before it begins.
//
// Columns, in us: mean, median, standard deviation and p99 from the sending to the editor; median and p99 from when the
// key was pressed, which includes the service's own wake-up.
//
// The computation (computation.h) runs without these processes, in the same four cases. Its time is elapsed time. The
// next column is its processor time (median), which is less if other threads used its core.
//
// All threads use SCHED_OTHER. With --fifo, service and editor use SCHED_FIFO. The daemon is started for this run, in a
// PID namespace and a cpuset of its own (enclosure.h), and moves no other processes. With --running-rs, a running
// daemon is used. While no cores are reserved, the daemon is there, too, and all share all cores. Rows that this
// machine cannot run are left out, with the reason.
//
// With --check the exit status is 3 unless each bound holds. With RS, the median with load must be at most 1.5 times
// the median without load for events of each way, and 1.15 times for the computation. A row that was left out counts as
// failed.
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "bench/interactivity/driver.h"
#include "bench/interactivity/roles.h"
#include "bench/support/command_line.h"
#include "bench/support/machine.h"
#include "bench/support/summary.h"

namespace {

using namespace interactivity;
using bench_support::percentile;
using bench_support::Row;
using bench_support::Samples;

struct Options {
  int rounds = 3;
  std::size_t events = 100;
  double gap = 20;  // ms
  unsigned hogs = 128;
  int compute_rounds = 3;
  unsigned laps = 130;
  unsigned reserved = 0;  // cores; 0: chosen by the number of usable cores
  std::string running_rs;
  bool fifo = false;
  bool check = false;
  std::string commit = "unknown";
};

constexpr std::size_t warm_up = 10;
constexpr double event_goal = 1.5, compute_goal = 1.15;

constexpr int not_held = 3;  // exit status

constexpr const char* left_out = "left out";

struct Case {
  std::string name;
  Conditions conditions;
  Row row{};                 // time since the sending, or of the computation
  Row beside{};              // time since the key was pressed, or processor time
  std::uint64_t result = 0;  // of the computation
  int most_rounds = 1'000'000;
};

const char* way_name(Way way) {
  switch (way) {
    case Way::socket:
      return "Unix socket";
    case Way::channel:
      return "channel";
    case Way::orb_unix:
      return "ORB, Unix socket";
    case Way::orb_tcp:
      return "ORB, TCP";
    case Way::orb_channel:
      return "ORB, channel";
  }
  return "";
}

constexpr Way all_ways[] = {Way::socket, Way::channel, Way::orb_unix, Way::orb_tcp, Way::orb_channel};

// Returns the cases in the order NL, L, NL with RS, L with RS.
std::vector<Case> four_cases(const std::string& name, const Options& options, unsigned cores) {
  std::vector<Case> cases;
  for (const unsigned reserved : {0u, cores})
    for (const unsigned hogs : {0u, options.hogs})
      cases.push_back({name + (reserved > 0 ? " + RS, " : ", ") + (hogs > 0 ? "L" : "NL"), {hogs, reserved}});
  return cases;
}

// Runs a case, or records why it could not run.
template <typename Run>
void attempt(Case& at, const Reserver& reserver, Run&& run) {
  if (!at.row.fault.empty()) return;
  try {
    if (at.conditions.cores > 0 && !reserver.impossible().empty()) return void(at.row.fault = left_out);
    run();
  } catch (const std::exception& fault) {
    at.row.fault = fault.what();
  }
}

void measure_events(Case& at, Way way, int round, const Options& options, const Enclosure& enclosure,
                    const Reserver& reserver) {
  const Typing typing{.route = {way, enclosure.directory, options.fifo},
                      .warm_up = warm_up,
                      .events = options.events,
                      .gap = static_cast<std::int64_t>(options.gap * 1e6),
                      .seed = static_cast<std::uint64_t>(round) + 1,
                      .bound = at.conditions.cores > 0};
  Samples both = run_beside(at.conditions, reserver, command_of(typing));
  if (both.size() != 2 * options.events) throw std::runtime_error("events were lost");
  const auto middle = both.begin() + static_cast<std::ptrdiff_t>(options.events);
  at.row.rounds.emplace_back(both.begin(), middle);
  at.beside.rounds.emplace_back(middle, both.end());
}

void measure_computation(Case& at, const Options& options, const Reserver& reserver) {
  const Samples numbers = run_beside(at.conditions, reserver, computing_command(options.laps));
  if (numbers.size() != 3) throw std::runtime_error("it ended early");
  if (at.result != 0 && at.result != numbers[2]) throw std::runtime_error("another result than before");
  at.result = numbers[2];
  at.row.rounds.push_back({numbers[0]});
  at.beside.rounds.push_back({numbers[1]});
}

double microseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }
double milliseconds(std::uint64_t nanoseconds) { return microseconds(nanoseconds) / 1000; }

void print_case(const Case& at) {
  std::printf("  %-28s", at.name.c_str());
  if (const Samples all = pooled(at.row); !all.empty()) {
    const Samples due = pooled(at.beside);
    const auto [mean, deviation] = bench_support::moments(all);
    std::printf(" %10.2f %10.2f %10.2f %10.2f %7zu %10.2f %10.2f", mean, microseconds(percentile(all, .5)), deviation,
                microseconds(percentile(all, .99)), all.size(), microseconds(percentile(due, .5)),
                microseconds(percentile(due, .99)));
  }
  std::printf(" %s\n", at.row.fault.c_str());
}

struct Published {
  const char* name;
  double mean, median, deviation;
};
constexpr Published published[] = {{"sockets, NL", 0.14, 0.13, 0.049},
                                   {"sockets, L", 30.60, 16.67, 37.24},
                                   {"channels + RS, NL", 0.16, 0.18, 0.033},
                                   {"channels + RS, L", 0.26, 0.15, 0.42}};

void print_events(const std::vector<Case>& cases) {
  std::printf("\nevents, us %17s %10s %10s %10s %10s %7s %10s %10s\n", "", "mean", "median", "std dev", "p99", "count",
              "due median", "due p99");
  for (const Case& at : cases) print_case(at);
  for (const Published& row : published)
    std::printf("  %-28s %10.2f %10.2f %10.2f\n", (std::string("published: ") + row.name).c_str(), row.mean, row.median,
                row.deviation);
}

struct Outcome {
  bool complete = true;  // no row failed
  bool held = true;      // each goal was shown to be met
};

// Prints the ratio of the loaded to the unloaded case for each pair of cases, and for the second column. The goal
// applies where cores are reserved. Returns whether each goal was met.
bool print_ratios(const char* title, const std::vector<Case>& cases, double goal) {
  std::printf("\n%s\n", title);
  bool held = true;
  for (std::size_t i = 0; i + 1 < cases.size(); i += 2) {
    const Case &unloaded = cases[i], &loaded = cases[i + 1];
    const bool has_goal = loaded.conditions.cores > 0;
    if (unloaded.row.rounds.empty() || loaded.row.rounds.empty()) {
      held &= !has_goal;
      continue;
    }
    const double ratio = bench_support::ratio(loaded.row, unloaded.row);
    std::printf("  %-28s %10.3f %10.3f", loaded.name.c_str(), ratio,
                bench_support::ratio(loaded.beside, unloaded.beside));
    if (has_goal) std::printf("  goal %.2f: %s", goal, ratio <= goal ? "met" : "not met");
    held &= !has_goal || ratio <= goal;
    std::printf("\n");
  }
  std::fflush(stdout);
  return held;
}

bool is_complete(const std::vector<Case>& cases) {
  return std::all_of(cases.begin(), cases.end(),
                     [&](const Case& at) { return at.row.fault.empty() || at.row.fault == left_out; });
}

Outcome run_events(const Options& options, const Enclosure& enclosure, const Reserver& reserver, unsigned cores) {
  if (options.rounds == 0) return {};
  std::vector<Case> cases;
  for (const Way way : all_ways)
    for (Case& at : four_cases(way_name(way), options, cores)) cases.push_back(std::move(at));
  for (int round = 0; round < options.rounds; ++round)
    for (std::size_t i = 0; i < cases.size(); ++i)
      attempt(cases[i], reserver,
              [&] { measure_events(cases[i], all_ways[i / 4], round, options, enclosure, reserver); });
  print_events(cases);
  const bool held =
      print_ratios("loaded to unloaded, by the medians of each round (the median of the rounds); since sent, since due",
                   cases, event_goal);
  return {is_complete(cases), held};
}

void print_computation(const std::vector<Case>& cases) {
  std::printf("\ncomputation, ms %12s %10s %10s %10s %7s %10s\n", "", "mean", "median", "std dev", "count",
              "processor");
  for (const Case& at : cases) {
    std::printf("  %-28s", at.name.c_str());
    if (const Samples all = pooled(at.row); !all.empty()) {
      const auto [mean, deviation] = bench_support::moments(all);
      std::printf(" %10.1f %10.1f %10.1f %7zu %10.1f", mean / 1e3, milliseconds(percentile(all, .5)), deviation / 1e3,
                  all.size(), milliseconds(percentile(pooled(at.beside), .5)));
    }
    std::printf(" %s\n", at.row.fault.c_str());
  }
  std::printf("  published: without RS a factor over 20, with RS about equal\n");
}

Outcome run_computation(const Options& options, const Reserver& reserver) {
  if (options.compute_rounds == 0) return {};
  std::vector<Case> cases = four_cases("computation", options, 1);
  cases[1].most_rounds = 1;  // it takes many times as long as all others together
  for (int round = 0; round < options.compute_rounds; ++round)
    for (Case& at : cases)
      if (round < at.most_rounds) attempt(at, reserver, [&] { measure_computation(at, options, reserver); });
  print_computation(cases);
  const bool held = print_ratios("loaded to unloaded; elapsed, processor time", cases, compute_goal);
  return {is_complete(cases), held};
}

void print_setting(const Options& options, unsigned cores) {
  double load[3] = {};
  getloadavg(load, 3);
  std::printf(
      "%s\ncommit %s, load average %.2f; %d rounds of %zu events after %zu to warm up, %.1f ms apart on average\n",
      bench_support::machine_facts().c_str(), options.commit.c_str(), load[0], options.rounds, options.events, warm_up,
      options.gap);
  std::printf("load: %u threads under SCHED_OTHER; service and editor under %s\n", options.hogs,
              options.fifo ? "SCHED_FIFO" : "SCHED_OTHER");
  std::printf("with RS service and editor %s; the computation has a core\n",
              cores > 1 ? "have a reserved core each" : "share one reserved core");
  if (options.running_rs.empty())
    std::printf("cores are reserved within this run: programs beside it still use them\n");
  std::fflush(stdout);
}

std::optional<Options> options_of(int argc, char** argv, int& status) {
  Options options;
  CLI::App app{"Times events into an editor, and a computation, beside many busy threads, without and with own cores."};
  app.add_option("--rounds", options.rounds, "number of rounds of events")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_option("--events", options.events, "events in each row of a round")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--gap", options.gap, "mean time between events in ms; each gap is 0.2 to 1.8 times as long")
      ->check(CLI::Range(0.01, 1000.0))
      ->capture_default_str();
  app.add_option("--threads", options.hogs, "threads of the load")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--compute-rounds", options.compute_rounds,
                 "rounds of the computation; one of them has load and no RS")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_option("--laps", options.laps, "laps of the computation, each of about 8 ms")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--reserved-cores", options.reserved,
                 "cores to reserve for service and editor: 1 for both, or 2; 0: as many as fit")
      ->check(CLI::Range(0, 2))
      ->capture_default_str();
  app.add_option("--running-rs", options.running_rs, "use the running corelane-reserved of this runtime directory");
  app.add_flag("--fifo", options.fifo, "run service and editor under SCHED_FIFO");
  app.add_flag("--check", options.check, "exit status 3 unless each goal is shown to be met");
  app.add_option("--commit", options.commit, "commit to print with the results");
  if (const auto end = bench_support::parse(app, argc, argv)) return status = *end, std::nullopt;
  return options;
}

int run(const Options& options, const Enclosure& enclosure) {
  const unsigned fitting = bench_support::usable_cores().size() >= 4 ? 2 : 1;
  const unsigned cores = options.reserved > 0 ? options.reserved : fitting;
  print_setting(options, cores);
  const Reserver reserver(enclosure, options.running_rs);
  if (!reserver.impossible().empty()) std::printf("left out: rows with RS: %s\n", reserver.impossible().c_str());
  const Outcome events = run_events(options, enclosure, reserver, cores);
  const Outcome computation = run_computation(options, reserver);
  if (!events.complete || !computation.complete) return 1;
  if (!options.check) return 0;
  const bool held = events.held && computation.held;
  std::printf("\ncheck: %s\n", held ? "each goal is met" : "a goal is not met, or was left out");
  return held ? 0 : not_held;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc > 2 && std::string(argv[1]) == "--role") return play(argv[2], {argv + 3, argv + argc});
  int status = 0;
  const auto options = options_of(argc, argv, status);
  if (!options) return status;
  return run_enclosed(options->running_rs.empty(),
                      [&](const Enclosure& enclosure) { return run(*options, enclosure); });
} catch (const std::exception& fault) {
  std::fprintf(stderr, "corelane-bench-interactivity: %s\n", fault.what());
  return 1;
}
