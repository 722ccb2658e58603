// corelane-bench-scenarios measures the manager's decisions in the scenarios that Zhang, Gill and Lu published for
// MC-ORB (RTCSA 2009). Their means are printed beside ours. The state of the pool is constructed anew for each sample.
//
//   1  a new task on the manager's core          2  a new task on another core
//   3  one sleeping task moves to another core to make room for the new one
//   4  all tasks that have to move do so: room is made by packing all of them anew
//   5  a new task is rejected
//   job  a job of an admitted task, on the manager's core and on the other one. It comes a period after the last one,
//        so it is not early. The manager decides nothing and waits for nothing.
//   bare two hops between threads that sleep on a futex, on one core, and nothing else: the lower bound of `job`
//
// Stages:
//   queue   from the driver, which stands for the reader, to the manager
//   decide  analysis, commands, and the promise written into a ledger for other servers, as a server does by default.
//           With --no-ledger it is not written.
//   move    until all moving tasks have moved
//   thread  the new task's thread is made and gets its job
//   wake    to the first instruction of the servant; in scenario 5, until the refusal with its alternative is ready
//   total   what the paper calls the overhead: from when the manager takes the request. For `job`: from when the
//           driver puts it into the queue.
//
// Here each task has a thread of its own, made when the task is admitted; MC-ORB took an existing one.
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/statfs.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "bench/scenarios/pool.h"
#include "bench/support/command_line.h"
#include "bench/support/machine.h"
#include "orb/os/clock.h"
#include "orb/os/log.h"
#include "orb/os/privileges.h"
#include "orb/os/thread.h"
#include "orb/os/wait/wait.h"

namespace {

using namespace scenarios;
using namespace corelane;
using namespace std::chrono_literals;

struct Options {
  std::size_t samples = 1000;
  std::string only;
  std::string commit = "unknown";
  bool ledger = true;
  std::string directory = std::filesystem::temp_directory_path().string();
  std::string machine = bench_support::machine_facts();  // read before the driver is bound to a core
};

struct Scenario {
  const char* name;
  double published;  // mean, us; 0: not published
  std::function<Stamps(Pool&)> sample;
};

Contract percent(int share) { return make_contract(100ms, share * 1ms, 100ms, 0ms); }

[[noreturn]] void wrong(const char* what) { throw std::runtime_error(what); }

Stamps new_task(Pool& pool, CoreId expected) {
  TaskId task = no_task;
  const Stamps stamps = pool.call(percent(10), task);
  if (!stamps.ran || stamps.core != expected) wrong("the new task is not where the scenario needs it");
  pool.depart(task);
  return stamps;
}

// Resident tasks are there from the first sample on.
Stamps on_managers_core(Pool& pool) {
  if (pool.resident_count() == 0) {
    const TaskId first = pool.admit(percent(60), pool.managers_core());
    pool.admit(percent(50), pool.other_core());
    pool.depart(first);
  }
  return new_task(pool, pool.managers_core());
}

Stamps on_other_core(Pool& pool) {
  if (pool.resident_count() == 0) pool.admit(percent(50), pool.managers_core());
  return new_task(pool, pool.other_core());
}

// For a new task of this share, so many of the resident tasks have to move.
Stamps with_moves(Pool& pool, const std::vector<std::pair<int, bool>>& residents, int candidate, std::size_t moves) {
  std::vector<TaskId> tasks;
  for (const auto& [share, on_managers] : residents)
    tasks.push_back(pool.admit(percent(share), on_managers ? pool.managers_core() : pool.other_core()));
  const auto before = pool.places(tasks);
  TaskId task = no_task;
  const Stamps stamps = pool.call(percent(candidate), task);
  const auto after = pool.places(tasks);
  std::size_t moved = 0;
  for (std::size_t i = 0; i < before.size(); ++i) moved += before[i] != after[i];
  if (!stamps.ran || moved != moves) wrong("not those tasks have moved that the scenario needs");
  pool.clear();
  return stamps;
}

Stamps one_moves(Pool& pool) { return with_moves(pool, {{50, true}, {30, false}, {30, false}}, 60, 1); }

Stamps all_move(Pool& pool) { return with_moves(pool, {{40, true}, {40, false}, {30, true}}, 60, 2); }

Stamps rejected(Pool& pool) {
  if (pool.resident_count() == 0) {
    pool.admit(percent(60), pool.managers_core());
    pool.admit(percent(60), pool.other_core());
  }
  TaskId task = no_task;
  const Stamps stamps = pool.call(percent(90), task);
  if (stamps.ran) wrong("the new task was admitted");
  return stamps;
}

Stamps job_on(Pool& pool, bool on_managers) {
  constexpr Duration period = 100us;
  static TaskId task;
  if (pool.resident_count() == 0) {
    task = pool.admit(make_contract(period, 20us, period, 0us), pool.managers_core());
    if (!on_managers) task = pool.admit(make_contract(period, 20us, period, 0us), pool.other_core());
  }
  std::this_thread::sleep_for(period);
  const Stamps stamps = pool.call(task);
  if (!stamps.ran || stamps.placed != stamps.submitted) wrong("a job a period after the last one waited all the same");
  return stamps;
}

// Driver, middle and last thread: each wakes the next one and sleeps.
class BareHops {
 public:
  explicit BareHops(CoreId core)
      : middle_(start(
            core, 49, [this] { last_bell_.unpark(); }, middle_bell_)),
        last_(start(
            core, 40, [this] { arrived_ = os::now(), driver_bell_.unpark(); }, last_bell_)) {}
  ~BareHops() {
    stopping_.store(true, std::memory_order_relaxed);  // relaxed: the parkers order it
    middle_bell_.unpark(), last_bell_.unpark();
  }
  Stamps sample() {
    Stamps stamps{.submitted = os::now(), .begun = never};
    middle_bell_.unpark();
    driver_bell_.park(never);
    stamps.ended = arrived_;
    return stamps;
  }

