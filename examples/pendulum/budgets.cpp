#include "examples/pendulum/budgets.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "orb/os/thread.h"
#include "orb/rt/work.h"

namespace corelane::pendulum {
namespace {

constexpr int rounds = 20;

using Longest = std::array<Duration, kinds.size()>;

void compute_all(Longest& longest) noexcept {
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const rt::WorkReport job = rt::work(kinds[i].effort);
      longest[i] = std::max(longest[i], job.elapsed - job.external - job.preempted);
    }
}

}  // namespace

std::vector<Duration> longest_executions(const std::vector<CoreId>& cores) {
  std::vector<Longest> found(cores.size());
  std::vector<os::Thread> threads;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    auto thread = os::start_thread({.name = "budgets", .core = cores[i], .fifo_priority = 1},
                                   [&longest = found[i]] { compute_all(longest); });
    if (thread) threads.push_back(std::move(*thread));
  }
  for (os::Thread& thread : threads) thread.join();
  std::vector<Duration> longest;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    longest.push_back(kinds[i].effort);
    for (const Longest& core : found) longest.back() = std::max(longest.back(), core[i]);
  }
  return longest;
}

int margin_by(const std::string& stat) {
  constexpr int before_stolen = 7;  // user, nice, system, idle, iowait, irq, softirq come before the stolen time
  std::istringstream line(stat);
  std::string word;
  std::uint64_t ticks = 0;
  line >> word;
  for (int i = 0; i <= before_stolen; ++i) line >> ticks;
  return word == "cpu" && line && ticks > 0 ? margin_of_guests : usual_margin;
}

int margin_here() {
  std::ifstream file("/proc/stat");
  std::string line;
  std::getline(file, line);
  return margin_by(line);
}

Duration budget_for(Duration longest_execution, int margin) {
  constexpr Duration unit = std::chrono::microseconds{100};
  const Duration wanted = longest_execution + longest_execution * margin / 100;
  return (wanted + unit - Duration{1}) / unit * unit;
}

std::vector<Contract> contracts_for(const std::vector<Duration>& longest_executions, int margin) {
  std::vector<Contract> contracts;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const Duration budget = std::min(budget_for(longest_executions.at(i), margin), kinds[i].deadline);
    contracts.push_back(make_contract(kinds[i].period, budget, kinds[i].deadline));
  }
  return contracts;
}

}  // namespace corelane::pendulum
