// corelane-bench-concurrency compares best_effort.concurrency = auto with fixed limits, on real servers:
//   mutex      the servant holds a mutex most of the time
//   spinlock   the same with a ticket lock, whose waiters spin and yield
//   compute    the servant only computes
// Each run starts a server and a client process, whose threads make one call after the other. In each round every
// limit has its turn, and every second round has the reverse order. All runs last equally long, so that a machine whose
// speed changes during a run or a round changes all limits alike.
//
// Columns:
//   calls/s        calls a second in the last --seconds of a run, the median of the rounds
//   to best        their ratio to the best fixed limit. The best of several limits profits from noise: limits that are
//                  alike get less than 1 on average
//   to unlimited   the median of the ratios to `unlimited` in the same round. Limits that are alike get 1 on average
// For `auto` also the ratio to `unlimited` and the limit at the end of each round, and how long it took from the first
// call until a second began with at least 0.95 of the best fixed limit.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/concurrency/roles.h"
#include "bench/support/command_line.h"
#include "bench/support/machine.h"
#include "orb/os/process/child_process.h"

namespace {

using concurrency::samples_per_second;
using corelane::os::ChildProcess;

constexpr double goal = 0.95;
const std::string automatic = "auto";
const std::string unlimited = "unlimited";

struct Options {
  std::vector<std::string> only{"mutex", "spinlock", "compute"};
  std::vector<std::string> limits{"1", "2", "4", "8", "16"};
  int clients = 16;
  int rounds = 3;
  int seconds = 3, settle = 6;
  int section = 100'000, outside = 10'000;
};

struct Run {
  std::vector<double> calls{};  // ended in each sample
  int limit = 0;                // at the end
};

struct Row {
  std::string limit{};
  std::vector<Run> rounds{};
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

// Returns the calls a second in the samples from `first` on, for a number of seconds.
double rate(const Run& run, std::size_t first, int seconds) {
  double sum = 0;
  const auto count = static_cast<std::size_t>(seconds * samples_per_second);
  for (std::size_t i = first; i < first + count; ++i) sum += run.calls[i];
  return sum / seconds;
}

double end_rate(const Run& run, int seconds) {
  return rate(run, run.calls.size() - static_cast<std::size_t>(seconds * samples_per_second), seconds);
}

double rate_of(const Row& row, int seconds) {
  std::vector<double> rates;
  for (const Run& run : row.rounds) rates.push_back(end_rate(run, seconds));
  return median(std::move(rates));
}

std::vector<double> ratios(const Row& row, const Row& reference, int seconds) {
  std::vector<double> each;
  for (std::size_t round = 0; round < row.rounds.size(); ++round)
    each.push_back(end_rate(row.rounds[round], seconds) / end_rate(reference.rounds[round], seconds));
  return each;
}

// Returns after how many seconds a second began with the rate; nothing if none did.
std::optional<double> seconds_until(const Run& run, double least) {
  for (std::size_t first = 0; first + samples_per_second <= run.calls.size(); ++first)
    if (rate(run, first, 1) >= least) return static_cast<double>(first) / samples_per_second;
  return std::nullopt;
}

std::string line_of(ChildProcess& program) {
  auto line = program.read_line();
  if (!line) throw std::runtime_error("a program that it started has ended early");
  return *std::move(line);
}

Run run_one(const char* self, const Options& options, const std::string& kind, const std::string& limit) {
  ChildProcess server({self, "--role", "server", kind, std::to_string(options.section), std::to_string(options.outside),
                       "-ORBBestEffortConcurrency", limit});
  const std::string reference = line_of(server).substr(std::string("READY ").size());
  const int seconds = options.settle + options.seconds;
  ChildProcess clients({self, "--role", "client", reference, std::to_string(options.clients), std::to_string(seconds)});
  Run run;
  double before = 0;
  for (int i = 0; i < seconds * samples_per_second; ++i) {
    const double now = std::stod(line_of(clients));
    run.calls.push_back(now - std::exchange(before, now));
  }
  server.write_line("limit");
  run.limit = std::stoi(line_of(server));
  return run;
}

void print_rounds_of_automatic(const Row& row, const Row& reference, double best, int seconds) {
  std::printf("%s in each round: of unlimited", automatic.c_str());
  for (const double each : ratios(row, reference, seconds)) std::printf(" %.2f", each);
  std::printf("; limit at the end");
  for (const Run& run : row.rounds) std::printf(" %d", run.limit);
  std::printf("; seconds until %.2f of the best", goal);
  for (const Run& run : row.rounds) {
    const auto needed = seconds_until(run, goal * best);
    needed ? (void)std::printf(" %.1f", *needed) : (void)std::printf(" never");
  }
  std::printf("\n");
}

// The last two rows are `unlimited` and `auto`.
void print(const std::string& kind, const std::vector<Row>& rows, int seconds) {
  std::printf("\n%s\n%-10s %10s %10s %15s\n", kind.c_str(), "limit", "calls/s", "to best", "to unlimited");
  const Row &of_auto = rows.back(), &reference = rows[rows.size() - 2];
  double best = 0;
  for (const Row& row : rows)
    if (&row != &of_auto) best = std::max(best, rate_of(row, seconds));
  for (const Row& row : rows) {
    const double own = rate_of(row, seconds);
    std::printf("%-10s %10.0f %10.2f %15.2f\n", row.limit.c_str(), own, own / best,
                median(ratios(row, reference, seconds)));
  }
  print_rounds_of_automatic(of_auto, reference, best, seconds);
  std::fflush(stdout);
}

void compare(const char* self, const Options& options, const std::string& kind) {
  std::vector<Row> rows;
  for (const std::string& limit : options.limits)
    if (limit != unlimited) rows.push_back({.limit = limit});
  rows.push_back({.limit = unlimited});
  rows.push_back({.limit = automatic});
  for (int round = 0; round < options.rounds; ++round) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Row& row = rows[round % 2 == 0 ? i : rows.size() - 1 - i];
      row.rounds.push_back(run_one(self, options, kind, row.limit));
    }
  }
  print(kind, rows, options.seconds);
}

