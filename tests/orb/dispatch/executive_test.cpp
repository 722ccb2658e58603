// Tests the executive with its threads. The jobs themselves check what they see. No test waits for time.
#include "orb/dispatch/executive.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/dispatch/leases/host_ledger.h"
#include "orb/os/clock.h"
#include "orb/os/log.h"
#include "orb/os/privileges.h"
#include "orb/os/thread.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::dispatch;
using corelane::testing::Quiet;
using corelane::testing::TempDirectory;
using namespace std::chrono_literals;

namespace {

// Counts everything that can happen to a job. Tests wait for it with atomic wait.
struct Tally {
  std::atomic<int> runs{0}, refusals{0}, failures{0}, recycled{0};
  std::atomic<int> mistakes{0};  // what a job saw but should not have seen

  void wait_recycled(int count) {
    for (int seen = recycled.load(); seen < count; seen = recycled.load()) recycled.wait(seen);
  }
};

// What the jobs of one task share without a lock: they never run at the same time, and always on one thread.
struct TaskData {
  int jobs = 0;
  std::thread::id thread;
  pid_t tid = 0;
};

class CheckedJob final : public Job {
 public:
  explicit CheckedJob(Tally& tally, TaskData* data = nullptr) : tally_(tally), data_(data) {}
  void run(const JobContext& context) noexcept override {
    ++tally_.runs;
    if (context.task != task || context.deadline < context.release) ++tally_.mistakes;
    if (!data_) return;
    if (data_->jobs++ > 0 && data_->thread != std::this_thread::get_id()) ++tally_.mistakes;
    data_->thread = std::this_thread::get_id();
    data_->tid = gettid();
  }
  void refuse(const sched::Refusal&) noexcept override { ++tally_.refusals; }
  void fail(Error) noexcept override { ++tally_.failures; }
  void recycle() noexcept override {
    Tally& tally = tally_;
    delete this;
    ++tally.recycled;
    tally.recycled.notify_all();
  }

 private:
  Tally& tally_;
  TaskData* data_;
};

ExecutiveOptions without_real_time() {
  ExecutiveOptions options;
  options.real_time = false;
  options.platform = {};
  return options;
}

class Server {
 public:
  explicit Server(const ExecutiveOptions& options = without_real_time())
      : cores(std::make_unique<UnguardedCores>(*os::Topology::detect())), executive(start(options)) {}
  // Uses a ledger of its own.
  Server(const ExecutiveOptions& options, const std::string& directory)
      : cores(std::move(*HostLedger::open(*os::Topology::detect(), directory))), executive(start(options)) {}

  TaskId admit(const Contract& contract, PeerId owner = {}) {
    const auto admission = executive->admit_and_wait({.contract = contract, .owner = owner, .label = "task"});
    REQUIRE(admission);
    return admission->task;
  }
  bool submit(Tally& tally, TaskId task, TaskData* data = nullptr) {
    JobPtr job(new CheckedJob(tally, data));
    job->task = task;
    job->arrived = os::now();
    if (executive->submit(job)) return true;
    CHECK(job);
    return false;
  }

 private:
  std::unique_ptr<Executive> start(const ExecutiveOptions& options) {
    auto started = Executive::start(options, *cores);
    REQUIRE(started);
    return std::move(*started);
  }
  Quiet quiet_;

 public:
  std::unique_ptr<CoreProvider> cores;
  std::unique_ptr<Executive> executive;
};

Contract task(Duration period, Duration budget) { return make_contract(period, budget, {}, 0ms); }

}  // namespace

TEST_CASE("jobs of a task run one after another on one thread") {
  Server server;
  constexpr int tasks = 4, jobs = 200;
  TaskData data[tasks];
  Tally tally;
  std::vector<std::jthread> clients;
  for (TaskData& each : data)
    clients.emplace_back([&, id = server.admit(task(20us, 1us))] {
      for (int i = 0; i < jobs; ++i) server.submit(tally, id, &each);
    });
  clients.clear();
  tally.wait_recycled(tasks * jobs);
  CHECK(tally.runs + tally.refusals == tasks * jobs);
  CHECK(tally.runs >= tasks);
  CHECK(tally.mistakes == 0);
  server.executive->stop();
  int seen = 0;
  for (const TaskData& each : data) seen += each.jobs;
  CHECK(seen == tally.runs);
}

