#include "orb/dispatch/counter_page.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "orb/dispatch/inline/inline_housekeeper.h"
#include "orb/os/machine/host.h"
#include "tests/orb/dispatch/fixture.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace std::chrono_literals;
using corelane::testing::Quiet;
using corelane::testing::TempDirectory;

namespace {

ProcessCounters sample(std::uint64_t number) {
  const os::ProcessIdentity self = os::this_process();
  ProcessCounters counters;
  counters.pid = self.pid;
  counters.start_ticks = self.start_ticks;
  counters.pid_namespace = os::this_host().pid_namespace;
  counters.program = "plant";
  counters.admitted = number;
  counters.queue_full = number + 1;
  counters.conditions = {.guarantee = Guarantee::placement, .direct = true, .real_time = false, .guarded = false};
  counters.cores = {{.core = CoreId{3}, .capacity = 950'000, .admitted = 100'000, .tasks = 1}};
  TaskCounters task;
  task.task = TaskId{7};
  task.core = CoreId{3};
  task.contract = make_contract(10ms, 1ms);
  task.contract.intensity = 25;
  task.jobs = task.misses = number;
  task.blocks = number + 1, task.oversleeps = number + 2, task.refused = number + 3;
  task.label = "Plant/step";
  task.used = Time{3s};
  task.thread = 4711;
  task.holder = "user 1000";
  counters.tasks = {task, task};
  RefusedAdmission refused{
      .label = "Plant/watch",
      .owner = PeerId{4},
      .contract = make_contract(20ms, 19ms),
      .why = {.code = sched::RefusalCode::other_process_late,
              .closest = CoreId{3},
              .loser = TaskId{7},
              .response = 21ms,
              .deadline = 20ms,
              .nearest = {40ms, 40ms, 19ms, 2ms, 3ms},
              .jitter = 1ms,
              .tasks = 1,
              .platform = 2,
              .others = 3,
              .others_platform = 4,
              .unproposed = sched::Unproposed::beside_others,
              .loser_name = {'s', 't', 'e', 'p'},
              .slowed = {.asked = 8ms, .analyzed = 12ms, .factor = 1'500'000, .beside = {'l', 'o', 'a', 'd'}},
              .loser_slowed = {.asked = 3ms, .analyzed = 4ms, .factor = 1'250'000, .beside = {'c', 'a', 'm'}}},
      .asked = Time{5s},
      .times = number};
  counters.refusals = {refused};
  return counters;
}

std::string page_in(const TempDirectory& directory) { return directory / ("counters-" + std::to_string(::getpid())); }

ExecutiveOptions publishing_in(const TempDirectory& directory) {
  ExecutiveOptions options = bare_options();
  options.recorder.runtime_directory = directory.path();
  return options;
}

}  // namespace

TEST_CASE("a counter page says what was written into it") {
  TempDirectory directory;
  auto page = CounterPage::make(directory.path(), 1, 2);
  REQUIRE(page);
  CHECK(read_pages(directory.path()).empty());  // nothing has been written yet
  (*page)->write(sample(5));
  const auto pages = read_pages(directory.path());
  REQUIRE(pages.size() == 1);
  CHECK(pages[0].program == "plant");
  CHECK(pages[0].admitted == 5);
  CHECK(pages[0].queue_full == 6);
  CHECK(pages[0].conditions == sample(5).conditions);
  REQUIRE(pages[0].tasks.size() == 2);
  CHECK(pages[0].tasks[1].label == "Plant/step");
  CHECK(pages[0].tasks[1].contract == sample(5).tasks[1].contract);
  CHECK(pages[0].tasks[1].blocks == 6);
  CHECK(pages[0].tasks[1].oversleeps == 7);
  CHECK(pages[0].tasks[1].refused == 8);
  CHECK(pages[0].tasks[1].used == Time{3s});
  CHECK(pages[0].tasks[1].thread == 4711);
  CHECK(pages[0].tasks[1].holder == "user 1000");
  CHECK(pages[0].cores.at(0).core == CoreId{3});
  const RefusedAdmission written = sample(5).refusals[0];
  REQUIRE(pages[0].refusals.size() == 1);
  const RefusedAdmission& read = pages[0].refusals[0];
  CHECK(read.label == written.label);
  CHECK(read.owner == written.owner);
  CHECK(read.contract == written.contract);
  CHECK(read.why == written.why);
  CHECK(read.asked == written.asked);
  CHECK(read.times == 5);
}

