#include "services/corelane/evaluate/output_paths.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

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

// Returns false if the file certainly cannot be written. Neither makes nor changes it.
bool may_be_written(const std::string& path) {
  std::error_code fault;
  const std::filesystem::file_status found = std::filesystem::status(path, fault);
  if (std::filesystem::is_directory(found)) return false;
  if (std::filesystem::exists(found) && !std::filesystem::is_regular_file(found))
    return ::access(path.c_str(), W_OK) == 0;  // a device or a pipe
  if (!std::filesystem::exists(found) && std::filesystem::is_symlink(std::filesystem::symlink_status(path, fault)))
    return true;  // the file that the link names does not exist yet, and may be in another folder
  // A regular file is replaced by a new one beside it.
  std::error_code unknown;
  const std::filesystem::path target =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path, unknown), unknown);
  return unknown || ::access(target.parent_path().c_str(), W_OK | X_OK) == 0;
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
  if (!may_be_written(options.report)) return options.report + " cannot be written; name another file for --report";
  return {};
}

}  // namespace corelane::tool
