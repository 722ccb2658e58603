// corelane-bench-servers runs servers in real time. It needs SCHED_FIFO. It only prints: no result fails it.
//
//   firm            three tasks whose jobs come early: time from release to start, and how many jobs needed a timer of
//                   their own, with hard timers and with an overshoot
//   flood           a task's response without and with a flood of requests on all cores, without and with io.budget.
//                   The flood comes from clients without a contract and from low-priority tasks; see below.
//   direct-flood    the same columns in mode `direct`: a more urgent task floods the connection that its own thread
//                   reads, under each policy; `refused` counts its early jobs
//   `admissions`     a task on the manager's core without and with a flood of admit() calls whose contracts do not fit:
//                   responses as measured, the same less gaps of the machine, the bound, and the refusals per second
//   misbehaviour    a task overruns, floods or blocks under each policy. Columns: the other tasks' responses beside
//                   their bounds, as measured and less the machine's time (bench/servers/judgement.h), and how many
//                   jobs were left out because that time made them exceed their budgets. A job that has not ended
//                   counts with the time that it has taken so far.
//
// Columns of flood:
//   p50 p99 max     the server's response times, from the release
//   less gaps       the same without the time that the host or an interrupt took from the job (orb/rt/gap_log.h). The
//                   job sees such gaps while it runs; between jobs a watch on the core sees them.
//   bound           the analyzed response
//   strangers, low jobs, refused   the numbers of the other requests so far
//   call            the round trip that the task's client measured
// Below each pair are what the flood adds and what the reader may take. Next to them is the number of responses that
// exceeded the bound even less gaps, with the gaps of the least disturbed of them. Long gaps there mean that more gaps
// were not seen: between jobs the watch looks once a millisecond.
// Then flood prints the same columns for a server with default settings. Three connections send unknown operations to
// it without a pause: first without a task, then with a task each. Below each row are the calls of a client without a
// contract that were answered meanwhile.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "bench/servers/admissions.h"
#include "bench/servers/firm.h"
#include "bench/servers/flood.h"
#include "bench/servers/misbehave.h"
#include "bench/servers/unknown.h"
#include "bench/support/command_line.h"
#include "orb/os/privileges.h"

namespace {

using namespace std::chrono_literals;

struct Options {
  std::vector<std::string> only;
  int core = 0;
  int firm_seconds = 5;
  int overshoot = 500;  // us
  int case_seconds = 5;
  int admissions_seconds = 20;
  servers::FloodOptions flood;
};

bool wants(const Options& options, const std::string& what) {
  return options.only.empty() || std::find(options.only.begin(), options.only.end(), what) != options.only.end();
}

int play(const std::string& role, std::vector<std::string> words) {
  if (role == "server") return servers::serve(std::move(words));
  if (role == "task") return servers::run_task(words);
  if (role == "flood") return servers::flood(words);
  if (role == "rogue") return servers::be_rogue(words);
  if (role == "unknown") return servers::flood_with_unknown(words);
  if (role == "plain") return servers::call_without_contract(words);
  return 2;
}

int run(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == "--role") return play(argv[2], {argv + 3, argv + argc});
  Options options;
  CLI::App app{"Runs firm timers, and floods of requests beside a task, in real time."};
  app.add_option("--only", options.only, "which measurements to run; all by default")
      ->check(CLI::IsMember({"firm", "flood", "direct-flood", "admissions", "misbehaviour"}));
  app.add_option("--core", options.core, "the hardware thread of `firm`, and of the server in flood")
      ->capture_default_str();
  app.add_option("--firm-seconds", options.firm_seconds, "how long each run of firm takes")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  app.add_option("--overshoot", options.overshoot, "overshoot of the timers of firm, in us")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  app.add_option("--case-seconds", options.case_seconds, "how long each case of misbehaviour takes")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  app.add_option("--admissions-seconds", options.admissions_seconds, "how long each run of `admissions` takes")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  app.add_option("--seconds", options.flood.seconds, "how long each run of flood takes")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  app.add_option("--threads", options.flood.threads, "number of threads that flood")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--io-budget", options.flood.budget, "io.budget of the reader in each ms")->capture_default_str();
  if (const auto end = bench_support::parse(app, argc, argv)) return *end;
  if (!corelane::os::privileges().fifo) std::printf("no SCHED_FIFO here: what follows says little\n");
  const corelane::CoreId core{static_cast<std::int16_t>(options.core)};
  if (wants(options, "firm")) servers::print_firm(core, options.firm_seconds * 1s, options.overshoot * 1us);
  if (wants(options, "misbehaviour")) servers::print_misbehaviour(options.case_seconds * 1s);
  if (wants(options, "admissions")) servers::print_admissions(core, options.admissions_seconds * 1s);
  options.flood.core = core;
  if (wants(options, "flood")) servers::print_flood(argv[0], options.flood);
  if (wants(options, "direct-flood")) servers::print_direct_flood(argv[0], options.flood);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& fault) {
  std::fprintf(stderr, "corelane-bench-servers: %s\n", fault.what());
  return 1;
}
