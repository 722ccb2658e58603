// Tests ten thousand random task sets on 1 to 16 virtual cores, with each allocation strategy in turn. The Manager's
// decisions are compared with a deliberately naive analysis that shares no code and no formula with it. Its promises
// are compared with the simulator.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <vector>

#include "orb/base/sanitizer.h"
#include "orb/sim/simulator.h"
#include "orb/sim/workload.h"

namespace random_sets_test {

using namespace corelane;
using namespace corelane::sim;
using namespace std::chrono_literals;

namespace {

#if CORELANE_ADDRESS_SANITIZER || CORELANE_THREAD_SANITIZER
constexpr int sets = 300;
#else
constexpr int sets = 10'000;
#endif

struct NaiveTask {
  Contract contract;
  Duration urgency() const { return contract.deadline - contract.jitter; }
};

// Simulates the schedule of `tasks` (by descending priority, all released at once, again every T). Returns when the
// first job of the last task ends; nothing if it has not ended by its deadline. For D <= T without jitter this is the
// worst case (the critical instant of Liu & Layland), so the answer is exact.
std::optional<Duration> first_end(const std::vector<NaiveTask>& tasks) {
  struct Live {
    std::int64_t left;
    std::int64_t next;
  };
  std::vector<Live> live;
  for (const NaiveTask& task : tasks) live.push_back({task.contract.budget.count(), task.contract.period.count()});
  const std::int64_t deadline = tasks.back().contract.deadline.count();
  for (std::int64_t now = 0; now <= deadline;) {
    std::size_t runs = 0;
    while (live[runs].left == 0) ++runs;  // the last task has work left, so this ends
    std::int64_t until = now + live[runs].left;
    for (std::size_t i = 0; i + 1 < live.size(); ++i) until = std::min(until, live[i].next);
    live[runs].left -= until - now;
    now = until;
    if (live.back().left == 0) return now <= deadline ? std::optional(Duration{now}) : std::nullopt;
    for (std::size_t i = 0; i + 1 < live.size(); ++i) {
      if (live[i].next != now) continue;
      live[i].left += tasks[i].contract.budget.count();
      live[i].next += tasks[i].contract.period.count();
    }
  }
  return std::nullopt;
}

// Returns whether these tasks may share a core. `members` are in the order of admission.
bool naive_accepts(std::vector<NaiveTask> members, long double capacity) {
  long double load = 0;
  for (const NaiveTask& m : members)
    load += static_cast<long double>(m.contract.budget.count()) / static_cast<long double>(m.contract.period.count());
  if (load > capacity) return false;
  std::stable_sort(members.begin(), members.end(),
                   [](const NaiveTask& a, const NaiveTask& b) { return a.urgency() < b.urgency(); });
  for (std::size_t i = 0; i < members.size(); ++i)
    if (!first_end({members.begin(), members.begin() + static_cast<std::ptrdiff_t>(i) + 1})) return false;
  return true;
}

enum class Kind { implicit, constrained, jittered, arbitrary };

Contract random_contract(Random& random, Kind kind, double u) {
  Contract c = contract_of(std::max(u, 0.001), log_uniform_period(random, 10ms, 100ms));
  if (kind == Kind::constrained) c.deadline = std::max(c.budget, c.period * static_cast<int>(40 + random() % 61) / 100);
  if (kind == Kind::jittered) c.jitter = c.deadline * static_cast<int>(random() % 20) / 100;
  if (kind == Kind::arbitrary) c.deadline = c.period * static_cast<int>(80 + random() % 200) / 100;
  return c;
}

struct Totals {
  double asked = 0;
  double admitted = 0;
  double cores = 0;
  std::uint64_t proposals = 0;
  std::uint64_t accepted = 0;
  std::uint64_t repacked = 0;
  std::uint64_t jobs = 0;
  std::uint64_t compared = 0;  // decisions compared with the naive ones
  std::uint64_t equal = 0;     // tasks whose worst simulated response is the analysed one
};

class Experiment {
 public:
  Experiment(std::uint64_t seed, Kind kind, bool repack, const sched::AllocationStrategy* strategy)
      : random_(seed),
        kind_(kind),
        repack_(repack),
        strategy_(strategy),
        cores_(1 + static_cast<int>(random_() % 16)),
        sim_(options(), seed) {}

  void run(Totals& totals) {
    const int tasks = cores_ * static_cast<int>(2 + random_() % 4);
    const double load = cores_ * (0.5 + 0.6 * uniform(random_));
    totals.cores += cores_;
    for (const double u : uunifast(random_, tasks, std::min(load, tasks * 0.9)))
      propose(random_contract(random_, kind_, u), totals);
    sim_.run(first_release + 300ms);  // beyond each deadline: 2.8 periods of 100 ms at most
    judge(totals);
  }

