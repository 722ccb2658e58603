#include "services/corelane/measure/measure.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <ostream>
#include <utility>

#include "orb/core/text/spelling.h"
#include "orb/os/clock.h"
#include "services/corelane/host/server_page.h"
#include "services/corelane/measure/co_run.h"
#include "services/corelane/measure/contracts_writer.h"
#include "services/corelane/measure/measured_calls.h"
#include "services/corelane/measure/measured_operation.h"
#include "services/corelane/measure/measured_text.h"
#include "services/corelane/measure/measurement.h"
#include "services/corelane/measure/shared_cache.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

// Returns the measurements in traces that exist already.
Measurements by_files(const std::vector<std::string>& files, const Complaints& complaints) {
  std::vector<sched::TraceFile> traces;
  for (const std::string& file : files) {
    auto trace = load_trace(file, complaints);
    if (!trace) return std::nullopt;
    traces.push_back(std::move(*trace));
  }
  return measurements_of(traces);
}

// Runs the program of the options, if they name one, and returns the measurements that the server then traces.
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

// Reports operations that need more than their deadline allows, if no file is written that would say so.
void complain_of_long_ones(const std::vector<MeasuredOperation>& found, const Complaints& complaints) {
  for (const MeasuredOperation& measured : found)
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
  if (!may_write_slowdowns(options, complaints) || !may_write_contracts(options, complaints)) return 1;
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
  std::vector<MeasuredOperation> measured;
  for (Measurement& one : wanted) measured.push_back(measured_of(std::move(one), options, interface));
  out << measured_text(measured, options);
  if (!options.slowdowns.empty() && !write_slowdowns(options, measured[0].measurement, out, complaints)) return 1;
  if (options.write.empty()) {
    complain_of_long_ones(measured, complaints);
    return std::ranges::all_of(measured, [](const MeasuredOperation& one) { return one.fault.empty(); }) ? 0 : 1;
  }
  if (!write_contracts(options, measured, complaints)) return 1;
  out << (options.format == Format::table ? "written to " + plain(options.write) + "\n" : "");
  return 0;
}

}  // namespace corelane::tool
