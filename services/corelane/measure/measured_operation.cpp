#include "services/corelane/measure/measured_operation.h"

#include <algorithm>
#include <utility>

#include "orb/base/text/counted.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

// `interface` is a repository id, or empty. If the label is of that interface, the id is better: labels have no
// version.
std::optional<Proposal> proposal_of(const MeasuredOperation& measured, const std::string& interface, int margin) {
  const auto& [measurement, basis, fault, none] = measured;
  const bool is_its = !interface.empty() && label_of(interface, operation_of(measurement.label)) == measurement.label;
  const auto id = is_its ? interface : repository_id_of(measurement.label);
  if (!id || !basis) return std::nullopt;
  Proposal proposal{.repository_id = *id,
                    .operation = operation_of(measurement.label),
                    .contract = basis->contract,
                    .entry = {},
                    .fault = fault};
  proposal.contract.budget = proposed_budget(measurement, margin);
  proposal.contract.intensity = measurement.intensity.value_or(proposal.contract.intensity);
  proposal.entry =
      contracts_entry(proposal.repository_id, proposal.operation, proposal.contract,
                      counted(measurement.used.size(), "job") + " measured, the longest took " +
                          brief(measurement.used.back()) + (basis->note.empty() ? "" : "; " + basis->note) +
                          (measurement.blocks == 0 ? "" : "; " + waits_text(measurement)));
  if (!fault.empty()) proposal.entry = set_aside(proposal.entry, fault);
  return proposal;
}

}  // namespace

std::string waits_text(const Measurement& m) {
  return counted(m.blocks, "job") + " waited up to " + brief(m.longest_block) + " without saying so";
}

MeasuredOperation measured_of(Measurement measurement, const MeasureOptions& options, const std::string& interface) {
  MeasuredOperation measured{.measurement = std::move(measurement)};
  const Measurement& m = measured.measurement;
  if (!options.call.reference.empty())
    measured.basis = basis_of_calls(options.given, options.call.contract, m.own);
  else if (m.contract)
    measured.basis = basis_of_jobs(*m.contract, m.own);
  if (measured.basis) {
    Contract contract = measured.basis->contract;
    contract.budget = proposed_budget(m, options.margin);
    measured.fault = fault_of(contract).value_or("");
  }
  measured.proposal = proposal_of(measured, interface, options.margin);
  return measured;
}

std::vector<Slowdown> slowdowns_of(const Measurement& m, const std::string& task) {
  std::vector<Slowdown> slowdowns;
  for (const SeriesBeside& series : m.beside)
    slowdowns.push_back({.operation = task.empty() ? m.label : task,
                         .beside = series.work,
                         .alone = m.quantile(500'000),
                         .together = quantile_of(series.used, 500'000),
                         .samples = std::min(m.used.size(), series.used.size()),
                         .range = factor_range(m.used, series.used),
                         .metrics = series.metrics});
  return slowdowns;
}

}  // namespace corelane::tool
