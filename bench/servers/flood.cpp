#include "bench/servers/flood.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/latency/load.h"
#include "bench/servers/orb_of.h"
#include "bench/servers/responses.h"
#include "bench/servers/units.h"
#include "bench/support/machine.h"
#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"
#include "orb/core/invocation.h"
#include "orb/os/clock.h"
#include "orb/os/process/child_process.h"
#include "orb/os/thread.h"
#include "orb/rt/current.h"
#include "orb/rt/gap_log.h"
#include "orb/rt/rt.h"
#include "orb/rt/stall_watch.h"
#include "orb/rt/work.h"
#include "pingS.h"

namespace servers {
namespace {

using corelane::Duration;
using corelane::os::ChildProcess;
using namespace std::chrono_literals;

constexpr Duration interval = 10ms;    // between calls
constexpr Duration task_period = 8ms;  // shorter than the interval, so a delayed call does not make others early
constexpr Duration task_demand = 2ms;
constexpr Duration high_budget = 2500us;
constexpr Duration reader_period = 1ms;
constexpr int low_tasks = 4;
const corelane::Contract low_contract = corelane::make_contract(100ms, 1ms);
const corelane::Contract rogue_contract = corelane::make_contract(5ms, 500us, 5ms, 500us);
constexpr Duration rogue_demand = 300us;
constexpr const char* no_rogue = "none";
constexpr const char* no_flood = "none";
constexpr int unknown_senders = 3;
constexpr int client_native = 55;  // level of the task's client: above the reader, so that it measures the server

constexpr std::size_t most_jobs = 1'000'000, most_gaps = 1 << 18;

// Works for as many nanoseconds as the argument says, and records when each such job was released and ended. Jobs with
// a negative number are not recorded: they belong to another task, and so to another thread.
class WorkServant : public virtual CORBA::servant_traits<Bench::Echo>::base_type {
 public:
  WorkServant() { jobs_.reserve(most_jobs); }
  std::int64_t ping(std::int64_t nanoseconds) override {
    if (nanoseconds < 0) corelane::rt::work(Duration{-nanoseconds}, &gaps_);
    if (nanoseconds <= 0) return nanoseconds;
    const auto job = corelane::rt::current();
    corelane::rt::work(Duration{nanoseconds}, &gaps_);
    if (jobs_.size() < most_jobs) jobs_.push_back({job.core, job.release, corelane::os::now()});
    return nanoseconds;
  }
  corelane::rt::GapLog& gaps() { return gaps_; }

  // Responses of the jobs since the last call; call it when they have ended. `raw`: as measured. `attributed`: without
  // the time that the host or an interrupt took from the jobs. `late`: how many exceeded `bound` even so. `late_gaps`:
  // the time taken from the least disturbed of them. Gaps between two clock reads are not seen, so a long seen gap
  // means that there were more.
  struct Responses {
    Spread raw, attributed;
    unsigned long late = 0;
    Duration late_gaps{};
  };
  Responses responses(Duration bound) {
    std::vector<Duration> raw, attributed;
    unsigned long late = 0;
    Duration late_gaps = Duration::max();
    for (const Run& run : jobs_) {
      const Duration taken = gaps_.external_time(run.core, run.release, run.end);
      raw.push_back(run.end - run.release);
      attributed.push_back(raw.back() - taken);
      if (attributed.back() > bound) ++late, late_gaps = std::min(late_gaps, taken);
    }
    jobs_.clear();
    return {Spread(std::move(raw)), Spread(std::move(attributed)), late, late > 0 ? late_gaps : Duration{}};
  }