TEST_CASE("a page has room for all refusals that are remembered, and for no more") {
  TempDirectory directory;
  auto page = CounterPage::make(directory.path(), 1, 1);
  REQUIRE(page);
  ProcessCounters counters = sample(1);
  counters.refusals.resize(RefusalLog::most, counters.refusals[0]);
  counters.refusals.back().label = std::string(500, 'x');
  counters.refusals.push_back(counters.refusals[0]);
  (*page)->write(counters);
  const auto pages = read_pages(directory.path());
  REQUIRE(pages.size() == 1);
  REQUIRE(pages[0].refusals.size() == RefusalLog::most);
  CHECK(pages[0].refusals.back().label == std::string(RefusalLog::label_length, 'x'));
}

TEST_CASE("a page goes with its process, and what does not fit is left out") {
  TempDirectory directory;
  auto page = CounterPage::make(directory.path(), 1, 1);
  REQUIRE(page);
  ProcessCounters counters = sample(1);
  counters.tasks[0].label = std::string(500, 'x');
  (*page)->write(counters);
  const auto pages = read_pages(directory.path());
  REQUIRE(pages.size() == 1);
  CHECK(pages[0].tasks.size() == 1);
  CHECK(pages[0].tasks[0].label == std::string(95, 'x'));
  page->reset();
  CHECK(directory.entries() == 0);
}