TEST_CASE("best-effort jobs run without a manager and each once") {
  Server server;
  constexpr int clients = 4, jobs = 500;
  Tally tally;
  std::atomic<int> taken{0};
  {
    std::vector<std::jthread> threads;
    for (int c = 0; c < clients; ++c)
      threads.emplace_back([&] {
        for (int i = 0; i < jobs; ++i) taken += server.submit(tally, no_task) ? 1 : 0;
      });
  }
  tally.wait_recycled(clients * jobs);  // the submitter recycles jobs that were not accepted
  CHECK(tally.runs == taken);
  CHECK(tally.mistakes == 0);
}

TEST_CASE("admissions fill the machine and not more and a departure makes room") {
  Server server;
  std::vector<TaskId> admitted;
  Expected<Admission, NotAdmitted> last = NotAdmitted{};
  while ((last = server.executive->admit_and_wait({.contract = task(100ms, 20ms), .owner = {}, .label = "t"})))
    admitted.push_back(last->task);
  CHECK(std::get<sched::Refusal>(last.error()).code == sched::RefusalCode::not_schedulable);
  const ExecutiveReport report = server.executive->snapshot();
  CHECK(report.tasks.size() == admitted.size());
  for (const CoreReport& core : report.cores) CHECK(core.admitted + core.platform <= core.capacity);
  CHECK(admitted.size() == 4 * report.cores.size());
  server.executive->depart(admitted.front());
  // The departure was requested first, so it is decided first. The bandwidth returns when the idle core reports it.
  while (!server.executive->admit_and_wait({.contract = task(100ms, 20ms), .owner = {}, .label = "t"})) continue;
}

TEST_CASE("the thread of a task that has left serves the next one") {
  ExecutiveOptions options = without_real_time();
  options.spare_threads = 1;
  Server server(options);
  const auto wait_for_spares = [&](std::size_t count) {
    while (server.executive->snapshot().spare_threads != count) std::this_thread::yield();
  };
  const auto run_a_job = [&](TaskId id) {
    TaskData data;
    Tally tally;
    server.submit(tally, id, &data);
    tally.wait_recycled(1);
    CHECK(tally.mistakes == 0);
    return data.tid;
  };
  const TaskId first = server.admit(task(100ms, 1ms));
  const pid_t thread = run_a_job(first);
  wait_for_spares(1);  // another thread was made in its place
  server.executive->depart(first);
  wait_for_spares(2);
  const TaskId second = server.admit(task(100ms, 1ms));
  CHECK(run_a_job(second) == thread);
}

TEST_CASE("tasks come and go while jobs are on their way") {
  Server server;
  Tally tally;
  std::atomic<int> sent{0};
  std::vector<std::jthread> peers;
  for (std::uint64_t peer = 1; peer <= 3; ++peer)
    peers.emplace_back([&, peer] {
      for (int round = 0; round < 30; ++round) {
        const auto admission =
            server.executive->admit_and_wait({.contract = task(1ms, 10us), .owner = PeerId{peer}, .label = "t"});
        for (int i = 0; admission && i < 5; ++i, ++sent) {
          JobPtr job(new CheckedJob(tally));
          job->task = admission->task;
          job->owner = PeerId{peer};
          job->arrived = os::now();
          (void)server.executive->submit(job);
        }
        if (!admission) continue;
        if (round % 2 == 0)
          server.executive->depart(admission->task, PeerId{peer});
        else
          server.executive->depart(admission->task);
        (void)server.executive->snapshot();
      }
    });
  peers.clear();
  server.executive->stop();
  CHECK(sent > 0);
  CHECK(tally.recycled == sent);
  CHECK(tally.mistakes == 0);
}

TEST_CASE("stopping under load answers every job once") {
  Server server;
  Tally tally;
  const TaskId id = server.admit(task(50us, 5us));
  std::atomic<int> sent{0};
  std::vector<std::jthread> clients;
  for (int c = 0; c < 2; ++c)
    clients.emplace_back([&, c] {
      for (bool open = true; open; ++sent) {
        JobPtr job(new CheckedJob(tally));
        job->task = c == 0 ? id : no_task;
        job->arrived = os::now();
        const auto taken = server.executive->submit(job);
        open = taken || taken.error().minor != minor::shutting_down;
      }
    });
  tally.wait_recycled(50);
  server.executive->stop();
  clients.clear();
  CHECK(tally.recycled == sent);
  CHECK(tally.mistakes == 0);
}