 private:
  static constexpr Time first_release{1ms};

  sched::ManagerOptions options() const {
    sched::ManagerOptions result;
    for (int i = 0; i < cores_; ++i) result.cores.push_back({.id = CoreId{static_cast<std::int16_t>(i)}});
    result.max_tasks = 128;
    result.max_tasks_per_core = 48;
    result.repack = repack_;
    result.allocation = strategy_;
    return result;
  }
  bool exact() const { return kind_ == Kind::implicit || kind_ == Kind::constrained; }

  std::vector<std::vector<NaiveTask>> placements() {
    std::vector<std::vector<NaiveTask>> result(static_cast<std::size_t>(cores_));
    for (std::size_t i = 0; i < sim_.size(); ++i)
      if (sim_.report(i).admitted)
        result[static_cast<std::size_t>(sim_.report(i).core.value)].push_back({contracts_[i]});
    return result;
  }

  void propose(const Contract& contract, Totals& totals) {
    const auto before = placements();
    now_ += 1us;
    contracts_.push_back(contract);
    const auto index = sim_.add(
        {.contract = contract, .proposed = now_, .first_release = first_release, .jittered = kind_ == Kind::jittered});
    sim_.run(now_);
    const TaskReport& report = sim_.report(index);
    REQUIRE(report.answered);
    const double u = static_cast<double>(contract.budget.count()) / static_cast<double>(contract.period.count());
    ++totals.proposals;
    totals.asked += u;
    if (report.admitted) ++totals.accepted, totals.admitted += u;
    if (exact()) compare(before, contract, report, totals);
  }

  void compare(const std::vector<std::vector<NaiveTask>>& before, const Contract& contract, const TaskReport& report,
               Totals& totals) {
    std::vector<bool> accepts;
    for (auto members : before) {
      members.push_back({contract});
      accepts.push_back(naive_accepts(std::move(members), 0.95L));
    }
    const bool direct = std::find(accepts.begin(), accepts.end(), true) != accepts.end();
    ++totals.compared;
    if (direct) {
      REQUIRE(report.admitted);
      REQUIRE(accepts[static_cast<std::size_t>(report.core.value)]);
    } else if (!repack_) {
      REQUIRE_FALSE(report.admitted);
    } else if (report.admitted) {
      ++totals.repacked;
      for (const auto& members : placements()) REQUIRE((members.empty() || naive_accepts(members, 0.95L)));
    }
  }

  void judge(Totals& totals) {
    for (std::size_t i = 0; i < sim_.size(); ++i) {
      const TaskReport& report = sim_.report(i);
      if (!report.admitted) continue;
      const Duration bound = sim_.manager().find(report.task)->response;
      totals.jobs += report.jobs;
      REQUIRE(report.misses == 0);
      REQUIRE(report.jobs > 0);
      REQUIRE(report.worst <= bound);
      if (!exact()) continue;
      REQUIRE(report.worst == bound);
      ++totals.equal;
    }
  }

  Random random_;
  Kind kind_;
  bool repack_;
  const sched::AllocationStrategy* strategy_;
  int cores_;
  Simulator sim_;
  std::vector<Contract> contracts_;
  Time now_{};
};

}  // namespace

TEST_CASE("ten thousand random sets are admitted exactly and no admitted task misses") {
  Totals totals;
  const auto strategies = sched::for_servers(sched::allocation_strategies());
  for (int set = 0; set < sets; ++set) {
    const auto kind = static_cast<Kind>(set % 4);
    const auto* const strategy = strategies[static_cast<std::size_t>(set / 8) % strategies.size()];
    Experiment(static_cast<std::uint64_t>(set), kind, set % 8 < 4, strategy).run(totals);
  }
  std::printf(
      "%d sets: %llu of %llu tasks admitted (%llu by repacking), utilization %.3f of a core asked, %.3f admitted; "
      "%llu decisions equal the naive ones; %llu jobs, 0 misses; %llu worst responses equal their bound\n",
      sets, static_cast<unsigned long long>(totals.accepted), static_cast<unsigned long long>(totals.proposals),
      static_cast<unsigned long long>(totals.repacked), totals.asked / totals.cores, totals.admitted / totals.cores,
      static_cast<unsigned long long>(totals.compared), static_cast<unsigned long long>(totals.jobs),
      static_cast<unsigned long long>(totals.equal));
  CHECK(totals.admitted / totals.cores > 0.6);
  CHECK(totals.accepted < totals.proposals);
  CHECK(totals.repacked > 0);
}

}  // namespace random_sets_test