 private:
  template <typename Pass>
  os::Thread start(CoreId core, int priority, Pass pass, os::Parker& bell) {
    auto thread =
        os::start_thread({.name = "hop", .core = core, .fifo_priority = priority}, [this, pass, &bell]() noexcept {
          for (;;) {  // bound: ends with the destructor
            bell.park(never);
            if (stopping_.load(std::memory_order_relaxed)) return;  // relaxed: the parkers order it
            pass();
          }
        });
    if (!thread) wrong("no thread for the bare hops");
    return std::move(*thread);
  }

  os::Parker middle_bell_, last_bell_, driver_bell_;
  std::atomic<bool> stopping_{false};
  Time arrived_{};  // the parkers order it
  os::Thread middle_, last_;
};

Stamps bare_hops(Pool& pool) {
  static BareHops hops(pool.managers_core());
  return hops.sample();
}

const std::vector<Scenario> all_scenarios = {
    {"1 new task, manager's core", 55, on_managers_core},
    {"2 new task, other core", 58, on_other_core},
    {"3 a sleeping task moves", 64, one_moves},
    {"4 all are packed anew", 235, all_move},
    {"5 rejected", 50, rejected},
    {"job, manager's core", 0, [](Pool& pool) { return job_on(pool, true); }},
    {"bare, manager's core", 0, bare_hops},
    {"job, other core", 0, [](Pool& pool) { return job_on(pool, false); }},
};

// The microseconds of one stage over all samples; sorted by sort().
class Stage {
 public:
  void add(Time from, Time to) {
    values_.push_back(std::max(0.0, std::chrono::duration<double, std::micro>(to - from).count()));
  }
  void sort() { std::sort(values_.begin(), values_.end()); }
  bool empty() const { return values_.empty(); }
  double p(double share) const {
    return values_[std::min(values_.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values_.size())))];
  }
  double mean() const {
    double sum = 0;
    for (const double value : values_) sum += value;
    return sum / static_cast<double>(values_.size());
  }

 private:
  std::vector<double> values_;
};

struct Stages {
  Stage queue, decide, move, thread, wake, total;

