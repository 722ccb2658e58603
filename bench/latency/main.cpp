// corelane-bench-latency measures a two-way `long long ping(long long)`, compared with a bare socket and omniORB.
//
// Client and server are separate processes, each pinned to one hardware thread. A round runs every row once, and the
// rounds follow each other. So all rows run under the same conditions of the machine: their ratios are meaningful where
// a single time would not be.
//
//   bare TCP          64 bytes and back on a blocking socket: the cost of the kernel alone
//   floor of ...      the same bytes through the threads of the mode, and nothing else (hops.cpp)
//   two hops          the same if a job has to wait for the manager's own thread
//   omniORB           omniORB's defaults, IIOP
//   omniORB, Unix     the same over a Unix socket
//   Corelane          a servant without a contract: reader, best-effort executor
//   Corelane, Unix    the same over a Unix socket
//   Corelane, channel the same through shared memory (docs/channel.md). `spin`: the client spins for the reply before
//                     it sleeps. `direct`: jobs of an admitted task, whose thread reads a channel of its own. `both
//                     spin`: see below.
//   Corelane, task    the calls are jobs of an admitted task. `manager`: reader, queue, manager's turn, the task's own
//                     thread. `direct`: the task's own thread reads the task's own connection. `followers`: the thread
//                     that reads a request runs it (ACE_TP_Reactor). In a closed loop the period is 30 us, and a faster
//                     machine waits for it. So compare the modes with --rate.
//   no rec.           the mode `manager` without the recorder
//   spin-park         the mode `direct`; the client spins for the reply before it sleeps
//   both spin         the same, and the task's thread spins for the next call (pool.wait). So much spinning does not
//                     fit beside the platform load within 30 us. So this row and its reference run without admission
//                     control.
//
// Below each table are the pairs that have a goal, compared round by round like the ratios. They show the cost of the
// manager compared with direct, the cost of the recorder, and spinning compared with sleeping.
//
// Columns: ratio of p50 to that of bare TCP (median of the rounds), then p50 p99 p99.9 max of all samples, and their
// number.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/support/command_line.h"
#include "bench/support/machine.h"
#include "bench/support/summary.h"
#include "orb/os/clock.h"
#include "orb/os/process/child_process.h"

