#include "orb/sim/baselines/leader_followers_model.h"

#include <catch2/catch.hpp>
#include <vector>

namespace leader_followers_model_test {

using namespace corelane;
using namespace corelane::sim;
using namespace std::chrono_literals;

namespace {

struct Setting {
  std::int32_t cluster;
  std::vector<std::int16_t> cores;
};

Setting setting_of(LeaderFollowersForm form) {
  MulticoreOptions options{.cores = 2, .order = Order::deadline};
  std::vector<MulticoreTask> tasks(3, MulticoreTask{.deadline = 1ms, .parts = {{.budget = 1ms, .deadline = 1ms}}});
  use_leader_followers(form, options, tasks);
  CHECK(options.order == Order::priority);
  CHECK(fault_of(options, tasks) == std::nullopt);
  Setting setting{options.cluster, {}};
  for (const MulticoreTask& task : tasks) setting.cores.push_back(task.core.value);
  return setting;
}

// Returns the misses of a task of 60 %, one of 30 %, and one of 60 % that comes last, on two cores.
std::uint64_t misses(LeaderFollowersForm form) {
  MulticoreOptions options{.cores = 2};
  std::vector<MulticoreTask> tasks;
  std::vector<JobPattern> patterns;
  for (const Duration budget : {60ms, 30ms, 60ms}) {
    tasks.push_back({.deadline = 100ms, .priority = Priority{1}});
    patterns.push_back({.period = 100ms, .demand = budget});
  }
  use_leader_followers(form, options, tasks);
  PatternJobs source(patterns);
  MulticoreSimulator simulator(options, tasks, source);
  simulator.run(Time{1s});
  std::uint64_t result = 0;
  for (std::size_t task = 0; task < tasks.size(); ++task) result += simulator.responses(task).misses;
  return result;
}

}  // namespace

TEST_CASE("unbound threads share all cores") { CHECK(setting_of(LeaderFollowersForm::unbound).cluster == 2); }

TEST_CASE("pinned threads take the cores in turn") {
  const Setting setting = setting_of(LeaderFollowersForm::pinned);
  CHECK(setting.cluster == 1);
  CHECK(setting.cores == std::vector<std::int16_t>{0, 1, 0});
}

TEST_CASE("a single core runs all threads") {
  const Setting setting = setting_of(LeaderFollowersForm::single_core);
  CHECK(setting.cluster == 1);
  CHECK(setting.cores == std::vector<std::int16_t>{0, 0, 0});
}

TEST_CASE("allocated tasks keep their cores") {
  MulticoreOptions options{.cores = 2, .cluster = 2};
  std::vector<MulticoreTask> tasks(2, MulticoreTask{.deadline = 1ms, .core = CoreId{1}});
  use_leader_followers(LeaderFollowersForm::allocated, options, tasks);
  CHECK(options.cluster == 1);
  CHECK(tasks[0].core == CoreId{1});
  CHECK(tasks[1].core == CoreId{1});
}

TEST_CASE("pinning by count overloads a core where unbound threads meet all deadlines") {
  CHECK(misses(LeaderFollowersForm::unbound) == 0);
  CHECK(misses(LeaderFollowersForm::pinned) > 0);
  CHECK(misses(LeaderFollowersForm::single_core) > misses(LeaderFollowersForm::pinned));
}

}  // namespace leader_followers_model_test
