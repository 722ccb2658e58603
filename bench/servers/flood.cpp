#include "bench/servers/flood.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>

#include "bench/latency/load.h"
#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"
#include "orb/os/child_process.h"
#include "orb/os/clock.h"
#include "orb/os/thread.h"
#include "orb/rt/rt.h"
#include "orb/rt/work.h"
#include "pingS.h"

namespace servers {
namespace {

using corelane::Duration;
using corelane::os::ChildProcess;
using namespace std::chrono_literals;

constexpr Duration interval = 10ms;  // of calls
constexpr Duration period = 8ms;     // of the contract: a call that a stall delayed does not make all others early
constexpr Duration demand = 2ms;
constexpr Duration budget = 2500us;
constexpr int client_native = 55;  // of the task's client: above the reader, so that what it measures is the server

// Works for as many nanoseconds as it is told.
class WorkServant : public virtual CORBA::servant_traits<Bench::Echo>::base_type {
 public:
  std::int64_t ping(std::int64_t nanoseconds) override {
    if (nanoseconds > 0) corelane::rt::work(Duration{nanoseconds});
    return nanoseconds;
  }
};

double microseconds(Duration duration) { return std::chrono::duration<double, std::micro>(duration).count(); }

CORBA::object_reference<CORBA::ORB> orb_of(std::vector<std::string> words) {
  words.insert(words.begin(), "corelane-bench-servers");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  return CORBA::ORB_init(argc, argv.data());
}

// The newest task, and how many requests without a contract there were.
void tell(const corelane::rt::Report& report) {
  const auto newest = std::max_element(report.tasks.begin(), report.tasks.end(),
                                       [](const auto& a, const auto& b) { return a.task < b.task; });
  if (newest == report.tasks.end()) throw std::runtime_error("no task was admitted");
  std::printf("%6lu %6lu %9.0f %9.0f %9.0f %9.0f %10lu\n", static_cast<unsigned long>(newest->jobs),
              static_cast<unsigned long>(newest->misses), microseconds(newest->response_p50),
              microseconds(newest->response_p99), microseconds(newest->response_max), microseconds(newest->bound),
              static_cast<unsigned long>(report.best_effort_jobs));
  std::fflush(stdout);
}

std::string line_of(ChildProcess& child, const char* who) {
  auto line = child.read_line();
  if (!line) throw std::runtime_error(std::string("the ") + who + " ended early");
  return *line;
}

// One server, and a task without and with the flood.
void print_pair(const std::string& program, const FloodOptions& options, const std::string& reader) {
  ChildProcess server({program, "--role", "server", "-ORBRuntimeLedger", "off", "-ORBIoBudget", reader},
                      {.core = options.core});
  const std::string address = line_of(server, "server").substr(std::string("READY ").size());
  for (const bool flooded : {false, true}) {
    std::optional<ChildProcess> strangers;
    if (flooded)
      strangers.emplace(std::vector<std::string>{program, "--role", "flood", address, std::to_string(options.threads)});
    ChildProcess client({program, "--role", "task", address, std::to_string(options.seconds)});
    const std::string round_trips = line_of(client, "task");
    server.write_line("report");
    std::printf("  %-9s %-5s %s %s\n", reader == "0us" ? "none" : reader.c_str(), flooded ? "yes" : "no",
                line_of(server, "server").c_str(), round_trips.c_str());
    std::fflush(stdout);
  }
}

}  // namespace

void print_flood(const std::string& program, const FloodOptions& options) {
  std::printf("\nflood by %d threads, %d s each: a task of 2 ms each 10 ms, its reader on the same core; times in us\n",
              options.threads, options.seconds);
  std::printf("  %-9s %-5s %6s %6s %9s %9s %9s %9s %10s %9s %9s %9s\n", "io.budget", "flood", "jobs", "misses", "p50",
              "p99", "max", "bound", "strangers", "call p50", "p99", "max");
  for (const std::string& reader : {std::string("0us"), options.budget}) print_pair(program, options, reader);
}

int serve(std::vector<std::string> words) {
  corelane::rt::calibrate();
  auto orb = orb_of(std::move(words));
  auto poa = IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
  poa->the_POAManager()->activate();
  auto servant = CORBA::make_reference<WorkServant>();
  latency::announce(orb->object_to_string(servant->_this()));
  for (std::string line; std::getline(std::cin, line);) tell(corelane::rt::report(*orb));
  return 0;
}

int run_task(const std::vector<std::string>& words) {
  auto orb = orb_of({});
  auto echo = IDL::traits<Bench::Echo>::narrow(orb->string_to_object(words.at(0)));
  auto task = corelane::rt::admit(echo, {.operation = "ping", .contract = corelane::make_contract(period, budget)});
  if (!task) return std::fprintf(stderr, "refused: %s\n", task.error().text.c_str()), 1;
  const corelane::os::PriorityScope above(client_native);
  std::vector<Duration> taken;
  const auto calls = std::chrono::seconds{std::stol(words.at(1))} / interval;
  corelane::Time due = corelane::os::now() + interval;
  for (std::int64_t i = 0; i < calls; ++i, due += interval) {
    corelane::os::sleep_until(due);
    const corelane::Time began = corelane::os::now();
    echo->ping(demand.count());
    taken.push_back(corelane::os::now() - began);
  }
  std::sort(taken.begin(), taken.end());
  const auto at = [&](std::size_t percent) { return microseconds(taken[(taken.size() - 1) * percent / 100]); };
  std::printf("%9.0f %9.0f %9.0f\n", at(50), at(99), at(100));
  std::fflush(stdout);
  task->depart();
  return 0;
}

// Each thread calls over and over until the process is ended.
int flood(const std::vector<std::string>& words) {
  auto orb = orb_of({});
  std::vector<std::jthread> threads;
  for (int i = 0; i < std::stoi(words.at(1)); ++i)
    threads.emplace_back([&] {
      auto echo = IDL::traits<Bench::Echo>::narrow(orb->string_to_object(words.at(0)));
      for (;;) echo->ping(0);
    });
  return 0;
}

}  // namespace servers