namespace {

namespace fs = std::filesystem;
using bench_support::Row;
using bench_support::Samples;
using corelane::CoreId;
using corelane::os::ChildProcess;

struct Options {
  std::size_t rounds = 3;
  std::size_t calls = 20'000;
  std::size_t warm_up = 2'000;
  double rate = 0;  // calls per second; 0: closed loop
  std::string cores = "both";
  std::string commit = "unknown";
  std::vector<std::string> only;
  std::vector<std::string> server_options;  // -ORB options for Corelane's server
};

struct Contender {
  std::string key;
  std::string name;
  std::string server;  // program; then its first argument, if it needs one
  std::string client;
  std::string argument = {};
  std::string client_argument = {};  // the last argument
  std::vector<std::string> server_options = {};
  std::vector<std::string> client_options = {};
};

const std::vector<Contender> contenders = {
    {"bare", "bare TCP", "corelane-bench-bare", "corelane-bench-bare", "server"},
    {"floor-reader", "  floor of no contract", "corelane-bench-hops", "corelane-bench-bare", "reader"},
    {"floor-direct", "  floor of direct", "corelane-bench-hops", "corelane-bench-bare", "direct"},
    {"floor-one-hop", "  floor of manager", "corelane-bench-hops", "corelane-bench-bare", "one-hop"},
    {"floor-two-hops", "  two hops", "corelane-bench-hops", "corelane-bench-bare", "two-hops"},
    {"omniorb", "omniORB", "corelane-bench-omniorb-server", "corelane-bench-omniorb-client"},
    {"omniorb-unix", "omniORB, Unix", "corelane-bench-omniorb-server", "corelane-bench-omniorb-client", "unix"},
    {"corelane", "Corelane", "corelane-bench-corelane-server", "corelane-bench-corelane-client"},
    {"corelane-unix",
     "Corelane, Unix",
     "corelane-bench-corelane-server",
     "corelane-bench-corelane-client",
     {},
     {},
     {"-ORBEndpointListen", "unix:"}},
    {"corelane-channel",
     "Corelane, channel",
     "corelane-bench-corelane-server",
     "corelane-bench-corelane-client",
     {},
     {},
     {"-ORBEndpointListen", "channel:"}},
    {"channel-spin",
     "Corelane, channel, spin",
     "corelane-bench-corelane-server",
     "corelane-bench-corelane-client",
     {},
     {},
     {"-ORBEndpointListen", "channel:"},
     {"-ORBClientWait", "spin-then-park"}},
    {"channel-direct",
     "Corelane, channel, direct",
     "corelane-bench-corelane-server",
     "corelane-bench-corelane-client",
     {},
     "task",
     {"-ORBEndpointListen", "channel:", "-ORBDispatchMode", "direct"}},
    {"channel-both",
     "Corelane, ch., both spin",
     "corelane-bench-corelane-server",
     "corelane-bench-corelane-client",
     {},
     "task",
     {"-ORBEndpointListen", "channel:", "-ORBDispatchMode", "direct", "-ORBDispatchAdmission", "off", "-ORBPoolWait",
      "spin-then-park", "-ORBPoolSpin", "25us"},
     {"-ORBClientWait", "spin-then-park"}},
    {"manager",
     "Corelane, task, manager",
     "corelane-bench-corelane-server",
     "corelane-bench-corelane-client",
     {},
     "task",
     {"-ORBDispatchMode", "manager"},
     {"-ORBClientWait", "park"}},
    {"direct",
     "Corelane, task, direct",
     "corelane-bench-corelane-server",
     "corelane-bench-corelane-client",
     {},
     "task",
     {"-ORBDispatchMode", "direct"},
     {"-ORBClientWait", "park"}},
    {"followers",
     "Corelane, task, followers",
     "corelane-bench-corelane-server",
     "corelane-bench-corelane-client",
     {},
     "task",
     {"-ORBDispatchMode", "leader-followers"},
     {"-ORBClientWait", "park"}},
    {"unrecorded",
     "Corelane, manager, no rec.",
     "corelane-bench-corelane-server",
     "corelane-bench-corelane-client",
     {},
     "task",
     {"-ORBDispatchMode", "manager", "-ORBRecorderSize", "0"},
     {"-ORBClientWait", "park"}},
    {"parking",
     "Corelane, direct, adm. off",
     "corelane-bench-corelane-server",
     "corelane-bench-corelane-client",
     {},
     "task",
     {"-ORBDispatchMode", "direct", "-ORBDispatchAdmission", "off"},
     {"-ORBClientWait", "park"}},
    {"both-spin",
     "Corelane, direct, both spin",
     "corelane-bench-corelane-server",
     "corelane-bench-corelane-client",
     {},
     "task",
     {"-ORBDispatchMode", "direct", "-ORBDispatchAdmission", "off", "-ORBPoolWait", "spin-then-park", "-ORBPoolSpin",
      "25us"},
     {"-ORBClientWait", "spin-then-park"}},
    {"spinning",
     "Corelane, direct, spin-park",
     "corelane-bench-corelane-server",
     "corelane-bench-corelane-client",
     {},
     "task",
     {"-ORBDispatchMode", "direct"},
     {"-ORBClientWait", "spin-then-park"}},
};

struct Placement {
  CoreId server;
  CoreId client;
};

constexpr std::chrono::minutes patience{10};  // longer than one round of one row takes

fs::path programs() { return corelane::os::program_beside("latency"); }

bool is_built(const Contender& contender) {
  return fs::exists(programs() / contender.server) && fs::exists(programs() / contender.client);
}

std::string interval_of(const Options& options) {
  return std::to_string(options.rate > 0 ? static_cast<long>(1e9 / options.rate) : 0);
}

std::string read_line(ChildProcess& server) {
  if (auto line = server.read_line(corelane::os::now() + patience)) return *line;
  throw std::runtime_error("the server ended, or hangs, without saying where it listens");
}

// Reads all that the client writes, as samples.
Samples read_samples(ChildProcess& client) {
  const auto bytes = client.read_all(corelane::os::now() + patience);
  if (!bytes) throw std::runtime_error("the client hangs");
  if (const auto status = client.wait(); !status->ok())
    throw std::runtime_error("the client failed: " + status->text());
  Samples samples(bytes->size() / sizeof(Samples::value_type));
  std::memcpy(samples.data(), bytes->data(), samples.size() * sizeof(Samples::value_type));
  return samples;
}

Samples run_once(const Contender& contender, Placement placement, const Options& options) {
  std::vector<std::string> serve = {programs() / contender.server};
  if (!contender.argument.empty()) serve.push_back(contender.argument);
  const bool ours = contender.server == "corelane-bench-corelane-server";
  if (ours)
    serve.insert(serve.end(), {"-ORBEndpointListen", "127.0.0.1:0", "-ORBEndpointLocal", "off", "-ORBLimitsPeerOverrun",
                               "report"});  // later options override these
  serve.insert(serve.end(), contender.server_options.begin(), contender.server_options.end());
  if (ours) serve.insert(serve.end(), options.server_options.begin(), options.server_options.end());
  ChildProcess server(serve, {.core = placement.server});
  const std::string line = read_line(server);
  if (!line.starts_with("READY ")) throw std::runtime_error("the server said: " + line);
  std::vector<std::string> call = {programs() / contender.client, line.substr(6), std::to_string(options.warm_up),
                                   std::to_string(options.calls), interval_of(options)};
  if (!contender.client_argument.empty()) call.push_back(contender.client_argument);
  call.insert(call.end(), contender.client_options.begin(), contender.client_options.end());
  ChildProcess client(call, {.core = placement.client});
  return read_samples(client);
}

void run_round(std::vector<Row>& rows, const std::vector<Contender>& chosen, Placement placement,
               const Options& options) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].fault.empty()) continue;
    try {
      rows[i].rounds.push_back(run_once(chosen[i], placement, options));
    } catch (const std::exception& fault) {
      rows[i].fault = fault.what();
    }
  }
}