TEST_CASE("only its owner may read a page") {
  TempDirectory directory;
  auto page = CounterPage::make(directory.path(), 1, 1);
  REQUIRE(page);
  CHECK(std::filesystem::status(page_in(directory)).permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}

TEST_CASE("a reader beside a writer sees numbers that belong together") {
  TempDirectory directory;
  auto page = CounterPage::make(directory.path(), 1, 2);
  REQUIRE(page);
  (*page)->write(sample(1));
  std::atomic<bool> stop{false};
  std::jthread writer([&] {
    for (std::uint64_t i = 2; !stop.load(); ++i) {
      (*page)->write(sample(i));
      std::this_thread::yield();
    }
  });
  std::size_t mistakes = 0;
  for (int i = 0; i < 200; ++i)
    for (const ProcessCounters& seen : read_pages(directory.path()))
      for (const TaskCounters& task : seen.tasks) mistakes += task.jobs != seen.admitted || task.misses != task.jobs;
  stop = true;
  CHECK(mistakes == 0);
}

TEST_CASE("the page of a process that has ended is removed") {
  TempDirectory directory;
  auto page = CounterPage::make(directory.path(), 1, 2);
  REQUIRE(page);
  ProcessCounters counters = sample(1);
  ++counters.start_ticks;  // an earlier process had the same pid
  (*page)->write(counters);
  std::filesystem::copy_file(page_in(directory), directory / "counters-1");
  page->reset();
  REQUIRE(directory.entries() == 1);  // no process holds its lock
  CHECK(read_pages(directory.path()).empty());
  SECTION("also a torn one") {
    std::fstream file(directory / "counters-1", std::ios::in | std::ios::out);
    file.seekp(5 * 8).put('\1');  // the sequence number of a process that was killed while it wrote
    file.close();
    remove_stale_pages(directory.path());
    CHECK(directory.entries() == 0);
  }
  SECTION("also one that was never written") {
    std::filesystem::resize_file(directory / "counters-1", 0);
    remove_stale_pages(directory.path());
    CHECK(directory.entries() == 0);
  }
  SECTION("also one that was never filled") {
    std::filesystem::resize_file(directory / "counters-1", 0);
    std::filesystem::resize_file(directory / "counters-1", 4096);
    remove_stale_pages(directory.path());
    CHECK(directory.entries() == 0);
  }
  SECTION("by the next server") {
    const BestEffortExecutor executor(1);
    const RefusalLog refusals;
    CounterPublisher publisher(directory.path(), {}, 1, executor, refusals);
    CHECK(publisher.write(Time{} + 1min));
    CHECK(directory.entries() == 1);  // the publisher's own page
    CHECK_FALSE(std::filesystem::exists(directory / "counters-1"));
  }
}

TEST_CASE("a page that a living process keeps is neither removed nor taken") {
  TempDirectory directory;
  auto other = CounterPage::make(directory.path(), 1, 2);  // as a process with our pid in another namespace makes it
  REQUIRE(other);
  ProcessCounters counters = sample(1);
  ++counters.start_ticks;
  (*other)->write(counters);
  remove_stale_pages(directory.path());
  CHECK(read_pages(directory.path()).empty());
  auto mine = CounterPage::make(directory.path(), 1, 2);
  REQUIRE(mine);
  (*mine)->write(sample(5));
  CHECK(directory.entries() == 2);
  const auto pages = read_pages(directory.path());
  REQUIRE(pages.size() == 1);
  CHECK(pages[0].admitted == 5);
  other->reset();
  CHECK(std::filesystem::exists(page_in(directory) + ".1"));
}

TEST_CASE("the words of a page are where its layout says") {
  TempDirectory directory;
  auto page = CounterPage::make(directory.path(), 1, 2);
  REQUIRE(page);
  (*page)->write(sample(9));
  std::ifstream file(page_in(directory), std::ios::binary);
  const auto word = [&](std::size_t at) {
    std::uint64_t value = 0;
    file.seekg(static_cast<std::streamoff>(at * sizeof value));
    file.read(reinterpret_cast<char*>(&value), sizeof value);
    return value;
  };
  const std::size_t core = 32, task = core + 5, refusal = task + 2 * 42;
  CHECK(word(1) == 12);  // the format's version; a change of the layout needs another one
  CHECK(word(7) == 9);
  CHECK(word(12) == 1);
  CHECK(word(13) == 2);
  CHECK(word(16) == 1);
  CHECK(word(18) == 10);
  CHECK(word(19) == 7);             // direct, no SCHED_FIFO, unguarded
  CHECK(word(20) == 0x746e616c70);  // "plant"
  CHECK(word(core) == 3);
  CHECK(word(core + 1) == 950'000);
  CHECK(word(task) == 7);
  CHECK(word(task + 4) == 10'000'000);
  CHECK(word(task + 11) == 25);
  CHECK(word(task + 13) == 9);
  CHECK(word(task + 19) == 10);
  CHECK(word(task + 20) == 11);
  CHECK(word(task + 21) == 12);
  CHECK(word(task + 22) == 3'000'000'000);
  CHECK(word(task + 23) == 4711);
  CHECK(word(task + 24) == 0x74732f746e616c50);  // "Plant/st"
  CHECK(word(task + 36) == 0x3030312072657375);  // "user 100"
  CHECK(word(refusal) == 5'000'000'000);
  CHECK(word(refusal + 1) == 9);
  CHECK(word(refusal + 11) == 13);
  CHECK(word(refusal + 14) == 21'000'000);
  CHECK(word(refusal + 19) == 2'000'000);
  CHECK(word(refusal + 20) == 3'000'000);
  CHECK(word(refusal + 25) == 4);
  CHECK(word(refusal + 26) == 0x70657473);  // "step"
  CHECK(word(refusal + 30) == 2);
  CHECK(word(refusal + 31) == 8'000'000);
  CHECK(word(refusal + 32) == 12'000'000);
  CHECK(word(refusal + 33) == 1'500'000);
  CHECK(word(refusal + 34) == 0x64616f6c);  // "load"
  CHECK(word(refusal + 38) == 3'000'000);
  CHECK(word(refusal + 39) == 4'000'000);
  CHECK(word(refusal + 40) == 1'250'000);
  CHECK(word(refusal + 41) == 0x6d6163);            // "cam"
  CHECK(word(refusal + 45) == 0x61772f746e616c50);  // "Plant/wa"
}

TEST_CASE("a page with an unknown enumerator is refused, not guessed") {
  TempDirectory directory;
  auto page = CounterPage::make(directory.path(), 1, 2);
  REQUIRE(page);
  (*page)->write(sample(9));
  const std::size_t core = 32, task = core + 5, refusal = task + 2 * 42;
  const std::size_t at =
      GENERATE_COPY(std::size_t{15}, std::size_t{19}, core + 4, task + 10, refusal + 9, refusal + 30);
  std::fstream file(page_in(directory), std::ios::in | std::ios::out | std::ios::binary);
  const std::uint64_t unknown = GENERATE(8u, 256u);  // the latter is 0 as a byte
  file.seekp(static_cast<std::streamoff>(at * sizeof unknown));
  file.write(reinterpret_cast<const char*>(&unknown), sizeof unknown);
  file.close();
  CHECK(read_pages(directory.path()).empty());
}

TEST_CASE("a page that was cut off is whole again with the next writing") {
  TempDirectory directory;
  auto page = CounterPage::make(directory.path(), 1, 2);
  REQUIRE(page);
  REQUIRE(truncate(page_in(directory).c_str(), 0) == 0);
  (*page)->write(sample(5));
  CHECK(read_pages(directory.path()).size() == 1);
}

TEST_CASE("counters are published from when the directory can be made") {
  const Quiet quiet;
  TempDirectory directory;
  const std::string path = directory / "above/runtime";
  const BestEffortExecutor executor(1);
  const RefusalLog refusals;
  CounterPublisher publisher(path, {}, 1, executor, refusals);
  CHECK_FALSE(publisher.write(Time{} + 1s));
  std::filesystem::create_directory(directory / "above");
  CHECK_FALSE(publisher.write(Time{} + 1200ms));  // it does not try at every step
  CHECK(publisher.write(Time{} + 1min));
  CHECK(read_pages(path).size() == 1);
}

TEST_CASE("counters that were removed with their directory are published again") {
  const Quiet quiet;
  TempDirectory directory;
  const std::string path = directory / "runtime";
  const BestEffortExecutor executor(1);
  const RefusalLog refusals;
  CounterPublisher publisher(path, {}, 1, executor, refusals);
  CHECK(publisher.write(Time{} + 1min));
  std::filesystem::remove_all(path);
  CHECK(publisher.write(Time{} + 2min));
  CHECK(read_pages(path).size() == 1);
}

TEST_CASE("a publisher that comes too early for its page says that something is left to do") {
  TempDirectory directory;
  const BestEffortExecutor executor(1);
  const RefusalLog refusals;
  CounterPublisher publisher(directory.path(), {}, 1, executor, refusals);
  CHECK_FALSE(publisher.step(Time{} + 1min));
  CHECK(publisher.step(Time{} + 1min + 1ms));
  CHECK_FALSE(publisher.step(Time{} + 2min));
  CounterPublisher without_page("", {}, 1, executor, refusals);
  CHECK_FALSE(without_page.step(Time{} + 1min));
  CHECK_FALSE(without_page.step(Time{} + 1min));
}

TEST_CASE("a file that is no page is left alone") {
  TempDirectory directory;
  std::ofstream(directory / "counters-1") << std::string(5000, 'x');
  std::ofstream(directory / "counters-x") << "x";
  std::ofstream(directory / "ledger") << "x";
  REQUIRE(::mkfifo((directory / "counters-2").c_str(), 0600) == 0);
  std::ofstream(directory / "counters-3") << "x";
  std::filesystem::resize_file(directory / "counters-3", std::uintmax_t{1} << 40);  // a sparse file
  CHECK(read_pages(directory.path()).empty());
  remove_stale_pages(directory.path());
  CHECK(directory.entries() == 5);
}

struct NoInternalJobs final : InternalJobQueue {
  void take_internal(JobPtr&) noexcept override {}
};

TEST_CASE("tasks that run where their jobs arrive have a page too") {
  TempDirectory directory;
  ExecutiveReport report;
  report.admitted = 2;
  report.tasks.resize(2);
  report.tasks[0].contract = make_contract(10ms, 1ms);
  report.tasks[0].jobs = 5;
  report.tasks[0].priority = Priority{3};
  report.tasks[0].real_time = true;
  report.tasks[1].gone = true;
  {
    NoInternalJobs none;
    TaskEvents events(none);
    InlineHousekeeper counters(directory.path(), 4, {.lowest = 2, .highest = 49}, true, events, [&] { return report; });
    REQUIRE(counters.start(256 * 1024));
    std::vector<ProcessCounters> pages;
    while (pages.empty()) pages = read_pages(directory.path());  // bound: the thread's start
    CHECK(pages[0].conditions ==
          PromiseConditions{.guarantee = Guarantee::priorities, .real_time = true, .guarded = false});
    REQUIRE(pages[0].tasks.size() == 1);
    CHECK(pages[0].tasks[0].jobs == 5);
    CHECK(pages[0].tasks[0].native == sched::native_of(Priority{3}, {.lowest = 2, .highest = 49}));
  }
  CHECK(directory.entries() == 0);
}

TEST_CASE("words that are no page are refused, whatever they say") {
  std::vector<std::uint64_t> words(200, UINT64_MAX);
  words[5] = 0;
  CHECK_FALSE(read_page(words));
  words.resize(3);
  CHECK_FALSE(read_page(words));
}

TEST_CASE("a task's bound grows on the page and in the report when others come above it") {
  TempDirectory directory;
  Machine machine(1, publishing_in(directory));
  const TaskId task = machine.admit(make_contract(10ms, 2ms, {}, 0ms));
  machine.admit(make_contract(5ms, 1ms, {}, 0ms));
  machine.settle();
  machine.advance(1s);
  const auto pages = read_pages(directory.path());
  REQUIRE(pages.size() == 1);
  REQUIRE(pages[0].tasks.size() == 2);
  CHECK(pages[0].tasks[0].task == task);
  CHECK(pages[0].tasks[0].bound == 3ms);
  CHECK(machine.report(task).bound == 3ms);
}

TEST_CASE("calls that find their queue full are published, with and without a contract") {
  TempDirectory directory;
  ExecutiveOptions options = publishing_in(directory);
  options.queue_capacity = 1;
  Machine machine(1, options);
  const bool with_contract = GENERATE(false, true);
  const TaskId of = with_contract ? machine.admit(make_contract(10ms, 2ms, {}, 0ms)) : no_task;
  const auto call = [&] {
    if (with_contract) return static_cast<void>(machine.send(of));
    JobPtr job(new TestJob(std::make_shared<Fate>(), {}));
    (void)machine.best_effort.submit(job);
  };
  call();
  machine.settle();
  for (int i = 0; i < 3; ++i) call();
  machine.settle();
  machine.advance(1s);
  const std::uint64_t full = machine.manager.report().queue_full;
  CHECK(full > 0);
  CHECK(read_pages(directory.path()).at(0).queue_full == full);
}

TEST_CASE("the housekeeper publishes what a machine runs") {
  TempDirectory directory;
  Machine machine(2, publishing_in(directory));
  const TaskId task = machine.admit(make_contract(10ms, 2ms, {}, 0ms));
  machine.refused(make_contract(10ms, 9900us, {}, 0ms));
  machine.send(task, 3ms);
  machine.settle();
  machine.send(task);
  machine.send(task);  // while another job waits for its release
  machine.settle();
  machine.advance(10ms);
  machine.settle();
  machine.advance(1s);
  auto pages = read_pages(directory.path());
  REQUIRE(pages.size() == 1);
  CHECK(pages[0].admitted == 1);
  CHECK(pages[0].jobs_refused == 1);
  CHECK(pages[0].refused == 1);
  CHECK(pages[0].conditions.guarantee == Guarantee::bounds);
  REQUIRE(pages[0].refusals.size() == 1);
  CHECK(pages[0].refusals[0].why.code == sched::RefusalCode::not_schedulable);
  CHECK(pages[0].refusals[0].why.nearest.found());  // the contract that would have fitted, as the client was told
  REQUIRE(pages[0].tasks.size() == 1);
  CHECK(pages[0].tasks[0].jobs == 2);
  CHECK(pages[0].tasks[0].overruns == 1);
  CHECK(pages[0].tasks[0].refused == 1);
  CHECK(pages[0].tasks[0].label == "task");
  CHECK(pages[0].program == "corelane_dispatch_test");
  CHECK(pages[0].cores.at(0).admitted + pages[0].cores.at(1).admitted == 200'000);
  machine.manager.depart(task, {});
  machine.settle();
  machine.advance(100s);
  pages = read_pages(directory.path());
  CHECK(pages.at(0).tasks.empty());
  CHECK(pages.at(0).jobs_refused == 1);  // as before
}
