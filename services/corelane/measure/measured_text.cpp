#include "services/corelane/measure/measured_text.h"

#include <nlohmann/json.hpp>

#include "orb/base/text/counted.h"
#include "services/corelane/output/json_text.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

// Describes the arrivals of requests. They are not jobs yet: an early one waits in its core scheduler.
std::string arrivals_text(const Measurement& m) {
  if (!m.least_gap) return {};
  std::string text = "  arrivals   " + brief(*m.least_gap) + " apart at the least";
  if (m.came_early) text += "; requests that came before the period was over waited for that at the server";
  return text + "\n";
}

// A budget does not limit how long a job blocks.
std::string blocks_text(const Measurement& m) {
  if (m.blocks == 0) return {};
  return "  blocks     " + waits_text(m) +
         ": use corelane::rt::Suspension there and declare `suspension`, or no bound holds\n";
}

std::string cache_text(const Measurement& m) {
  std::string text;
  if (m.intensity)
    text += "  cache      " + std::to_string(*m.intensity) + " last-level accesses per 1,000 instructions\n";
  else if (!m.uncounted.empty())
    text += "  cache      accesses not counted: " + plain(m.uncounted) + "\n";
  for (const Slowdown& slowdown : slowdowns_of(m))
    text += "  beside     " + plain(slowdown.beside) + ": p50 " + brief(slowdown.together) + ", " +
            factor_text(slowdown) + ": a measured estimate, never a bound\n";
  return text;
}

std::string contract_text(const Measurement& m) {
  if (!m.contract) return {};
  const Contract& contract = *m.contract;
  return "  contract   " +
         (m.has_several ? "several"
                        : "period " + to_string(contract.period) + "  deadline " + to_string(contract.deadline) +
                              "  budget " + to_string(contract.budget)) +
         "; overruns " + std::to_string(m.overruns) + ", misses " + std::to_string(m.misses) + "\n";
}

std::string table_of(const MeasuredOperation& measured, const MeasureOptions& options) {
  const int margin = options.margin;
  const Measurement& m = measured.measurement;
  std::string text =
      plain(m.label) + ": " + counted(m.used.size(), "job") + " of " + counted(m.tasks.size(), "task") + "\n";
  text += "  execution  p50 " + brief(m.quantile(500'000)) + "  p99 " + brief(m.quantile(990'000)) + "  longest " +
          brief(m.used.back()) + "\n";
  text += cache_text(m);
  text += contract_text(m);
  text += blocks_text(m);
  text += arrivals_text(m);
  if (measured.basis && !measured.basis->note.empty()) text += "  table      " + measured.basis->note + "\n";
  const Duration budget = proposed_budget(m, margin);
  text += "  budget     " + to_string(budget) +
          (budget == m.longest_section ? ": its longest section of a resource\n"
                                       : ": the longest and " + std::to_string(margin) + " % more\n");
  if (!measured.fault.empty())
    text += "  TOO LONG   no contract with deadline " + to_string(measured.basis->contract.deadline) +
            " can have this budget; shorten the work, or give it a longer deadline\n";
  if (m.used.size() < few_samples)
    text += "  so few jobs say little about the longest; measure " + std::to_string(few_samples) + " at least\n";
  return text;
}

nlohmann::ordered_json json_of(const Slowdown& slowdown) {
  nlohmann::ordered_json json{{"work", slowdown.beside},
                              {"jobs", slowdown.samples},
                              {"execution_p50_ns", slowdown.together.count()},
                              {"factor", slowdown.factor()}};
  if (slowdown.range) json["factor_low"] = slowdown.range->low, json["factor_high"] = slowdown.range->high;
  return json;
}

nlohmann::ordered_json json_of(const MeasuredOperation& measured, int margin) {
  const auto& [m, basis, fault, proposal] = measured;
  nlohmann::ordered_json json{{"operation", m.label},
                              {"jobs", m.used.size()},
                              {"tasks", nlohmann::ordered_json::array()},
                              {"execution_p50_ns", m.quantile(500'000).count()},
                              {"execution_p99_ns", m.quantile(990'000).count()},
                              {"execution_max_ns", m.used.back().count()},
                              {"overruns", m.overruns},
                              {"misses", m.misses},
                              {"blocks", m.blocks},
                              {"longest_block_ns", m.longest_block.count()},
                              {"margin_percent", margin},
                              {"proposed_budget_ns", proposed_budget(m, margin).count()},
                              {"samples_ns", nlohmann::ordered_json::array()}};
  for (const TaskId task : m.tasks) json["tasks"].push_back(task.value);
  for (const Duration used : m.used) json["samples_ns"].push_back(used.count());
  if (m.least_gap) json["least_gap_ns"] = m.least_gap->count();
  if (m.contract && !m.has_several) json["budget_ns"] = m.contract->budget.count();
  if (m.intensity) json["intensity"] = *m.intensity;
  for (const Slowdown& slowdown : slowdowns_of(m)) json["beside"].push_back(json_of(slowdown));
  if (basis && !basis->note.empty()) json["note"] = basis->note;
  if (basis && !basis->assumed.empty()) json["assumed"] = basis->assumed;
  if (proposal) json["contracts_file"] = proposal->entry;
  if (!fault.empty()) json["fault"] = fault;
  return json;
}

}  // namespace

std::string measured_text(const std::vector<MeasuredOperation>& found, const MeasureOptions& options) {
  auto json = nlohmann::ordered_json::array();
  std::string text;
  for (const MeasuredOperation& measured : found) {
    json.push_back(json_of(measured, options.margin));
    text += table_of(measured, options);
    if (measured.proposal) text += "\n" + measured.proposal->entry;
    text += "\n";
  }
  if (options.format == Format::table) return text;
  return json_lines(json);
}

}  // namespace corelane::tool
