// corelane-bench-channels compares channels with other ways to carry bytes between two processes of one host. Each of
// the two processes is bound to one core. A round runs every row once, and the rounds follow each other. So all rows
// run under the same conditions of the machine: their ratios are meaningful where a single time would not be.
//
//   raw ring           two rings of records between two processes that spin: the cost of the memory itself
//   Unix socket, pipe  blocking
//   channel, ...       by what the ends do while they wait (docs/channel.md)
//   iceoryx2, ...      publish-subscribe both ways. Either both ends poll, or the sender notifies and the receiver
//                      sleeps. It runs a program of its own (bench/channels/peers/iceoryx2), which `./dev bench
//                      --iceoryx2` builds.
//   published          the published table for a channel that notifies by signal, on the authors' machine
//
// Columns:
// - half of a round trip in us: p50 p99 p99.9 p99.99 max of all samples, payload written and read;
// - the rate of messages one way: median of the rounds;
// - the ratio of p50 to the raw ring's: median of the rounds.
//
// At the end it prints p50 and rates of all rows and sizes, in two tables as the documents show them. Then it prints
// the rates of 1 MiB one way, in place and copied, compared with memcpy. The last value is the processor time of a
// parked end that nobody writes to.
#include <pthread.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/channels/exchange.h"
#include "bench/channels/links.h"
#include "bench/support/command_line.h"
#include "bench/support/machine.h"
#include "bench/support/summary.h"
#include "orb/os/wait/wait.h"

namespace {

using namespace channels;
using corelane::channel::Wake;
using corelane::os::WaitMode;

// Returns the last two cores: interrupts and other programs tend to run on the first ones.
std::vector<int> last_two() {
  const auto usable = bench_support::usable_cores();
  const auto from_behind = [&](std::size_t n) { return usable.size() < n ? 0 : int{usable[usable.size() - n].value}; };
  return {from_behind(2), from_behind(1)};
}

struct Options {
  int rounds = 5;
  std::vector<int> cores = last_two();
  std::vector<std::size_t> sizes{4, 32, 48, 512, 1024, 4096, 16'384, 65'536, 262'144, 1'048'576};
  double share = 1;  // scales the number of messages of a round
  std::vector<std::string> only;
  std::string iceoryx2;
  std::string commit = "unknown";
  int idle_seconds = 10;
};

struct Contender {
  std::string name;
  std::function<Measured(const Plan&, Cores)> measure;
};

struct Result {
  bench_support::Row row;
  std::vector<double> rates;  // bytes per second in each round
};

Contender of_link(const Link& link) {
  return {link.name, [link](const Plan& plan, Cores cores) { return exchange(link, plan, cores); }};
}

Contender of_iceoryx2(const Options& options, const std::string& name, bool by_event, bool in_place = false) {
  return {name, [=](const Plan& plan, Cores cores) {
            return exchange_iceoryx2(options.iceoryx2, by_event, in_place, plan, cores);
          }};
}

std::vector<Contender> contenders(const Options& options) {
  std::vector<Contender> all;
  for (const Link& link : {raw_ring(), channel_link("channel, spin", Wake::spin, WaitMode::spin),
                           channel_link("channel, adaptive", Wake::futex, WaitMode::adaptive),
                           channel_link("channel, park", Wake::futex, WaitMode::park),
                           channel_link("channel, eventfd", Wake::eventfd, WaitMode::park),
                           channel_link("channel, signal", Wake::signal, WaitMode::park), unix_socket(), pipe_pair()})
    all.push_back(of_link(link));
  if (!options.iceoryx2.empty()) {
    all.push_back(of_iceoryx2(options, "iceoryx2, poll", false));
    all.push_back(of_iceoryx2(options, "iceoryx2, event", true));
  }
  const auto is_left_out = [&](const Contender& contender) {
    return contender.name != all.front().name && !options.only.empty() &&
           std::ranges::find(options.only, contender.name) == options.only.end();
  };
  std::vector<Contender> chosen;
  std::ranges::remove_copy_if(all, std::back_inserter(chosen), is_left_out);
  return chosen;
}

std::vector<std::string> names() {
  Options all;
  all.iceoryx2 = "any";
  std::vector<std::string> names;
  for (const Contender& contender : contenders(all)) names.push_back(contender.name);
  return names;
}

std::vector<Contender> large_contenders(const Options& options) {
  std::vector<Contender> all;
  for (const Link& link : {channel_link("channel, read in place", Wake::spin, WaitMode::spin, true),
                           channel_link("channel, copied out", Wake::spin, WaitMode::spin), unix_socket()})
    all.push_back(of_link(link));
  if (!options.iceoryx2.empty()) all.push_back(of_iceoryx2(options, "iceoryx2, read in place", false, true));
  return all;
}

// Chooses the number of messages so that a round of a row that sleeps takes about a second.
Plan plan_for(std::size_t size, double share) {
  const auto scaled = [&](double count) { return static_cast<std::size_t>(std::max(1.0, count * share)); };
  if (size <= 4096) return {size, scaled(2000), scaled(20'000), scaled(200'000)};
  if (size <= 65'536) return {size, scaled(500), scaled(5000), scaled(20'000)};
  return {size, scaled(50), scaled(500), scaled(1000)};
}

std::vector<Result> run_rounds(const std::vector<Contender>& all, const Plan& plan, const Options& options) {
  std::vector<Result> results(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) results[i].row.name = all[i].name;
  for (int round = 0; round < options.rounds; ++round)
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!results[i].row.fault.empty()) continue;
      try {
        Measured measured = all[i].measure(plan, {options.cores[0], options.cores[1]});
        const auto bytes = static_cast<double>(plan.size * plan.streamed);
        results[i].rates.push_back(bytes * 1e9 / static_cast<double>(measured.stream));
        results[i].row.rounds.push_back(std::move(measured.round_trips));
      } catch (const std::exception& fault) {
        results[i].row.fault = fault.what();
      }
    }
  return results;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