  void add(const Stamps& s) {
    if (s.begun == never) return total.add(s.submitted, s.ended);  // the manager decided nothing
    queue.add(s.submitted, s.begun);
    decide.add(s.begun, s.decided);
    total.add(s.begun, s.ended);
    if (!s.ran) return wake.add(s.decided, s.ended);
    move.add(s.decided, s.admitted);
    thread.add(std::max(s.decided, s.admitted), s.placed);
    wake.add(s.placed, s.ended);
  }
};

void print_median(Stage& stage) {
  stage.sort();
  if (stage.empty())
    std::printf(" %8s", "-");
  else
    std::printf(" %8.2f", stage.p(.5));
}

void print(const Scenario& scenario, Stages& stages, std::size_t samples) {
  std::printf("  %-28s", scenario.name);
  for (Stage* stage : {&stages.queue, &stages.decide, &stages.move, &stages.thread, &stages.wake, &stages.total})
    print_median(*stage);
  std::printf(" %8.2f %8.2f %9.2f", stages.total.mean(), stages.total.p(.99), stages.total.p(1));
  if (scenario.published > 0)
    std::printf(" %9.0f", scenario.published);
  else
    std::printf(" %9s", "-");
  std::printf(" %7zu\n", samples);
}

// A directory for the ledger that no server of this host reads.
class LedgerPlace {
 public:
  explicit LedgerPlace(const Options& options) {
    if (!options.ledger) return;
    path_ = (std::filesystem::path(options.directory) / "corelane-scenarios-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) wrong("no directory for the ledger can be made");
  }
  LedgerPlace(const LedgerPlace&) = delete;
  LedgerPlace& operator=(const LedgerPlace&) = delete;
  ~LedgerPlace() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

  // Says where the ledger is. A write to a file system on disk takes a fraction of a microsecond longer than one to
  // memory, where /run is.
  std::string text() const {
    struct statfs system {};
    if (path_.empty()) return "written down nowhere";
    const bool in_memory = statfs(path_.c_str(), &system) == 0 && system.f_type == TMPFS_MAGIC;
    return std::string("written into a ledger, on ") + (in_memory ? "a tmpfs" : "a disk's file system");
  }

 private:
  std::string path_;
};

void run(const Scenario& scenario, const std::vector<CoreId>& cores, const std::string& ledger, std::size_t samples) {
  Pool pool(cores, ledger);
  Stages stages;
  for (std::size_t i = 0; i < samples / 10 + 1; ++i) scenario.sample(pool);  // warm-up
  for (std::size_t i = 0; i < samples; ++i) stages.add(scenario.sample(pool));
  print(scenario, stages, samples);
  std::fflush(stdout);
}

int run_all(const Options& options, const std::vector<CoreId>& cores) try {
  const LedgerPlace place(options);
  std::printf("%s\ncommit %s, %zu samples of each scenario; us; p50 of each stage; promises are %s\n\n",
              options.machine.c_str(), options.commit.c_str(), options.samples, place.text().c_str());
  std::printf("  %-28s %8s %8s %8s %8s %8s %8s %8s %8s %9s %9s %7s\n", "", "queue", "decide", "move", "thread", "wake",
              "total", "mean", "p99", "max", "published", "count");
  for (const Scenario& scenario : all_scenarios)
    if (std::string_view(scenario.name).starts_with(options.only)) run(scenario, cores, place.path(), options.samples);
  return 0;
} catch (const std::exception& fault) {
  std::fprintf(stderr, "scenarios: %s\n", fault.what());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Times the manager, scenario by scenario, in states that are constructed for each sample."};
  app.add_option("--samples", options.samples, "samples of each scenario")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--only", options.only, "run only the scenarios whose name begins like this: 1 to 5, job or bare");
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
  int status = 1;
  // The driver stands for the reader: on the manager's core, with a higher priority.
  auto driver = os::start_thread({.name = "driver", .core = cores.front(), .fifo_priority = 50},
                                 [&]() noexcept { status = run_all(options, cores); });
  if (!driver) {
    std::fprintf(stderr, "scenarios: no thread for the driver\n");
    return 1;
  }
  driver->join();
  return status;
}
