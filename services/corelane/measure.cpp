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
    complaints.begin() << "this failed, so nothing was measured: " << options.run << "\n";
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
      complaints.begin() << "no server with runtime.directory " << options.directory
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
};

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
  proposal.fault = fault_of(proposal.contract).value_or("");
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
  if (m.contract && proposed_budget(m, margin) > m.contract->deadline - m.contract->suspension)
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

std::string text_of(const std::vector<Measurement>& found, const MeasureOptions& options,
                    const std::string& interface) {
  auto json = nlohmann::ordered_json::array();
  std::string text;
  for (const Measurement& measurement : found) {
    const auto proposal = proposal_of(measurement, interface, options.margin);
    json.push_back(json_of(measurement, proposal, options.margin));
    text += table_of(measurement, options.margin);
    if (proposal) text += "\n" + proposal->entry;
    text += "\n";
  }
  if (options.format == Format::table) return text;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// What is wrong with adding it; empty: nothing, and `text` has it.
std::string add_to(std::string& text, const std::string& path, const Measurement& measurement,
                   const std::optional<Proposal>& proposal) {
  if (!proposal)
    return measurement.label + (measurement.contract ? " names no interface: say which with --interface IDL:...:1.0"
                                                     : " has no contract in the trace: its beginning was overwritten; "
                                                       "a larger recorder.size keeps it");
  const std::string sum = text + (text.empty() ? "" : "\n") + proposal->entry;
  if (!core::ContractsFile::parse(sum, path))  // what was there and the entry are each well-formed
    return "it has a table for " + proposal->operation + " of " + proposal->repository_id +
           " already; put there: budget = \"" + to_string(proposal->contract.budget) + "\"";
  text = sum;
  return {};
}

// A file that a symbolic link leads to is replaced, and not the link.
std::string target_of(const std::string& path) {
  std::error_code none;
  const auto target = std::filesystem::canonical(path, none);
  return none ? path : target.string();
}

// Of the file that is there; 0: none is.
mode_t mode_of(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_mode & 07777 : 0;
}

bool write_contracts(const MeasureOptions& options, const std::vector<Measurement>& found, const std::string& interface,
                     const Complaints& complaints) {
  constexpr std::size_t largest_file = 1024 * 1024;
  std::string text;
  const bool is_there = static_cast<bool>(std::ifstream(options.write));
  if (is_there) {
    auto before = os::read_small_file(options.write, largest_file);
    if (!before) return complaints.begin() << before.error().text << "\n", false;
    text = std::move(*before);
    if (const auto file = core::ContractsFile::parse(text, options.write); !file)
      return complaints.begin() << file.error().text << "\n", false;
  }
  std::vector<const Measurement*> added;
  std::vector<std::string> faults;
  for (const Measurement& measurement : found) {
    auto bad = add_to(text, options.write, measurement, proposal_of(measurement, interface, options.margin));
    if (bad.empty())
      added.push_back(&measurement);
    else
      faults.push_back(std::move(bad));
  }
  const char* const without = !added.empty() ? " was written without this: "
                              : is_there     ? " was left as it is: "
                                             : " was not made: ";
  for (const std::string& bad : faults) complaints.begin() << options.write << without << bad << "\n";
  if (added.empty()) return false;
  if (const auto written = os::write_small_file(target_of(options.write), text, mode_of(options.write)); !written)
    return complaints.begin() << written.error().text << "\n", false;
  bool all_count = faults.empty();
  for (const Measurement* const measurement : added)
    if (const auto proposal = proposal_of(*measurement, interface, options.margin); !proposal->fault.empty()) {
      complaints.begin() << options.write << " has " << measurement->label << " as a comment alone: " << proposal->fault
                         << "\n";
      all_count = false;
    }
  return all_count;
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
    complaints.begin() << "no job of " << (options.operation.empty() ? "any task" : options.operation)
                       << (options.run.empty() ? " ended in what was recorded"
                                               : " came and ended while the program ran")
                       << "; only operations with a contract are tasks\n";
    return 1;
  }
  out << text_of(*found, options, interface);
  if (options.write.empty()) return 0;
  if (!write_contracts(options, *found, interface, complaints)) return 1;
  out << (options.format == Format::table ? "written to " + options.write + "\n" : "");
  return 0;
}

}  // namespace corelane::tool