struct Published {
  std::size_t size;
  double latency, rate;
};
constexpr Published published[] = {{4, 1.53, 2.5}, {32, 1.52, 20.1}, {512, 1.74, 280.0}, {1024, 1.67, 583.5}};

void print_row(const Result& result, const bench_support::Row& reference) {
  bench_support::Samples all;
  for (const bench_support::Samples& round : result.row.rounds) all.insert(all.end(), round.begin(), round.end());
  std::sort(all.begin(), all.end());
  const auto half = [&](double share) { return static_cast<double>(bench_support::percentile(all, share)) / 2000; };
  std::printf("  %-24s", result.row.name.c_str());
  if (!all.empty())
    std::printf(" %8.3f %8.2f %8.2f %8.2f %9.1f %10.1f %7.2f", half(.5), half(.99), half(.999), half(.9999), half(1),
                median(result.rates) / 1e6, bench_support::ratio(result.row, reference));
  std::printf(" %s\n", result.row.fault.c_str());
}

void print_table(const Plan& plan, const std::vector<Result>& results) {
  std::printf("\n%zu B, %zu samples a row\n  %-24s %8s %8s %8s %8s %9s %10s %7s\n", plan.size,
              plan.calls * results.front().row.rounds.size(), "half of a round trip, us", "p50", "p99", "p99.9",
              "p99.99", "max", "MB/s", "ratio");
  for (const Result& result : results) print_row(result, results.front().row);
  for (const Published& row : published)
    if (row.size == plan.size) std::printf("  %-24s %8.2f %46s %10.1f\n", "published", row.latency, "", row.rate);
  std::fflush(stdout);
}

// Formats with three digits, or with all digits before the point if there are more.
std::string figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value >= 100 ? "%.0f" : "%.3g", value);
  return text;
}

std::string name_of_size(std::size_t size) {
  if (size % (1 << 20) == 0) return std::to_string(size >> 20) + " MiB";
  return size > 4096 && size % 1024 == 0 ? std::to_string(size >> 10) + " KiB" : std::to_string(size) + " B";
}

// The cell of a row at a size: half of a round trip with its ratio, or the rate one way. "": there is none.
std::string latency_of(const Result& result, const bench_support::Row& reference) {
  const bench_support::Samples all = bench_support::pooled(result.row);
  if (all.empty()) return {};
  return figure(static_cast<double>(bench_support::percentile(all, .5)) / 2000) + " (" +
         figure(bench_support::ratio(result.row, reference)) + ")";
}
std::string rate_of(const Result& result, const bench_support::Row&) {
  return result.rates.empty() ? std::string() : figure(median(result.rates) / 1e6);
}

struct Table {
  std::size_t size;
  std::vector<Result> results;
};

