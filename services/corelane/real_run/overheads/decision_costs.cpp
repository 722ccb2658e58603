#include "services/corelane/real_run/overheads/decision_costs.h"

#include <linux/magic.h>
#include <sys/statfs.h>

#include <exception>

#include "orb/base/minor.h"
#include "orb/os/thread.h"

namespace corelane::tool {
namespace {

constexpr int driver_priority = 50;  // the default of io.priority

// Returns false if it was stopped.
bool sample_scenario(const DecisionScenario& scenario, const DecisionSampling& sampling, DecisionStages& stages) {
  DecisionPool pool(sampling.cores, sampling.ledger);
  const std::size_t warm_up = sampling.samples / 10 + 1;
  for (std::size_t i = 0; i < warm_up + sampling.samples; ++i) {
    if (sampling.is_to_stop && sampling.is_to_stop()) return false;
    const DecisionStamps stamps = scenario.sample(pool);
    if (i >= warm_up) stages.add(stamps);
  }
  return true;
}

std::string sample_all(std::span<const DecisionScenario* const> scenarios, const DecisionSampling& sampling,
                       const DecisionReport& report) {
  try {
    for (const DecisionScenario* const scenario : scenarios) {
      DecisionStages stages;
      if (!sample_scenario(*scenario, sampling, stages)) return {};
      report(*scenario, stages);
    }
    return {};
  } catch (const std::exception& fault) {
    return fault.what();
  }
}

}  // namespace

std::string measure_decisions(std::span<const DecisionScenario* const> scenarios, const DecisionSampling& sampling,
                              const DecisionReport& report) {
  std::string fault;
  auto driver = os::start_thread({.name = "driver", .core = sampling.cores.front(), .fifo_priority = driver_priority},
                                 [&]() noexcept { fault = sample_all(scenarios, sampling, report); });
  if (!driver)
    return "there is no thread for the driver on core " + std::to_string(sampling.cores.front().value) + ": " +
           std::string(minor::text(driver.error()));
  driver->join();
  return fault;
}

std::string ledger_text(const std::string& ledger) {
  struct statfs system {};
  if (ledger.empty()) return "written down nowhere";
  const bool in_memory = ::statfs(ledger.c_str(), &system) == 0 && system.f_type == TMPFS_MAGIC;
  return std::string("written into a ledger, on ") + (in_memory ? "a tmpfs" : "a disk's file system");
}

}  // namespace corelane::tool
