// Tests cache-aware allocation: where intensive tasks go, alone and beside others, and what other tasks do.
#include <catch2/catch.hpp>
#include <vector>

#include "tests/orb/sched/allocation/packing_fixture.h"

namespace cache_aware_test {

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;

namespace {

Contract with_intensity(int percent, std::uint16_t intensity) {
  Contract contract = share_of_core(percent);
  contract.intensity = intensity;
  return contract;
}

// Whole cores; the list has the cache of each.
ManagerOptions cores_with(const std::vector<int>& caches) {
  ManagerOptions options = whole_cores(static_cast<int>(caches.size()), "cache-aware");
  for (std::size_t i = 0; i < caches.size(); ++i) options.cores[i].cache = caches[i];
  return options;
}

struct Cores {
  explicit Cores(const std::vector<int>& caches) : bench(cores_with(caches)) {}

  int intensive(int percent) { return core_of(bench.admitted(with_intensity(percent, intensive_from))); }
  int light(int percent) { return core_of(bench.admitted(share_of_core(percent))); }
  int core_of(TaskId task) const { return bench.core_of(task).value; }

  Bench bench;
};

}  // namespace

TEST_CASE("intensive tasks spread over the caches and then share a core of each cache") {
  Cores cores({0, 0, 1, 1});
  CHECK(cores.intensive(30) == 0);
  CHECK(cores.intensive(30) == 2);
  CHECK(cores.intensive(20) == 0);
  CHECK(cores.intensive(10) == 2);  // 50 % on the first cache, 30 % on the second
  CHECK(cores.intensive(15) == 2);  // 50 % and 40 %
  CHECK(cores.intensive(10) == 0);  // 50 % and 55 %
}

TEST_CASE("intensive tasks take turns on one core if all cores share their cache") {
  Cores cores({0, 0, 0});
  CHECK(cores.light(20) == 0);
  CHECK(cores.intensive(30) == 1);
  CHECK(cores.intensive(30) == 1);
  CHECK(cores.intensive(30) == 1);
}

TEST_CASE("other tasks go to the least loaded core") {
  Cores cores({0, 0, 1, 1});
  CHECK(cores.intensive(30) == 0);
  CHECK(cores.light(10) == 1);
  CHECK(cores.light(20) == 2);
  CHECK(cores.light(10) == 3);
  CHECK(cores.light(10) == 1);
  CHECK(cores.light(50) == 3);
}

TEST_CASE("an intensive task prefers the core of another cache to running beside an intensive task") {
  Cores cores({0, 0, 1});
  CHECK(cores.intensive(60) == 0);
  CHECK(cores.light(20) == 1);
  CHECK(cores.light(30) == 2);
  CHECK(cores.intensive(20) == 2);
  CHECK(cores.intensive(45) == 2);  // it does not fit on core 0, and core 1 is less loaded
}

// Edges.

TEST_CASE("an intensive task runs beside others where nothing else fits, beside as few as possible") {
  Cores cores({0, 0, 0});
  CHECK(cores.intensive(60) == 0);
  CHECK(cores.intensive(50) == 1);  // it does not fit on core 0
  CHECK(cores.intensive(10) == 0);  // beside 50 %, not 60 %
  CHECK(cores.intensive(45) == 1);  // beside 70 % on core 1, 120 % on core 2
  CHECK(cores.intensive(45) == 2);
}

TEST_CASE("a task is intensive from 10 accesses per 1,000 instructions on") {
  const auto second = [](std::uint16_t intensity) {
    Bench bench(cores_with({0, 0}));
    bench.admitted(with_intensity(30, intensity));
    return bench.core_of(bench.admitted(with_intensity(30, intensity))).value;
  };
  CHECK(second(0) == 1);
  CHECK(second(9) == 1);
  CHECK(second(10) == 0);
}

TEST_CASE("a cache that an intensive task has left is used first again") {
  Cores cores({0, 1});
  const TaskId leaves = cores.bench.admitted(with_intensity(30, intensive_from));
  CHECK(cores.intensive(20) == 1);
  cores.bench.tell(Departed{Time{}, leaves});
  cores.bench.vacated(leaves, CoreId{0});
  CHECK(cores.intensive(10) == 0);
}

TEST_CASE("other strategies do not regard caches") {
  ManagerOptions options = cores_with({0, 0});
  options.allocation = strategy("worst-fit");
  Bench bench(options);
  bench.admitted(with_intensity(30, intensive_from));
  CHECK(bench.core_of(bench.admitted(with_intensity(30, intensive_from))) == CoreId{1});
}

TEST_CASE("a repacking keeps intensive tasks on one core") {
  ManagerOptions options = cores_with({0, 0});
  options.repack = true;
  Bench bench(options);
  const TaskId first = bench.admitted(with_intensity(30, intensive_from));
  const std::vector<TaskId> light = {bench.admitted(share_of_core(50)), bench.admitted(share_of_core(30)),
                                     bench.admitted(share_of_core(20))};
  REQUIRE(bench.core_of(light[0]) == CoreId{1});
  REQUIRE(bench.core_of(light[1]) == CoreId{0});
  REQUIRE(bench.core_of(light[2]) == CoreId{1});
  // 60 % and 70 % are used. The new task fits if the tasks with 30 % and 20 % change places.
  std::vector<Command> commands = bench.propose(with_intensity(45, intensive_from));
  std::vector<Admit> admits;
  for (int step = 0; step < 10 && admits.empty(); ++step) {
    std::vector<Command> next;
    for (const Vacate& vacate : only<Vacate>(commands))
      for (const Command& command : bench.vacated(vacate.task, vacate.core)) next.push_back(command);
    commands = next;
    admits = only<Admit>(commands);
  }
  REQUIRE(admits.size() == 1);
  CHECK(admits[0].core == CoreId{0});
  CHECK(bench.core_of(first) == CoreId{0});
  CHECK(bench.core_of(light[1]) == CoreId{1});
  CHECK(bench.core_of(light[2]) == CoreId{0});
}

}  // namespace cache_aware_test