struct Pair {
  const char* key;
  const char* to;
  const char* says;
};
constexpr Pair pairs[] = {
    {"direct", "corelane", "direct to a call without contract (goal: 1.05)"},
    {"manager", "direct", "manager to direct (goal: 2.5 us more)"},
    {"floor-one-hop", "floor-direct", "the same of their floors"},
    {"floor-two-hops", "floor-direct", "the same, with a hop to the manager's thread"},
    {"followers", "direct", "leader-followers to direct"},
    {"corelane", "floor-reader", "a call without contract to its floor"},
    {"direct", "floor-direct", "direct to its floor"},
    {"manager", "floor-one-hop", "manager to its floor"},
    {"manager", "unrecorded", "recorder on to off (goal: 1.03)"},
    {"spinning", "direct", "spin-then-park to park, the client"},
    {"both-spin", "parking", "spin-then-park to park, client and task"},
    {"corelane-channel", "corelane-unix", "a channel to a Unix socket, both block"},
    {"corelane-channel", "omniorb-unix", "a channel to omniORB over a Unix socket, both block"},
    {"channel-spin", "corelane-channel", "spin-then-park to park over a channel, the client"},
    {"channel-both", "both-spin", "a channel to TCP, both spin"},
};

const Row* row_of(const std::string& key, const std::vector<Contender>& chosen, const std::vector<Row>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (chosen[i].key == key && !rows[i].rounds.empty()) return &rows[i];
  return nullptr;
}

