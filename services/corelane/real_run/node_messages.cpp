#include "services/corelane/real_run/node_messages.h"

#include <array>
#include <utility>

namespace corelane::tool {

AdmitOrder order_of(const Contract& contract, std::string reference) {
  return {.reference = std::move(reference),
          .period = contract.period.count(),
          .deadline = contract.deadline.count(),
          .budget = contract.budget.count(),
          .jitter = contract.jitter.count(),
          .importance = contract.importance,
          .on_overrun = static_cast<int>(contract.on_overrun),
          .intensity = contract.intensity};
}

Contract contract_of(const AdmitOrder& order) {
  return {.period = Duration{order.period},
          .deadline = Duration{order.deadline},
          .budget = Duration{order.budget},
          .jitter = Duration{order.jitter},
          .importance = static_cast<std::int16_t>(order.importance),
          .on_overrun = static_cast<OverrunPolicy>(order.on_overrun),
          .intensity = static_cast<std::uint16_t>(order.intensity)};
}

void to_json(nlohmann::json& out, const JobRow& row) {
  out = nlohmann::json::array({row.task, row.number, row.sent, row.release, row.begin, row.end, row.core, row.execution,
                               row.gaps, row.longest_gap});
}

void from_json(const nlohmann::json& in, JobRow& row) {
  const auto numbers = in.get<std::array<std::int64_t, 10>>();
  row = {.task = numbers[0],
         .number = numbers[1],
         .sent = numbers[2],
         .release = numbers[3],
         .begin = numbers[4],
         .end = numbers[5],
         .core = numbers[6],
         .execution = numbers[7],
         .gaps = numbers[8],
         .longest_gap = numbers[9]};
}

void to_json(nlohmann::json& out, const PlannedJob& job) {
  out = nlohmann::json::array({job.release.count(), job.demand.count()});
}

void from_json(const nlohmann::json& in, PlannedJob& job) {
  const auto numbers = in.get<std::array<std::int64_t, 2>>();
  job = {.release = Duration{numbers[0]}, .demand = Duration{numbers[1]}};
}

}  // namespace corelane::tool