 private:
  struct Run {
    corelane::CoreId core;
    corelane::Time release, end;
  };
  corelane::rt::GapLog gaps_{most_gaps};
  std::vector<Run> jobs_;  // of one task, so written by one thread at a time
};

// Prints facts about the most urgent task, its responses, and the number of requests of other clients.
void tell(const corelane::rt::Report& report, WorkServant& servant) {
  const corelane::dispatch::TaskReport* high = nullptr;
  std::uint64_t low_jobs = 0, low_refused = 0, direct = 0;
  for (const auto& task : report.tasks)
    if (task.contract.period == task_period) {
      if (high == nullptr || high->task < task.task) high = &task;
    } else {
      low_jobs += task.jobs, low_refused += task.refused, direct += task.dedicated_connection ? 1 : 0;
    }
  if (high == nullptr) throw std::runtime_error("no task was admitted");
  const auto [raw, attributed, late, late_gaps] = servant.responses(high->bound);
  std::printf("%lu %lu %f %f %f %f %f %f %f %lu %f %lu %lu %lu %lu\n", static_cast<unsigned long>(high->jobs),
              static_cast<unsigned long>(high->misses), raw.p50, raw.p99, raw.max, attributed.p50, attributed.p99,
              attributed.max, microseconds(high->bound), late, microseconds(late_gaps),
              static_cast<unsigned long>(report.best_effort_jobs), static_cast<unsigned long>(low_jobs),
              static_cast<unsigned long>(low_refused), static_cast<unsigned long>(direct));
  std::fflush(stdout);
}

// The values that tell() printed.
struct Told {
  unsigned long jobs = 0, misses = 0;
  double p50 = 0, p99 = 0, max = 0;
  double attributed_p50 = 0, attributed_p99 = 0, attributed_max = 0, bound = 0;
  unsigned long late = 0;  // number of jobs beyond the bound without their gaps
  double late_gaps = 0;    // gaps of the least disturbed of these
  unsigned long strangers = 0, low_jobs = 0, low_refused = 0;
  unsigned long direct = 0;  // low tasks with a connection of their own
};

Told told_by(const std::string& line) {
  Told told;
  std::istringstream words(line);
  words >> told.jobs >> told.misses >> told.p50 >> told.p99 >> told.max >> told.attributed_p50 >> told.attributed_p99 >>
      told.attributed_max >> told.bound >> told.late >> told.late_gaps >> told.strangers >> told.low_jobs >>
      told.low_refused >> told.direct;
  if (words.fail()) throw std::runtime_error("the server said: " + line);
  return told;
}

void print_head(const char* what) {
  std::printf("  %-9s %-5s %6s %6s %7s %7s %7s %9s %7s %7s %7s %10s %8s %8s %9s %9s %9s\n", what, "flood", "jobs",
              "misses", "p50", "p99", "max", "less gaps", "p99", "max", "bound", "strangers", "low jobs", "refused",
              "call p50", "p99", "max");
}

void print_row(const std::string& what, bool flooded, const Told& told, const std::string& round_trips) {
  std::printf("  %-9s %-5s %6lu %6lu %7.0f %7.0f %7.0f %9.0f %7.0f %7.0f %7.0f %10lu %8lu %8lu %s\n", what.c_str(),
              flooded ? "yes" : "no", told.jobs, told.misses, told.p50, told.p99, told.max, told.attributed_p50,
              told.attributed_p99, told.attributed_max, told.bound, told.strangers, told.low_jobs, told.low_refused,
              round_trips.c_str());
  std::fflush(stdout);
}

// Returns how much time the reader may take from a job that needs `alone` without it. The reader may use its budget in
// each period that the response touches. Computes the least fixed point, as the analysis does.
double readers_share(double alone, double each) {
  double response = alone;
  for (double next = 0; response < 1e6; response = next) {
    next = alone + std::ceil(response / microseconds(reader_period)) * each;
    if (next == response) return response - alone;
  }
  return INFINITY;
}

void print_bound(const Told& told) {
  std::printf("bound %.0f us: ", told.bound);
  if (told.jobs == 0) return (void)std::printf("no jobs");
  if (told.late == 0) return (void)std::printf("held");
  std::printf("EXCEEDED by %lu of %lu, from each of which the machine took %.0f us or more", told.late, told.jobs,
              told.late_gaps);
}

// Prints what the flood adds. Gaps of the machine are left out on both sides.
void print_verdict(const Told& quiet, const Told& flooded, const std::string& reader) {
  const auto limit = corelane::parse_duration(reader).value_or(Duration{});
  const double share = readers_share(quiet.attributed_p50, microseconds(limit));
  const double added[] = {flooded.attributed_p50 - quiet.attributed_p50, flooded.attributed_p99 - quiet.attributed_p99,
                          flooded.attributed_max - quiet.attributed_max};
  std::printf(
      "  the flood adds %.0f (p50), %.0f (p99), %.0f (max) us; the reader's budget in a response of that length is ",
      added[0], added[1], added[2]);
  if (limit == Duration{} || !std::isfinite(share)) return (void)std::printf("not limited\n");
  std::printf("%.0f us: %s, %s, %s; ", share, added[0] <= share ? "held" : "EXCEEDED",
              added[1] <= share ? "held" : "EXCEEDED", added[2] <= share ? "held" : "EXCEEDED");
  print_bound(flooded);
  std::printf("\n");
}

// Calls, and ignores the TRANSIENT that a task gets which sends too fast.
void call_regardless(Bench::Echo& echo) {
  try {
    echo.ping(0);
  } catch (const CORBA::TRANSIENT&) {
  }
}

std::string line_of(ChildProcess& child, const char* who) {
  auto line = child.read_line();
  if (!line) throw std::runtime_error(std::string("the ") + who + " ended early");
  return *line;
}

// Runs one server and a task, without and with the flood.
void print_pair(const std::string& program, const FloodOptions& options, const std::string& reader) {
  ChildProcess server({program, "--role", "server", "-ORBRuntimeLedger", "off", "-ORBIoBudget", reader},
                      {.core = options.core});
  const std::string address = line_of(server, "server").substr(std::string("READY ").size());
  Told told[2];
  for (const bool flooded : {false, true}) {
    std::optional<ChildProcess> others;
    if (flooded)
      others.emplace(std::vector<std::string>{program, "--role", "flood", address, std::to_string(options.threads)});
    ChildProcess client({program, "--role", "task", address, std::to_string(options.seconds)});
    const std::string round_trips = line_of(client, "task");
    server.write_line("report");
    told[flooded] = told_by(line_of(server, "server"));
    print_row(reader == "0us" ? "none" : reader, flooded, told[flooded], round_trips);
  }
  print_verdict(told[0], told[1], reader);
}

// Runs a server with its default settings and a flood: none ("none"), or `kind` of unknown.h.
void print_unknown(const std::string& program, const FloodOptions& options, const std::string& kind) {
  ChildProcess server({program, "--role", "server", "-ORBRuntimeLedger", "off", "-ORBLogLevel", "error"},
                      {.core = options.core});
  const std::string address = line_of(server, "server").substr(std::string("READY ").size());
  std::optional<ChildProcess> others;
  if (kind != no_flood) {
    others.emplace(std::vector<std::string>{program, "--role", "unknown", address, std::to_string(unknown_senders),
                                            kind == "strangers" ? "none" : "task"});
    line_of(*others, "flood");
  }
  const std::string seconds = std::to_string(options.seconds);
  ChildProcess plain({program, "--role", "plain", address, seconds});
  ChildProcess client({program, "--role", "task", address, seconds});
  const std::string round_trips = line_of(client, "task");
  server.write_line("report");
  const Told told = told_by(line_of(server, "server"));
  print_row(kind, others.has_value(), told, round_trips);
  std::istringstream counted(line_of(plain, "client without a contract"));
  unsigned long answered = 0, failed = 0;
  counted >> answered >> failed;
  std::printf("  ");
  print_bound(told);
  std::printf("; another client's calls without a contract: %lu answered, %lu failed\n", answered, failed);
}

// The same if a more urgent task floods its own connection. That task's own thread reads the connection, at a higher
// priority than the thread of the measured task.
void print_direct(const std::string& program, const FloodOptions& options, const std::string& policy) {
  ChildProcess server(
      {program, "--role", "server", "-ORBRuntimeLedger", "off", "-ORBDispatchMode", "direct", "-ORBLogLevel", "error"},
      {.core = options.core});
  const std::string address = line_of(server, "server").substr(std::string("READY ").size());
  std::optional<ChildProcess> rogue;
  if (policy != no_rogue) {
    rogue.emplace(std::vector<std::string>{program, "--role", "rogue", address, policy});
    line_of(*rogue, "rogue");
  }
  ChildProcess client({program, "--role", "task", address, std::to_string(options.seconds)});
  const std::string round_trips = line_of(client, "task");
  server.write_line("report");
  const Told told = told_by(line_of(server, "server"));
  print_row(policy, rogue.has_value(), told, round_trips);
  if (rogue && told.direct == 0) throw std::runtime_error("the rogue has no connection of its own");
  std::printf("  ");
  print_bound(told);
  if (!rogue) return (void)std::printf("\n");
  rogue->write_line("report");
  std::printf("; the rogue sent %.0f times as fast as it may\n", std::stod(line_of(*rogue, "rogue")));
}

}  // namespace

void print_direct_flood(const std::string& program, const FloodOptions& options) {
  std::printf(
      "\nflood in mode direct, %d s each: a task of 2 ms each 10 ms beside a more urgent one of 0.5 ms each 5 ms, of "
      "each policy, whose\nclient floods the connection that this task's thread reads; times in us\n",
      options.seconds);
  print_head("policy");
  for (const char* policy : {no_rogue, "report", "demote", "cancel"}) print_direct(program, options, policy);
}

void print_flood(const std::string& program, const FloodOptions& options) {
  std::printf(
      "\nflood by %d threads on all cores, %d low tasks' among them, %d s each: a task of 2 ms each 10 ms, its reader "
      "on the "
      "same core; times in us\n",
      options.threads, low_tasks, options.seconds);
  print_head("io.budget");
  for (const std::string& reader : {std::string("0us"), options.budget}) print_pair(program, options, reader);
  std::printf(
      "\nunknown operations without a pause over %d TCP connections, default settings, %d s each: by strangers, and by "
      "clients of which\neach has a task over that connection; the task of 2 ms each 10 ms as above; times in us\n",
      unknown_senders, options.seconds);
  print_head("flood by");
  for (const char* kind : {no_flood, "strangers", "clients"}) print_unknown(program, options, kind);
}

int serve(std::vector<std::string> words) {
  corelane::rt::calibrate();
  auto orb = orb_of(std::move(words));
  auto poa = IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
  poa->the_POAManager()->activate();
  auto servant = CORBA::make_reference<WorkServant>();
  const corelane::rt::StallWatch watch(bench_support::usable_cores(), servant->gaps(), client_native);
  latency::announce(orb->object_to_string(servant->_this()));
  for (std::string line; std::getline(std::cin, line);) tell(corelane::rt::report(*orb), *servant);
  return 0;
}

int run_task(const std::vector<std::string>& words) {
  auto orb = orb_of({});
  auto echo = IDL::traits<Bench::Echo>::narrow(orb->string_to_object(words.at(0)));
  auto task =
      corelane::rt::admit(echo, {.operation = "ping", .contract = corelane::make_contract(task_period, high_budget)});
  if (!task) return std::fprintf(stderr, "refused: %s\n", task.error().text.c_str()), 1;
  const corelane::os::PriorityScope above(client_native);
  std::vector<Duration> taken;
  const auto calls = std::chrono::seconds{std::stol(words.at(1))} / interval;
  corelane::Time due = corelane::os::now() + interval;
  for (std::int64_t i = 0; i < calls; ++i, due += interval) {
    corelane::os::sleep_until(due);
    const corelane::Time began = corelane::os::now();
    echo->ping(task_demand.count());
    taken.push_back(corelane::os::now() - began);
  }
  const Spread spread(std::move(taken));
  std::printf("%9.0f %9.0f %9.0f\n", spread.p50, spread.p99, spread.max);
  std::fflush(stdout);
  task->depart();
  return 0;
}

// The flood of one task. One thread sends without waiting for answers. If the server stops reading, the buffers in
// between fill up. The server drops jobs that come too early, except one. For each line of its input it prints its
// rate, as a multiple of the allowed rate.
int be_rogue(const std::vector<std::string>& words) {
  static constexpr corelane::core::Operation ping{.name = "ping", .oneway = true};
  auto orb = orb_of({});
  auto echo = IDL::traits<Bench::Echo>::narrow(orb->string_to_object(words.at(0)));
  corelane::Contract contract = rogue_contract;
  if (words.at(1) == "demote") contract.on_overrun = corelane::OverrunPolicy::demote;
  if (words.at(1) == "cancel") contract.on_overrun = corelane::OverrunPolicy::cancel;
  auto task = corelane::rt::admit(echo, {.operation = "ping", .contract = contract});
  if (!task) return std::fprintf(stderr, "refused: %s\n", task.error().text.c_str()), 1;
  latency::announce("flooding");
  const corelane::Time began = corelane::os::now();
  std::atomic<std::uint64_t> sent{0};
  std::jthread thread([&] {
    for (;;) {
      corelane::core::Invocation call(*echo, ping);
      call.marshal(-std::int64_t{rogue_demand.count()});
      call.invoke();
      sent.fetch_add(1, std::memory_order_relaxed);  // relaxed: a counter
    }
  });
  for (std::string line; std::getline(std::cin, line);) {
    const double may = static_cast<double>((corelane::os::now() - began) / contract.period);
    std::printf("%f\n", static_cast<double>(sent.load(std::memory_order_relaxed)) / may);  // relaxed: as above
    std::fflush(stdout);
  }
  return 0;
}

// Threads that call repeatedly until the process is killed. The first one calls as tasks of a low priority, at a
// hundred times their allowed rate. The others call without a contract.
int flood(const std::vector<std::string>& words) {
  auto orb = orb_of({});
  std::vector<std::jthread> threads;
  for (int i = 0; i < std::stoi(words.at(1)); ++i)
    threads.emplace_back([&, i] {
      auto echo = IDL::traits<Bench::Echo>::narrow(orb->string_to_object(words.at(0)));
      std::optional<corelane::rt::Task> task;
      if (i < low_tasks)
        if (auto admitted = corelane::rt::admit(echo, {.operation = "ping", .contract = low_contract}))
          task = std::move(*admitted);
      for (;;) call_regardless(*echo);
    });
  return 0;
}

}  // namespace servers
