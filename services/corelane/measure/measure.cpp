#include "services/corelane/measure/measure.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "orb/base/text/counted.h"
#include "orb/core/contracts/contracts_file.h"
#include "orb/core/text/spelling.h"
#include "orb/core/text/toml_text.h"
#include "orb/os/clock.h"
#include "orb/os/files/small_file.h"
#include "services/corelane/host/server_page.h"
#include "services/corelane/measure/co_run.h"
#include "services/corelane/measure/measured_calls.h"
#include "services/corelane/measure/measurement.h"
#include "services/corelane/measure/shared_cache.h"
#include "services/corelane/output/json_text.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

Measurements by_files(const std::vector<std::string>& files, const Complaints& complaints) {
  std::vector<sched::TraceFile> traces;
  for (const std::string& file : files) {
    auto trace = load_trace(file, complaints);
    if (!trace) return std::nullopt;
    traces.push_back(std::move(*trace));
  }
  return measurements_of(traces);
}

Measurements by_program(const MeasureOptions& options, const Complaints& complaints) {
  if (const std::string why = why_untraced_in(options.directory, options.request);
      !options.run.empty() && !why.empty()) {
    complaints.begin() << "nothing was run: process " << options.request << " " << why << "\n";
    return std::nullopt;
  }
  const Time start = options.run.empty() ? Time{} : os::now();
  if (!options.run.empty() && std::system(options.run.c_str()) != 0) {
    complaints.begin() << "this failed, so nothing was measured: " << plain(options.run) << "\n";
    return std::nullopt;
  }
  return request_measurements(options, options.request, {.since = start}, complaints);
}

// An entry to add to a contracts file.
struct Proposal {
  std::string repository_id, operation;
  Contract contract;
  std::string entry;
  std::string fault{};  // why the entry is a comment: no contract can have this budget

  std::string key() const { return "[\"" + repository_id + "\"." + operation + "]"; }
};

struct Measured {
  Measurement measurement;
  std::optional<TableBasis> basis{};   // nothing: the trace has no contract
  std::string fault{};                 // why no contract can have the proposed budget; "": one can, or there is none
  std::optional<Proposal> proposal{};  // nothing: the interface is unknown, or there is no contract
};

// Call it only if there are some.
std::string waits_text(const Measurement& m) {
  return counted(m.blocks, "job") + " waited up to " + brief(m.longest_block) + " without saying so";
}