// Prints one table for all sizes, in Markdown. `published_of` returns a figure of the published table.
template <typename Cell, typename PublishedOf>
void print_summary(const char* title, const std::vector<Table>& tables, Cell&& cell, PublishedOf&& published_of) {
  std::printf("\n%s\n\n| |", title);
  for (const Table& table : tables) std::printf(" %s |", name_of_size(table.size).c_str());
  std::printf("\n|---|");
  for (std::size_t i = 0; i < tables.size(); ++i) std::printf("---|");
  for (std::size_t row = 0; row < tables.front().results.size(); ++row) {
    std::printf("\n| %s |", tables.front().results[row].row.name.c_str());
    for (const Table& table : tables) std::printf(" %s |", cell(table.results[row], table.results.front().row).c_str());
  }
  std::printf("\n| published (signal) |");
  for (const Table& table : tables) {
    const auto found = std::ranges::find(published, table.size, &Published::size);
    std::printf(" %s |", found == std::end(published) ? "" : figure(published_of(*found)).c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
}

void print_summaries(const std::vector<Table>& tables) {
  if (tables.empty()) return;
  print_summary("Half of a round trip, us, p50 of all rounds (ratio to the raw ring, median of the rounds)", tables,
                latency_of, [](const Published& row) { return row.latency; });
  print_summary("Messages one way, MB/s, median of the rounds", tables, rate_of,
                [](const Published& row) { return row.rate; });
}

void compare_large(const Options& options) {
  const std::size_t size = 1 << 20;
  const double memory_before = memcpy_rate(size);
  const auto results = run_rounds(large_contenders(options), plan_for(size, options.share), options);
  const double memory = (memory_before + memcpy_rate(size)) / 2;
  std::printf("\n1 MiB one way, MB/s (of memcpy's)\n");
  for (const Result& result : results)
    std::printf("  %-24s %10.0f %6.2f %s\n", result.row.name.c_str(), median(result.rates) / 1e6,
                median(result.rates) / memory, result.row.fault.c_str());
  std::printf("  %-24s %10.0f\n", "memcpy, one core", memory / 1e6);
  std::fflush(stdout);
}

void print_idle(const Options& options) {
  if (options.idle_seconds == 0) return;
  std::printf("\nprocessor time of a parked end to which nobody writes for %d s\n", options.idle_seconds);
  for (const auto& [wake, name] :
       {std::pair{Wake::futex, "futex"}, {Wake::eventfd, "eventfd"}, {Wake::signal, "signal"}}) {
    const double taken = idle_cost(channel_link(name, wake, WaitMode::park), options.idle_seconds);
    std::printf("  %-24s %8.3f ms %8.4f %%\n", name, taken * 1e3, taken * 100 / options.idle_seconds);
    std::fflush(stdout);
  }
}

std::optional<Options> options_of(int argc, char** argv, int& status) {
  Options options;
  CLI::App app{"Times messages between two processes of one host: channels, raw memory, sockets, iceoryx2."};
  app.add_option("--rounds", options.rounds, "number of rounds")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--cores", options.cores, "the hardware threads of the two processes")->expected(2);
  app.add_option("--sizes", options.sizes, "sizes of messages, in bytes")->check(CLI::Range(1, 4 << 20));
  app.add_option("--share", options.share, "factor for the number of messages of a round")
      ->check(CLI::Range(0.001, 100.0));
  app.add_option("--only", options.only,
                 "measure only these rows and the raw ring; leaves out the rows of 1 MiB one way")
      ->check(CLI::IsMember(names()));
  app.add_option("--iceoryx2", options.iceoryx2, "path of the program that bench/channels/peers/iceoryx2 builds")
      ->check(CLI::ExistingFile);
  app.add_option("--idle-seconds", options.idle_seconds, "how long each parked end is measured; 0: not at all")
      ->check(CLI::Range(0, 3600));
  app.add_option("--commit", options.commit, "commit to print with the results");
  if (const auto end = bench_support::parse(app, argc, argv)) return status = *end, std::nullopt;
  return options;
}

void run(const Options& options) {
  sigset_t set;
  sigemptyset(&set), sigaddset(&set, wake_signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const std::string facts = bench_support::machine_facts();  // before this process is bound to a core
  (void)corelane::os::wake_cost();  // adaptive ends use it; measured between cores, before this process is bound to one
  bind_to(options.cores[0]);
  std::printf("%s\ncommit %s, cores %d and %d, %d rounds\n", facts.c_str(), options.commit.c_str(), options.cores[0],
              options.cores[1], options.rounds);
  if (options.iceoryx2.empty()) std::printf("left out: iceoryx2, whose program `./dev bench --iceoryx2` builds\n");
  std::fflush(stdout);  // before the next fork
  const std::vector<Contender> all = contenders(options);
  std::vector<Table> tables;
  for (const std::size_t size : options.sizes) {
    const Plan plan = plan_for(size, options.share);
    tables.push_back({size, run_rounds(all, plan, options)});
    print_table(plan, tables.back().results);
  }
  print_summaries(tables);
  if (options.only.empty()) compare_large(options);
  print_idle(options);
}

}  // namespace

int main(int argc, char** argv) {
  int status = 0;
  const auto options = options_of(argc, argv, status);
  if (!options) return status;
  run(*options);
}
