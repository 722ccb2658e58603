#include "services/corelane/measure.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <thread>

#include "orb/core/contracts_file.h"
#include "orb/dispatch/counter_page.h"
#include "orb/os/clock.h"
#include "orb/os/small_file.h"
#include "services/corelane/json_text.h"
#include "services/corelane/measurement.h"
#include "services/corelane/text.h"

namespace corelane::tool {
namespace {

using Found = std::optional<std::vector<Measurement>>;  // nothing: it complained

Found by_files(const std::vector<std::string>& files, const Complaints& complaints) {
  std::vector<Measurement> sum;
  for (const std::string& file : files) {
    const auto trace = load_trace(file, complaints);
    if (!trace) return std::nullopt;
    add(sum, measurements_of(*trace));
  }
  return sum;
}

Found by_request(const MeasureOptions& options, int pid, const Selection& selection, const Complaints& complaints) {
  const auto path = request_trace(options.directory, pid, options.wait, complaints);
  if (!path) return std::nullopt;
  const auto trace = load_trace(*path, complaints);
  if (!trace) return std::nullopt;
  return measurements_of(*trace, selection);
}

Found by_program(const MeasureOptions& options, const Complaints& complaints) {
  const Time start = options.run.empty() ? Time{} : os::now();
  if (!options.run.empty() && std::system(options.run.c_str()) != 0) {
    complaints.begin() << "this failed, so nothing was measured: " << plain(options.run) << "\n";
    return std::nullopt;
  }
  return by_request(options, options.request, {.since = start}, complaints);
}

// The server that has the task. Its page is written twice a second.
std::optional<int> server_of(const MeasureOptions& options, TaskId task) {
  const auto is_ours = [&](const dispatch::TaskCounters& found) {
    return found.task == task && found.label == options.call.operation && found.contract == options.call.contract;
  };
  const Time patience = os::now() + options.wait;
  do {  // bound: the patience
    std::vector<int> pids;
    for (const dispatch::ProcessCounters& page : dispatch::read_pages(options.directory))
      if (std::ranges::any_of(page.tasks, is_ours)) pids.push_back(page.pid);
    if (pids.size() == 1) return pids.front();
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  } while (os::now() < patience);
  return std::nullopt;
}

Found by_calls(const MeasureOptions& options, std::string& interface, const Complaints& complaints) {
  Found found;
  const auto look = [&](const CalledTask& called) {
    if (interface.empty()) interface = called.repository_id;
    const auto pid = options.request != 0 ? options.request : server_of(options, called.task);
    if (!pid) {
      complaints.begin() << "no server with runtime.directory " << plain(options.directory)
                         << " shows the task; name that directory, and the server with --request PID. It must run on "
                            "this host\n";
      return false;
    }
    found = by_request(options, *pid, {.only = called.task}, complaints);
    if (found && called.raised > 0)
      complaints.begin() << called.raised << " of " << called.raised + called.answered
                         << " calls ended with an exception of the operation\n";
    return found.has_value();
  };
  if (!call(options.call, look, complaints)) return std::nullopt;
  return found;
}

std::string count_of(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// What would go into a contracts file.
struct Proposal {
  std::string repository_id, operation;
  Contract contract;
  std::string entry;
  std::string fault{};  // why the entry is a comment: no contract can have this budget

  std::string key() const { return "[\"" + repository_id + "\"." + operation + "]"; }
};

struct Measured {
  Measurement measurement;
  std::optional<Proposal> proposal{};  // nothing: of no known interface, or without a contract
};

// Why no contract can have the proposed budget; "": one can, or there is none.
std::string fault_of_proposed(const Measurement& measurement, int margin) {
  if (!measurement.contract) return {};
  Contract contract = *measurement.contract;
  contract.budget = proposed_budget(measurement, margin);
  return fault_of(contract).value_or("");
}

std::optional<Proposal> proposal_of(const Measurement& measurement, const std::string& interface, int margin) {
  const auto id = interface.empty() ? repository_id_of(measurement.label) : std::optional(interface);
  if (!id || !measurement.contract) return std::nullopt;
  Proposal proposal{.repository_id = *id,
                    .operation = operation_of(measurement.label),
                    .contract = *measurement.contract,
                    .entry = {}};
  proposal.contract.budget = proposed_budget(measurement, margin);
  proposal.entry = contracts_entry(
      proposal.repository_id, proposal.operation, proposal.contract,
      count_of(measurement.used.size(), "job") + " measured, the longest took " + brief(measurement.used.back()));
  proposal.fault = fault_of_proposed(measurement, margin);
  if (!proposal.fault.empty()) proposal.entry = set_aside(proposal.entry, proposal.fault);
  return proposal;
}

std::string table_of(const Measurement& m, int margin) {
  std::string text =
      plain(m.label) + ": " + count_of(m.used.size(), "job") + " of " + count_of(m.tasks.size(), "task") + "\n";
  text += "  execution  p50 " + brief(m.quantile(500'000)) + "  p99 " + brief(m.quantile(990'000)) + "  longest " +
          brief(m.used.back()) + "\n";
  if (m.contract)
    text += "  contract   period " + to_string(m.contract->period) + "  deadline " + to_string(m.contract->deadline) +
            "  budget " + to_string(m.contract->budget) + "; overruns " + std::to_string(m.overruns) + ", misses " +
            std::to_string(m.misses) + "\n";
  if (m.least_gap) text += "  calls      at least " + brief(*m.least_gap) + " apart\n";
  text += "  budget     " + to_string(proposed_budget(m, margin)) + ": the longest and " + std::to_string(margin) +
          " % more\n";
  if (!fault_of_proposed(m, margin).empty())
    text += "  TOO LONG   no contract with deadline " + to_string(m.contract->deadline) +
            " can have this budget; shorten the work, or give it a longer deadline\n";
  if (m.used.size() < few_samples)
    text += "  so few jobs say little about the longest; measure " + std::to_string(few_samples) + " at least\n";
  return text;
}

nlohmann::ordered_json json_of(const Measurement& m, const std::optional<Proposal>& proposal, int margin) {
  nlohmann::ordered_json json{{"operation", m.label},
                              {"jobs", m.used.size()},
                              {"tasks", nlohmann::ordered_json::array()},
                              {"execution_p50_ns", m.quantile(500'000).count()},
                              {"execution_p99_ns", m.quantile(990'000).count()},
                              {"execution_max_ns", m.used.back().count()},
                              {"overruns", m.overruns},
                              {"misses", m.misses},
                              {"margin_percent", margin},
                              {"proposed_budget_ns", proposed_budget(m, margin).count()},
                              {"samples_ns", nlohmann::ordered_json::array()}};
  for (const TaskId task : m.tasks) json["tasks"].push_back(task.value);
  for (const Duration used : m.used) json["samples_ns"].push_back(used.count());
  if (m.least_gap) json["least_gap_ns"] = m.least_gap->count();
  if (m.contract) json["budget_ns"] = m.contract->budget.count();
  if (proposal) json["contracts_file"] = proposal->entry;
  if (proposal && !proposal->fault.empty()) json["fault"] = proposal->fault;
  return json;
}

std::string text_of(const std::vector<Measured>& found, const MeasureOptions& options) {
  auto json = nlohmann::ordered_json::array();
  std::string text;
  for (const auto& [measurement, proposal] : found) {
    json.push_back(json_of(measurement, proposal, options.margin));
    text += table_of(measurement, options.margin);
    if (proposal) text += "\n" + proposal->entry;
    text += "\n";
  }
  if (options.format == Format::table) return text;
  return json_lines(json);
}

// ---- Contracts file ----

std::string_view line_at(std::string_view text, std::size_t at) {
  return text.substr(at, std::min(text.find('\n', at), text.size() - 1) + 1 - at);
}

// Takes out what an earlier run had set aside for the same table: see set_aside().
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

// What is wrong with adding it; empty: nothing, and `text` has it.
std::string add_to(std::string& text, const std::string& path, const Measured& measured) {
  const auto& [measurement, proposal] = measured;
  if (!proposal)
    return measurement.label + (measurement.contract ? " names no interface: say which with --interface IDL:...:1.0"
                                                     : " has no contract in the trace: its beginning was overwritten; "
                                                       "a larger recorder.size keeps it");
  // What was there and the table are each well-formed.
  if (!core::ContractsFile::parse(text + "\n" + proposal->key() + "\nimportance = 0\n", path))
    return "it has a table for " + proposal->operation + " of " + proposal->repository_id + " already; " +
           (proposal->fault.empty() ? "put there: budget = \"" + to_string(proposal->contract.budget) + "\""
                                    : "measured, it would be wrong: " + proposal->fault);
  drop_set_aside(text, proposal->key());
  text += (text.empty() ? "" : "\n") + proposal->entry;
  return {};
}

// A file that a symbolic link leads to is replaced, and not the link.
std::string target_of(const std::string& path) {
  std::error_code none;
  const auto target = std::filesystem::canonical(path, none);
  return none ? path : target.string();
}

// What is there and well-formed; "" where nothing is. Nothing for a fault, which is told.
std::optional<std::string> text_before(const std::string& path, bool is_there, const Complaints& complaints) {
  constexpr std::size_t largest_file = 1024 * 1024;
  if (!is_there) return "";
  auto before = os::read_small_file(path, largest_file);
  if (!before) return complaints.begin() << plain(before.error().text) << "\n", std::nullopt;
  if (const auto file = core::ContractsFile::parse(*before, path); !file)
    return complaints.begin() << plain(file.error().text) << "\n", std::nullopt;
  return *std::move(before);
}

// By a new file, with the mode of the one before, and its owner where this user may give files away. A fault is told.
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

// Whether each proposal is there, and counts.
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

bool is_wanted(const Measurement& measurement, const std::string& operation) {
  return operation.empty() || measurement.label == operation || operation_of(measurement.label) == operation;
}

}  // namespace

int measure(const MeasureOptions& options, std::ostream& out, std::ostream& err) {
  const Complaints complaints{.command = "measure", .out = err};
  std::string interface = options.interface;
  Found found = !options.call.reference.empty() ? by_calls(options, interface, complaints)
                : options.request != 0          ? by_program(options, complaints)
                                                : by_files(options.files, complaints);
  if (!found) return 1;
  std::erase_if(*found, [&](const Measurement& m) { return !is_wanted(m, options.operation); });
  if (found->empty()) {
    complaints.begin() << "no job of " << (options.operation.empty() ? "any task" : plain(options.operation))
                       << (options.run.empty() ? " ended in what was recorded"
                                               : " came and ended while the program ran")
                       << "; only operations with a contract are tasks\n";
    return 1;
  }
  std::vector<Measured> measured;
  for (Measurement& one : *found) {
    auto proposal = proposal_of(one, interface, options.margin);
    measured.push_back({std::move(one), std::move(proposal)});
  }
  out << text_of(measured, options);
  if (options.write.empty()) return 0;
  if (!write_contracts(options, measured, complaints)) return 1;
  out << (options.format == Format::table ? "written to " + plain(options.write) + "\n" : "");
  return 0;
}

}  // namespace corelane::tool