// `interface` is a repository id, or empty. If the label is of that interface, the id is better: labels have no
// version.
std::optional<Proposal> proposal_of(const Measured& measured, const std::string& interface, int margin) {
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

Measured measured_of(Measurement measurement, const MeasureOptions& options, const std::string& interface) {
  Measured measured{.measurement = std::move(measurement)};
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

std::vector<Slowdown> slowdowns_of(const Measurement& m, const std::string& task = {}) {
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

std::string table_of(const Measured& measured, const MeasureOptions& options) {
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

nlohmann::ordered_json json_of(const Measured& measured, int margin) {
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

std::string text_of(const std::vector<Measured>& found, const MeasureOptions& options) {
  auto json = nlohmann::ordered_json::array();
  std::string text;
  for (const Measured& measured : found) {
    json.push_back(json_of(measured, options.margin));
    text += table_of(measured, options);
    if (measured.proposal) text += "\n" + measured.proposal->entry;
    text += "\n";
  }
  if (options.format == Format::table) return text;
  return json_lines(json);
}

// ---- Contracts file ----

std::string_view line_at(std::string_view text, std::size_t at) {
  return text.substr(at, std::min(text.find('\n', at), text.size() - 1) + 1 - at);
}

// Removes what an earlier run added as a comment for the same table: see set_aside().
void drop_set_aside(std::string& text, const std::string& key) {
  const std::size_t table = text.find("\n# " + key);
  const std::size_t reason = table == text.npos ? table : text.rfind("# Not used: ", table);
  if (reason == text.npos || std::ranges::count(std::string_view(text).substr(reason, table - reason), '\n') != 1)
    return;
  std::size_t end = table + 1;
  end += line_at(text, end).size();
  while (end < text.size() && line_at(text, end).starts_with("# ") && line_at(text, end).find(" = ") != text.npos)
    end += line_at(text, end).size();
  const bool parted = reason > 1 && text[reason - 1] == '\n' && text[reason - 2] == '\n';
  text.erase(reason - (parted ? 1 : 0), end - reason + (parted ? 1 : 0));
}

std::string why_no_table(const Measurement& measurement) {
  if (!measurement.contract || measurement.label.find(' ') != std::string::npos)
    return " has no contract or no name in the trace: its beginning was overwritten; a larger recorder.size keeps it";
  if (may_be_cut(measurement.label)) return " is cut: say --interface IDL:...:1.0 and --operation";
  return " names no interface: say which with --interface IDL:...:1.0";
}

// Adds the table to `text`. Returns what is wrong with that; "" if it was added.
std::string add_to(std::string& text, const std::string& path, const Measured& measured) {
  const auto& [measurement, basis, fault, proposal] = measured;
  if (!proposal) return measurement.label + why_no_table(measurement);
  if (const std::string bad = fault_of_repository_id(proposal->repository_id); !bad.empty())
    return measurement.label + " has no interface that a table could name: " + bad;
  // The old text and the new table are well-formed by themselves, so only a second table of that name can fail.
  if (!core::ContractsFile::parse(text + "\n" + proposal->key() + "\nimportance = 0\n", path))
    return "it has a table for " + proposal->operation + " of " + proposal->repository_id + " already; " +
           (proposal->fault.empty() ? "put there: budget = \"" + to_string(proposal->contract.budget) + "\""
                                    : "measured, it would be wrong: " + proposal->fault);
  drop_set_aside(text, proposal->key());
  text += (text.empty() ? "" : "\n") + proposal->entry;
  return {};
}

// Returns the file that a symbolic link leads to, so that the file is replaced and not the link.
std::string target_of(const std::string& path) {
  std::error_code none;
  const auto target = std::filesystem::canonical(path, none);
  return none ? path : target.string();
}

// Returns the file's text, if it is well-formed; "" if there is no file. Returns nothing after reporting a fault.
std::optional<std::string> text_before(const std::string& path, bool is_there, const Complaints& complaints) {
  constexpr std::size_t largest_file = 1024 * 1024;
  if (!is_there) return "";
  auto before = os::read_small_file(path, largest_file);
  if (!before) return complaints.begin() << plain(before.error().text) << "\n", std::nullopt;
  if (const auto fault = core::nesting_fault_of(*before, path))
    return complaints.begin() << plain(fault->text) << "\n", std::nullopt;
  if (const auto file = core::ContractsFile::parse(*before, path); !file)
    return complaints.begin() << plain(file.error().text) << "\n", std::nullopt;
  return *std::move(before);
}

// Replaces the file by a new one with the same mode. The owner is the same if this user may give files away. Reports a
// fault.
bool replace_file(const std::string& path, const std::string& text, const Complaints& complaints) {
  const std::string target = target_of(path);
  struct stat before {};
  const bool is_there = ::stat(target.c_str(), &before) == 0;
  const auto written = os::write_small_file(target, text, is_there ? before.st_mode & 07777 : 0);
  if (!written) return complaints.begin() << plain(written.error().text) << "\n", false;
  if (is_there && ::lchown(target.c_str(), before.st_uid, before.st_gid) != 0)
    complaints.begin() << plain(target) << " belongs to this user now: it was replaced by a new file\n";
  return true;
}

// Writes the contracts. Returns whether each proposal is in the file and is not a comment.
bool write_contracts(const MeasureOptions& options, const std::vector<Measured>& found, const Complaints& complaints) {
  const bool is_there = static_cast<bool>(std::ifstream(options.write));
  auto text = text_before(options.write, is_there, complaints);
  if (!text) return false;
  std::vector<std::string> left_out, comments;
  for (const Measured& measured : found) {
    if (auto bad = add_to(*text, options.write, measured); !bad.empty())
      left_out.push_back(std::move(bad));
    else if (!measured.proposal->fault.empty())
      comments.push_back(" has " + measured.measurement.label + " as a comment alone: " + measured.proposal->fault);
  }
  const bool any = left_out.size() < found.size();
  const char* const without = any        ? " was written without this: "
                              : is_there ? " was left as it is: "
                                         : " was not made: ";
  for (const std::string& bad : left_out) complaints.begin() << plain(options.write + without + bad) << "\n";
  if (!any || !replace_file(options.write, *text, complaints)) return false;
  for (const std::string& comment : comments) complaints.begin() << plain(options.write + comment) << "\n";
  return left_out.empty() && comments.empty();
}

// Reports operations that need more than their deadline allows, if no file is written that would say so.
void complain_of_long_ones(const std::vector<Measured>& found, const Complaints& complaints) {
  for (const Measured& measured : found)
    if (!measured.fault.empty())
      complaints.begin() << plain(measured.measurement.label) << " takes too long: " << measured.fault << "\n";
}

// Completes labels that are cut, or that have the operation only, as in traces of earlier versions for a client's task.
void name_interface(std::vector<Measurement>& found, const std::string& interface, const std::string& operation) {
  std::vector<Measurement> named;
  for (Measurement& measurement : found) {
    std::string& label = measurement.label;
    const bool is_bare = label.find_first_of(". ") == std::string::npos && !may_be_cut(label);
    const std::string whole = label_of(interface, is_bare ? label : operation);
    if (is_bare || is_shown_as(label, whole)) label = whole;
    add(named, {std::move(measurement)});
  }
  found = std::move(named);
}

bool is_wanted(const Measurement& measurement, const MeasureOptions& options) {
  const std::string& label = measurement.label;
  const std::string operation = operation_of(label);
  return (options.operation.empty() || label == options.operation || operation == options.operation) &&
         (options.interface.empty() || label == label_of(options.interface, operation));
}

// Returns which jobs were sought, and which there are instead.
std::string none_found(const MeasureOptions& options, const std::vector<Measurement>& found) {
  std::string text = "no job of " + (options.operation.empty() ? "any task" : options.operation);
  if (!options.interface.empty()) text += " of " + options.interface;
  text += options.run.empty() ? " ended in what was recorded" : " came and ended while the program ran";
  std::vector<std::string> labels;
  for (const Measurement& measurement : found) labels.push_back(measurement.label);
  return text + (labels.empty() ? "; only operations with a contract are tasks"
                                : "; there are jobs of " + core::listed(labels));
}

// Returns whether the file of slowdowns can have those that will be measured. If not, complains before anything is
// called.
bool may_write_slowdowns(const MeasureOptions& options, const Complaints& complaints) {
  if (options.slowdowns.empty()) return true;
  const std::string fault = fault_of_slowdowns_file(options.slowdowns, options.task, labels_beside(options));
  if (!fault.empty()) complaints.begin() << "nothing was called: " << plain(fault) << "\n";
  return fault.empty();
}

// Adds the slowdowns to their file, and prints the table of metrics of all slowdowns that the file has. Returns false
// after a complaint.
bool write_slowdowns(const MeasureOptions& options, const Measurement& m, std::ostream& out,
                     const Complaints& complaints) {
  const auto pairs = add_slowdowns(options.slowdowns, slowdowns_of(m, options.task));
  if (!pairs) return complaints.begin() << plain(pairs.error()) << "\n", false;
  if (options.format == Format::json) return true;
  out << metrics_text(metric_rows(*pairs));
  if (!m.uncounted.empty()) out << "The counts of this run are missing: " << plain(m.uncounted) << "\n";
  out << "\n";
  return true;
}

}  // namespace

int measure(const MeasureOptions& options, std::ostream& out, std::ostream& err) {
  const Complaints complaints{.command = "measure", .out = err};
  if (!may_write_slowdowns(options, complaints)) return 1;
  MeasuredCalls calls(options, complaints);
  const bool is_called = !options.call.reference.empty();
  Measurements found = is_called              ? calls.measure()
                       : options.request != 0 ? by_program(options, complaints)
                                              : by_files(options.files, complaints);
  if (!found) return 1;
  const std::string& interface = options.interface.empty() ? calls.interface() : options.interface;
  if (!interface.empty()) name_interface(*found, interface, options.operation);
  std::vector<Measurement> wanted;
  std::ranges::copy_if(*found, std::back_inserter(wanted),
                       [&](const auto& m) { return is_called || is_wanted(m, options); });
  if (wanted.empty()) {
    complaints.begin() << plain(none_found(options, *found)) << "\n";
    return 1;
  }
  std::vector<Measured> measured;
  for (Measurement& one : wanted) measured.push_back(measured_of(std::move(one), options, interface));
  out << text_of(measured, options);
  if (!options.slowdowns.empty() && !write_slowdowns(options, measured[0].measurement, out, complaints)) return 1;
  if (options.write.empty()) {
    complain_of_long_ones(measured, complaints);
    return std::ranges::all_of(measured, [](const Measured& one) { return one.fault.empty(); }) ? 0 : 1;
  }
  if (!write_contracts(options, measured, complaints)) return 1;
  out << (options.format == Format::table ? "written to " + plain(options.write) + "\n" : "");
  return 0;
}

}  // namespace corelane::tool