int run(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == "--role") {
    const std::vector<std::string> words(argv + 3, argv + argc);
    return std::string(argv[2]) == "server" ? concurrency::serve(words) : concurrency::call(words);
  }
  Options options;
  CLI::App app{"Compares an automatic limit of servants that run in parallel with fixed ones."};
  app.add_option("--only", options.only, "kinds of servants; all by default")
      ->check(CLI::IsMember({"mutex", "spinlock", "compute"}));
  app.add_option("--limits", options.limits, "fixed limits to compare with, beside unlimited")
      ->delimiter(',')
      ->capture_default_str();
  const auto number = [&](const char* name, int& value, const char* what, int least) {
    app.add_option(name, value, what)->check(CLI::Range(least, 1'000'000))->capture_default_str();
  };
  number("--clients", options.clients, "threads that make one call after the other", 1);
  number("--rounds", options.rounds, "runs of each limit", 1);
  number("--seconds", options.seconds, "measured time of a run", 1);
  number("--settle", options.settle, "seconds of a run before that", 1);
  number("--section", options.section, "steps of work under the lock, each of about a nanosecond", 0);
  number("--outside", options.outside, "steps of work after it", 0);
  if (const auto end = bench_support::parse(app, argc, argv)) return *end;
  std::printf("%s\n%d clients; %d steps under the lock, %d outside; median of %d rounds\n",
              bench_support::machine_facts().c_str(), options.clients, options.section, options.outside,
              options.rounds);
  for (const std::string& kind : options.only) compare(argv[0], options, kind);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& fault) {
  std::fprintf(stderr, "corelane-bench-concurrency: %s\n", fault.what());
  return 1;
}
