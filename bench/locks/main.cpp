// corelane-bench-locks compares RequesterLock with other locks, in throughput and in CPU time.
//   requester N      RequesterLock with the threshold N (orb/os/locks/requester_lock.h)
//   MCS, ticket, adaptive, pthread   see bench/locks/locks.h
// Each row is measured in every round, one row after the other, and shows the median of the rounds. With --sweep the
// rows are the thresholds 0 to 31.
//
//   build/bin/corelane-bench-locks                       1 thread, as many as cores, and 4 times as many
//   build/bin/corelane-bench-locks --threads 2,8 --sweep
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/locks/contest.h"
#include "bench/locks/locks.h"
#include "bench/support/command_line.h"
#include "bench/support/machine.h"
#include "orb/os/locks/light_wait.h"
#include "orb/os/locks/requester_lock.h"

using namespace bench_locks;
using corelane::os::RequesterLock;

namespace {

struct Options {
  std::vector<int> threads{};
  int rounds = 5;
  double seconds = 0.2;
  int section = 50, outside = 500;
  bool sweep = false;
};

// A row of the table.
struct Contender {
  std::string name{};
  std::function<ContestResult(const Contest&)> run{};
  std::vector<ContestResult> results{};
};

template <typename Lock>
Contender contender(std::string name) {
  const auto run = [](const Contest& setting) {
    Lock lock;
    return contest(lock, setting);
  };
  return {.name = std::move(name), .run = run};
}

Contender requester(int threshold) {
  const auto run = [threshold](const Contest& setting) {
    RequesterLock lock(threshold);
    return contest(lock, setting);
  };
  return {.name = "requester " + std::to_string(threshold), .run = run};
}

std::vector<Contender> contenders(bool sweep) {
  if (!sweep)
    return {contender<McsLock>("MCS"),
            requester(0),
            requester(RequesterLock::usual_threshold),
            contender<PlainMutex>("pthread"),
            contender<AdaptiveMutex>("adaptive"),
            contender<TicketLock>("ticket")};
  std::vector<Contender> rows{contender<McsLock>("MCS")};
  for (int threshold = 0; threshold < 32; ++threshold) rows.push_back(requester(threshold));
  return rows;
}

template <typename Value>
double median(const std::vector<ContestResult>& results, Value value) {
  std::vector<double> values;
  for (const ContestResult& result : results) values.push_back(value(result));
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double throughput(const Contender& row) {
  return median(row.results, [](const ContestResult& result) { return result.sections_per_second; });
}

void print(const std::vector<Contender>& rows, int threads) {
  std::printf("\n%d threads\n%-14s %14s %10s %16s\n", threads, "lock", "sections/s", "to MCS", "CPU ns/section");
  for (const Contender& row : rows)
    std::printf("%-14s %14.0f %10.2f %16.0f\n", row.name.c_str(), throughput(row),
                throughput(row) / throughput(rows[0]),
                median(row.results, [](const ContestResult& result) { return result.cpu_ns_per_section; }));
}

void run(const Options& options, int threads) {
  const Contest setting{.threads = threads,
                        .section = options.section,
                        .outside = options.outside,
                        .time = std::chrono::duration<double>(options.seconds)};
  std::vector<Contender> rows = contenders(options.sweep);
  for (int round = 0; round < options.rounds; ++round)
    for (Contender& row : rows) row.results.push_back(row.run(setting));
  print(rows, threads);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Compares locks in throughput and CPU time."};
  app.add_option("--threads", options.threads, "numbers of threads [1, the cores, 4 times the cores]")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  app.add_option("--rounds", options.rounds, "rounds of each row")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--seconds", options.seconds, "time of a round")->check(CLI::Range(0.01, 60.0))->capture_default_str();
  app.add_option("--section", options.section, "steps of work in a section")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--outside", options.outside, "steps between sections")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_flag("--sweep", options.sweep, "compare the thresholds 0 to 31 of the requester lock");
  if (const auto status = bench_support::parse(app, argc, argv)) return *status;
  const int cores = static_cast<int>(bench_support::usable_cores().size());
  if (options.threads.empty()) options.threads = {1, cores, 4 * cores};
  std::printf("%s\nlight wait (UMWAIT): %s; %d steps in a section, %d between; median of %d rounds\n",
              bench_support::machine_facts().c_str(), corelane::os::can_wait_lightly() ? "yes" : "no", options.section,
              options.outside, options.rounds);
  for (const int threads : options.threads) run(options, threads);
}
