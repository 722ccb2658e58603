#include "orb/sim/multicore_simulator.h"

#include <cassert>
#include <chrono>
#include <utility>

#include "orb/base/contract.h"
#include "orb/sim/multicore/engine.h"

namespace corelane::sim {
namespace {

constexpr std::int32_t most_cores = INT16_MAX;
constexpr Duration longest_relative_deadline = std::chrono::hours{24 * 365};

std::optional<std::string> platform_fault(const MulticoreOptions& options) {
  if (options.cores < 1 || options.cores > most_cores)
    return "the platform has " + std::to_string(options.cores) + " cores: give 1 to " + std::to_string(most_cores);
  if (options.cluster < 1 || options.cluster > options.cores || options.cores % options.cluster != 0)
    return "a cluster has " + std::to_string(options.cluster) + " cores: give a divisor of the number of cores, " +
           std::to_string(options.cores);
  return {};
}

std::optional<std::string> core_fault(const MulticoreOptions& options, CoreId core) {
  if (core.value >= 0 && core.value < options.cores) return {};
  return "is on core " + std::to_string(core.value) + ": give 0 to " + std::to_string(options.cores - 1);
}

std::optional<std::string> deadline_fault(Duration deadline) {
  if (deadline > Duration::zero() && deadline <= longest_relative_deadline) return {};
  return "has the deadline " + to_string(deadline) + ": give more than 0, and at most a year";
}

std::optional<std::string> part_fault(const MulticoreOptions& options, const TaskPart& part) {
  if (options.cluster != 1) return "needs clusters of one core: set cluster to 1, or do not split the task";
  if (part.budget <= Duration::zero()) return "has the budget " + to_string(part.budget) + ": give more than 0";
  if (part.offset < Duration::zero() || part.offset > longest_relative_deadline)
    return "has the offset " + to_string(part.offset) + ": give 0 to a year";
  const auto fault = deadline_fault(part.deadline);
  return fault ? fault : core_fault(options, part.core);
}

std::optional<std::string> task_fault(const MulticoreOptions& options, const MulticoreTask& task) {
  if (const auto fault = deadline_fault(task.deadline)) return fault;
  if (task.parts.empty()) return core_fault(options, task.core);
  for (std::size_t i = 0; i < task.parts.size(); ++i)
    if (const auto fault = part_fault(options, task.parts[i]))
      return "has a part " + std::to_string(i) + " that " + *fault;
  return {};
}

}  // namespace

std::optional<std::string> fault_of(const MulticoreOptions& options, std::span<const MulticoreTask> tasks) {
  if (auto fault = platform_fault(options)) return fault;
  for (std::size_t i = 0; i < tasks.size(); ++i)
    if (const auto fault = task_fault(options, tasks[i])) return "task " + std::to_string(i) + " " + *fault;
  return {};
}

MulticoreSimulator::MulticoreSimulator(const MulticoreOptions& options, std::span<const MulticoreTask> tasks,
                                       JobSource& source, JobObserver* observer)
    : engine_(
          (assert(!fault_of(options, tasks)), std::make_unique<multicore::Engine>(options, tasks, source, observer))) {}

MulticoreSimulator::~MulticoreSimulator() = default;
MulticoreSimulator::MulticoreSimulator(MulticoreSimulator&&) noexcept = default;
MulticoreSimulator& MulticoreSimulator::operator=(MulticoreSimulator&&) noexcept = default;

void MulticoreSimulator::stop_when(std::function<bool()> asked) { engine_->stop_when(std::move(asked)); }

void MulticoreSimulator::run(Time until) { engine_->run(until); }

bool MulticoreSimulator::stopped() const { return engine_->stopped(); }

Time MulticoreSimulator::now() const { return engine_->now(); }

std::size_t MulticoreSimulator::size() const { return engine_->size(); }

TaskResponses MulticoreSimulator::responses(std::size_t task) const { return engine_->responses(task); }

std::uint64_t MulticoreSimulator::finished_jobs() const { return engine_->finished_jobs(); }

OverheadUse MulticoreSimulator::overhead(OverheadKind kind) const { return engine_->overhead(kind); }

Duration MulticoreSimulator::busy(CoreId core) const { return engine_->busy(static_cast<std::uint32_t>(core.value)); }

std::uint64_t MulticoreSimulator::trace_hash() const { return engine_->trace_hash(); }

}  // namespace corelane::sim