// If one of the jobs waited for its release, the test would hang.
TEST_CASE("a task that is called in a loop is answered before its time where its core is idle") {
  if (!os::privileges().fifo) {
    std::cout << "SKIPPED: no privilege for SCHED_FIFO here\n";
    return;
  }
  const TempDirectory place;  // a ledger of its own, so that no other server of this host counts
  ExecutiveOptions options;
  options.early_jobs = true;
  Server server(options, place.path());
  const TaskId id = server.admit(task(1h, 100us));
  Tally tally;
  for (int i = 1; i <= 100; ++i) {
    server.submit(tally, id);
    tally.wait_recycled(i);
  }
  CHECK(tally.runs == 100);
  std::uint64_t early = 0;
  for (const CoreReport& core : server.executive->snapshot().cores) early += core.early_starts;
  CHECK(early == 99);
}

TEST_CASE("task threads are bound to their core and run under SCHED_FIFO") {
  if (!os::privileges().fifo) {
    std::cout << "SKIPPED: no privilege for SCHED_FIFO here\n";
    return;
  }
  struct Placed final : Job {
    void run(const JobContext& context) noexcept override {
      sched_param parameters{};
      sched_getparam(0, &parameters);
      cpu_set_t set;
      CPU_ZERO(&set);
      sched_getaffinity(0, sizeof set, &set);
      policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, level = parameters.sched_priority;
      bound = CPU_COUNT(&set) == 1 && CPU_ISSET(static_cast<std::size_t>(context.core.value), &set);
    }
    void refuse(const sched::Refusal&) noexcept override {}
    void fail(Error) noexcept override {}
    void recycle() noexcept override {
      done = true;
      done.notify_all();
    }
    int policy = -1, level = -1;
    bool bound = false;
    std::atomic<bool> done{false};
  };
  Server server(ExecutiveOptions{});
  const auto slow = server.executive->admit_and_wait({.contract = task(100ms, 1ms), .owner = {}, .label = "slow"});
  const auto fast = server.executive->admit_and_wait({.contract = task(10ms, 1ms), .owner = {}, .label = "fast"});
  REQUIRE(slow);
  REQUIRE(fast);
  Placed jobs[2];
  const TaskId ids[2] = {slow->task, fast->task};
  for (int i = 0; i < 2; ++i) {
    JobPtr job(&jobs[i]);
    job->task = ids[i];
    job->arrived = os::now();
    REQUIRE(server.executive->submit(job));
    jobs[i].done.wait(false);
    CHECK(jobs[i].policy == SCHED_FIFO);
    CHECK(jobs[i].bound);
    CHECK(jobs[i].level >= 2);
    CHECK(jobs[i].level < 49);
  }
  if (slow->core == fast->core) CHECK(jobs[0].level < jobs[1].level);
  for (const TaskReport& report : server.executive->snapshot().tasks) CHECK(report.real_time);
}

namespace {

// Returns policy and SCHED_FIFO level of this process's thread with that name.
std::pair<int, int> class_of(const std::string& name) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string comm;
    std::getline(std::ifstream(entry.path() / "comm") >> std::ws, comm);
    if (comm != name) continue;
    const pid_t tid = std::stoi(entry.path().filename());
    sched_param parameters{};
    sched_getparam(tid, &parameters);
    return {sched_getscheduler(tid) & ~SCHED_RESET_ON_FORK, parameters.sched_priority};
  }
  FAIL("no thread " << name);
  return {};
}

}  // namespace

TEST_CASE("budgets are watched above the manager, and new tasks are analyzed below the admitted ones") {
  if (!os::privileges().fifo) {
    std::cout << "SKIPPED: needs SCHED_FIFO\n";
    return;
  }
  Server server(ExecutiveOptions{});
  const auto [policy, level] = class_of("cl-manager");
  CHECK(policy == SCHED_FIFO);
  CHECK(class_of("cl-budgets").first == SCHED_FIFO);
  CHECK(class_of("cl-budgets").second > level);
  CHECK(class_of("cl-analysis").first == SCHED_OTHER);
}

// Error paths.

