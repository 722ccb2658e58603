#include "services/corelane/tune/tune.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>
#include <string_view>
#include <system_error>
#include <utility>

#include "orb/base/text/counted.h"
#include "orb/base/text/one_line.h"
#include "orb/os/files/small_file.h"
#include "orb/os/machine/host_key.h"
#include "services/corelane/output/output_file.h"

namespace corelane::tool {
namespace {

using scale::ParameterSearch;

std::string factor_text(double factor) {
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%.3f", factor);
  return text.data();
}

std::string as_toml_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : as_one_line(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string improvement_text(const scale::Improvement& improvement) {
  return factor_text(improvement.factor) + " times as good as the defaults, with 95 % confidence from " +
         factor_text(improvement.low) + " to " + factor_text(improvement.high) + " (" +
         counted(static_cast<std::size_t>(improvement.pairs), "pair") + ")";
}

// Returns why there is no figure, short enough for one line.
std::string reason_of(const LoadFault& fault) {
  constexpr std::size_t most = 160;
  return as_one_line(fault.text.substr(0, most)) + (fault.text.size() > most ? "..." : "");
}

// `fault`: of the run that the decision came from, if it failed.
void print_decision(const std::vector<TunedParameter>& parameters, const ParameterSearch::Decision& decision,
                    const std::optional<LoadFault>& fault, std::ostream& out) {
  if (decision.event == ParameterSearch::Event::none) return;
  const TunedParameter& parameter = parameters[decision.parameter];
  const std::string& value = parameter.values[decision.value];
  out << parameter.key << " = " << (value.empty() ? "as before" : value) << ":";
  for (const double ratio : decision.ratios) out << " " << factor_text(ratio);
  if (!decision.ratios.empty()) out << ";";
  out << (decision.event == ParameterSearch::Event::won ? " taken" : " dropped");
  if (fault) out << ", because " << reason_of(*fault);
  out << std::endl;
}

struct SearchResult {
  ParameterSearch search;
  std::optional<LoadFault> fault{};  // of the run that ended the validation
};

bool tuning_stops(const TuneOptions& options) { return options.load.is_to_stop && options.load.is_to_stop(); }

LoadFault stopped_run(const TuneOptions& options, const std::string& values) {
  return {"a run of " + as_one_line(options.load.command.front()) + " with " + values +
          " was interrupted, and nothing was written to " + options.output};
}

// Measures until the search has ended, or is to stop. A run that fails with changed values drops these; in the
// validation, its pair is repeated once.
Expected<SearchResult, LoadFault> search_values(const TuneOptions& options,
                                                const std::vector<TunedParameter>& parameters, const RunLoad& run,
                                                std::ostream& out) {
  std::vector<std::size_t> counts;
  for (const TunedParameter& parameter : parameters) counts.push_back(parameter.values.size());
  ParameterSearch search(counts, options.search);
  const scale::ParameterValues defaults(parameters.size());
  for (auto values = search.next(); values; values = search.next()) {
    const bool validated = search.validates();
    const auto figure = run(variables_for(parameters, *values));
    if (tuning_stops(options)) return stopped_run(options, text_of_values(parameters, *values));
    const auto fault = figure ? std::nullopt : std::optional<LoadFault>(figure.error());
    search.take(figure ? std::optional<double>(*figure) : std::nullopt);
    const bool repeats = validated && search.next();
    if (fault && !repeats && *values == defaults) return *fault;
    if (fault && validated && !repeats) return SearchResult{std::move(search), fault};
    if (fault && repeats)
      out << "a run with " << text_of_values(parameters, *values) << " failed: " << reason_of(*fault)
          << "; this pair is repeated" << std::endl;
    print_decision(parameters, search.decision(), fault, out);
    if (!validated && search.validates())
      out << "validating " << text_of_values(parameters, search.best()) << std::endl;
  }
  return SearchResult{std::move(search)};
}

constexpr std::string_view first_line = "# Written by corelane tune.";

// Returns whether the file has something else than an earlier result, such as the user's settings.
bool is_of_another(const std::string& path) {
  std::ifstream file(path);
  std::string begin(first_line.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(file.gcount()));
  return !begin.empty() && begin != first_line;
}

// Returns why the file could not be written after the search; "" if nothing is known that speaks against it.
std::string fault_of_tuned_file(const std::string& path) {
  if (const std::string fault = fault_of_output_file(path); !fault.empty()) return fault + ": --output FILE";
  std::error_code unknown;
  if (std::filesystem::is_regular_file(path, unknown) && is_of_another(path))
    return path + " exists, and corelane tune has not written it; name another file: --output FILE";
  return {};
}

int fail(std::ostream& err, const std::string& text) {
  err << "corelane tune: " << text << "\n";
  return 1;
}

}  // namespace

std::string tuned_text(const std::vector<TunedParameter>& parameters, const ParameterSearch& search,
                       const std::string& command) {
  const os::HostKey host = os::key_of_this_host();
  std::string text = std::string(first_line);
  text += " Values that an option, a variable or corelane.toml sets come first.\n";
  text += "# On another host, kernel or processor this file is ignored.\n[tuned]\n";
  text += "host = " + as_toml_text(host.host) + "\nkernel = " + as_toml_text(host.kernel);
  text += "\nprocessor = " + as_toml_text(host.processor) + "\nload = " + as_toml_text(command) + "\n";
  if (search.improvement()) text += "improvement = " + as_toml_text(improvement_text(*search.improvement())) + "\n";
  return text + toml_of(parameters, search.best());
}

int tune(const TuneOptions& options, const std::vector<TunedParameter>& parameters, const RunLoad& run,
         std::ostream& out, std::ostream& err) {
  if (const std::string fault = fault_of_tuned_file(options.output); !fault.empty()) return fail(err, fault);
  const auto first = run({});
  if (tuning_stops(options)) return fail(err, stopped_run(options, "the defaults").text);
  if (!first) return fail(err, first.error().text);
  out << "with the defaults: " << *first << "\ntrying " << counted(parameters.size(), "setting") << " in at most "
      << counted(static_cast<std::size_t>(options.search.runs), "run")
      << "; each number is a candidate beside the best so far" << std::endl;
  const auto result = search_values(options, parameters, run, out);
  if (!result) return fail(err, result.error().text);
  const ParameterSearch& search = result->search;
  if (!search.improvement()) {
    out << "the defaults stay: "
        << (result->fault ? "a run with the best values failed: " + reason_of(*result->fault)
                          : "no other value was better")
        << "\n";
    return 0;
  }
  out << text_of_values(parameters, search.best()) << ": " << improvement_text(*search.improvement()) << "\n";
  if (!search.is_better()) {
    out << "the defaults stay: the improvement may be chance\n";
    return 0;
  }
  std::string command;
  for (const std::string& word : options.load.command) command += (command.empty() ? "" : " ") + word;
  const auto written = os::write_output_file(options.output, tuned_text(parameters, search, command));
  if (!written) return fail(err, written.error().text + "; name another file: --output FILE");
  out << "written to " << options.output
      << "; programs that start in its directory use corelane.tuned.toml, others with -ORBRuntimeTuned FILE\n";
  return 0;
}

}  // namespace corelane::tool
