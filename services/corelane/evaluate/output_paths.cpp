#include "services/corelane/evaluate/output_paths.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "services/corelane/output/output_file.h"

namespace corelane::tool {
namespace {

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code fault;
  if (std::filesystem::equivalent(a, b, fault)) return true;
  const auto resolved = [](const std::string& path) {
    std::error_code unknown;
    const std::filesystem::path whole = std::filesystem::absolute(path, unknown).lexically_normal();
    const std::filesystem::path real = std::filesystem::weakly_canonical(whole, unknown);
    return unknown ? whole : real;
  };
  return resolved(a) == resolved(b);
}

// Returns false if the directory certainly cannot be made, or can hold no new files. Does not make it.
bool may_hold_files(const std::string& directory) {
  std::error_code fault;
  std::filesystem::path place = std::filesystem::absolute(directory, fault);
  while (!std::filesystem::exists(place, fault) && place.has_relative_path()) place = place.parent_path();
  return std::filesystem::is_directory(place, fault) && ::access(place.c_str(), W_OK | X_OK) == 0;
}

}  // namespace

std::string output_of(const EvaluateOptions& options) {
  if (!options.output.empty()) return options.output;
  return std::filesystem::path(options.file).stem().string() + (options.quick ? quick_suffix : "") + ".csv";
}

std::string fault_of_outputs(const EvaluateOptions& options, const std::string& output) {
  if (is_same_file(output, options.file))
    return output + " is the scenario, and the results would go into it; name another file with --output";
  if (!options.figures.empty() && !may_hold_files(options.figures))
    return options.figures + " cannot be written; name another directory for --figures";
  if (options.report.empty()) return {};
  if (is_same_file(options.report, options.file))
    return options.report + " is the scenario, and the report would replace it; name another file with --report";
  if (is_same_file(options.report, output))
    return options.report + " is the file of results, and the report would replace it; name another file with --report";
  const std::string fault = fault_of_output_file(options.report);
  return fault.empty() ? fault : fault + ": --report FILE";
}

}  // namespace corelane::tool