TEST_CASE("bad options are refused") {
  const Quiet quiet;
  UnguardedCores cores(*os::Topology::detect());
  ExecutiveOptions options = without_real_time();
  SECTION("levels") { options.lowest_native = options.highest_native; }
  SECTION("no queue") { options.queue_capacity = 0; }
  SECTION("a test that no server has") { options.admission_test = &sched::admission::processor_demand; }
  SECTION("an allocation that no server has") {
    options.allocation = find_named(sched::allocation_strategies(), "splitting");
  }
  CHECK(Executive::start(options, cores).error().minor == minor::bad_option);
}

TEST_CASE("a core that is not there cannot be used") {
  const Quiet quiet;
  UnguardedCores cores(*os::Topology::detect());
  ExecutiveOptions options = without_real_time();
  options.lease.cores = {CoreId{32'000}};
  CHECK(Executive::start(options, cores).error().minor == minor::core_unusable);
}

TEST_CASE("a stopped executive says so") {
  Server server;
  server.executive->stop();
  server.executive->stop();
  Tally tally;
  CHECK_FALSE(server.submit(tally, no_task));
  CHECK_FALSE(server.submit(tally, TaskId{1}));
  CHECK(server.executive->admit_and_wait({.contract = task(10ms, 1ms), .owner = {}, .label = {}}).error() ==
        NotAdmitted(errors::shutting_down));
}

// Two servers on one host.

namespace {

// A server in its own process. It admits one task when it starts, and as many as it can after each go(). held() waits
// for that, and returns how much the server holds then, in ppm of a core.
class ServerProcess {
 public:
  ServerProcess(const std::string& directory, unsigned seed) {
    REQUIRE(pipe(orders_) == 0);
    REQUIRE(pipe(answers_) == 0);
    pid_ = fork();
    if (pid_ == 0) serve(directory, seed);
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess() {
    kill_now();
    for (const int fd : {orders_[0], orders_[1], answers_[0], answers_[1]}) close(fd);
  }

  void go() { REQUIRE(write(orders_[1], "g", 1) == 1); }
  long held() {
    long ppm = -1;
    REQUIRE(read(answers_[0], &ppm, sizeof ppm) == sizeof ppm);
    return ppm;
  }
  void kill_now() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(std::exchange(pid_, 0), nullptr, 0);
  }

 private:
  [[noreturn]] void serve(const std::string& directory, unsigned seed) {
    os::log::set_level(os::log::Level::off);
    auto ledger = HostLedger::open(*os::Topology::synthetic("core:2 pu:1"), directory);
    if (!ledger) _exit(1);
    auto executive = Executive::start(without_real_time(), **ledger);
    if (!executive) _exit(2);
    std::mt19937 random(seed);
    constexpr long least = 200'000, most = 2'000'000;
    // When this server is killed, what it held is room for any task.
    (void)(*executive)->admit_and_wait({.contract = task(10ms, Duration{most}), .owner = {}, .label = "t"});
    for (char order = 0; tell(**executive) && read(orders_[0], &order, 1) == 1;) {
      for (int refused = 0; refused < 5;) {
        const Duration budget{std::uniform_int_distribution<long>(least, most)(random)};
        if (!(*executive)->admit_and_wait({.contract = task(10ms, budget), .owner = {}, .label = "t"})) ++refused;
      }
    }
    _exit(0);
  }
  bool tell(const Executive& executive) {
    long ppm = 0;
    for (const CoreReport& core : executive.snapshot().cores) ppm += core.admitted;
    return write(answers_[1], &ppm, sizeof ppm) == sizeof ppm;
  }

  int orders_[2]{}, answers_[2]{};
  pid_t pid_ = 0;
};

}  // namespace

TEST_CASE("two servers started together never admit more than the machine and a killed one's share returns") {
  const TempDirectory directory;
  constexpr long machine = 2 * sched::default_capacity;
  ServerProcess a(directory.path(), 1);
  ServerProcess b(directory.path(), 2);
  for (ServerProcess* each : {&a, &b}) REQUIRE(each->held() > 0);
  a.go();
  b.go();
  const long first = a.held();
  const long second = b.held();
  CHECK(first + second <= machine);
  CHECK(first + second > machine / 2);  // they do not refuse what is available
  a.kill_now();
  b.go();
  const long alone = b.held();
  CHECK(alone > second);
  CHECK(alone <= machine);
  ServerProcess c(directory.path(), 3);
  c.held();
  c.go();
  CHECK(c.held() + alone <= machine);
}