void print_pairs(const std::vector<Contender>& chosen, const std::vector<Row>& rows) {
  for (const Pair& pair : pairs) {
    const Row* row = row_of(pair.key, chosen, rows);
    const Row* to = row_of(pair.to, chosen, rows);
    if (row != nullptr && to != nullptr)
      std::printf("  %6.3f  %+7.2f us  %s\n", bench_support::ratio(*row, *to), bench_support::difference(*row, *to),
                  pair.says);
  }
}

// Returns whether every row got all its rounds.
bool run_all(const std::string& title, Placement placement, const std::vector<Contender>& chosen,
             const Options& options) {
  std::vector<Row> rows;
  for (const Contender& contender : chosen) rows.push_back({.name = contender.name, .rounds = {}, .fault = {}});
  for (std::size_t round = 0; round < options.rounds; ++round) run_round(rows, chosen, placement, options);
  bench_support::print(title, rows);
  print_pairs(chosen, rows);
  return std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.fault.empty(); });
}

bool is_chosen(const Contender& contender, const Options& options) {
  return options.only.empty() || contender.key == "bare" ||
         std::find(options.only.begin(), options.only.end(), contender.key) != options.only.end();
}

std::vector<Contender> choose(const Options& options) {
  std::vector<Contender> chosen;
  for (const Contender& contender : contenders) {
    if (!is_chosen(contender, options)) continue;
    if (is_built(contender))
      chosen.push_back(contender);
    else
      std::printf("left out: %s, whose programs were not built\n", contender.name.c_str());
  }
  return chosen;
}

void print_setting(const Options& options) {
  std::printf("%s\ncommit %s, %zu rounds of %zu calls after %zu to warm up, %s\n",
              bench_support::machine_facts().c_str(), options.commit.c_str(), options.rounds, options.calls,
              options.warm_up,
              options.rate > 0 ? ("open loop, " + interval_of(options) + " ns apart").c_str() : "closed loop");
}

std::vector<std::string> keys() {
  std::vector<std::string> result;
  for (const Contender& contender : contenders) result.push_back(contender.key);
  return result;
}

std::optional<Options> options_of(int argc, char** argv, int& status) {
  Options options;
  CLI::App app{"Times a two-way call over TCP: a bare socket, omniORB and Corelane, in one interleaved run."};
  app.add_option("--rounds", options.rounds, "number of rounds")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--calls", options.calls, "calls of each row in a round")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  app.add_option("--warm-up", options.warm_up, "calls to warm up, before those that are measured")
      ->capture_default_str();
  app.add_option("--rate", options.rate, "calls per second, timed from when they were due; 0: one after the other")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--cores", options.cores, "client and server on one core, on two, or first one, then two")
      ->check(CLI::IsMember({"one", "two", "both"}))
      ->capture_default_str();
  app.add_option("--only", options.only, "measure only these rows and bare TCP")->check(CLI::IsMember(keys()));
  app.add_option("--commit", options.commit, "commit to print with the results");
  app.add_option("--server-options", options.server_options,
                 "-ORB options for Corelane's server; must be last on the line");
  if (const auto end = bench_support::parse(app, argc, argv)) return status = *end, std::nullopt;
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  int status = 0;
  const auto options = options_of(argc, argv, status);
  if (!options) return status;
  const std::vector<CoreId> cores = bench_support::usable_cores();
  const std::vector<Contender> chosen = choose(*options);
  print_setting(*options);
  bool complete = true;
  if (options->cores != "two")
    complete &= run_all("client and server on one core", {cores.front(), cores.front()}, chosen, *options);
  if (options->cores != "one" && cores.size() > 1)
    complete &= run_all("client and server on two cores", {cores.front(), cores[1]}, chosen, *options);
  if (options->cores != "one" && cores.size() < 2) std::printf("\ntwo cores: this machine has one\n");
  return complete ? 0 : 1;
}
