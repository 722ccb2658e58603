#include "services/corelane/evaluate/pdf_figures.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "orb/base/text/one_line.h"
#include "orb/os/process/child_process.h"

namespace corelane::tool {
namespace {

constexpr const char* converter = "rsvg-convert";

// Runs the converter. Returns what it printed if it failed; nothing if it succeeded.
std::optional<std::string> failure_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), converter);
  try {
    os::ChildProcess program(arguments, {.joins_errors = true});
    program.end_input();
    const std::string printed = program.read_all().value_or("");
    const auto status = program.wait();
    if (status && status->ok()) return std::nullopt;
    return printed.empty() && status ? status->text() : as_one_line(printed);
  } catch (const std::system_error& fault) {
    return std::string(fault.what());
  }
}

}  // namespace

std::string fault_of_pdf() {
  if (!failure_of({"--version"})) return {};
  return std::string("--pdf needs the program ") + converter +
         ", which cannot be started; install it (Debian: librsvg2-bin), or leave --pdf out";
}

std::string write_pdf(const std::string& svg) {
  const std::string pdf = std::filesystem::path(svg).replace_extension(".pdf").string();
  const auto failure = failure_of({"--format", "pdf", "--output", pdf, "--", svg});
  return failure
             ? pdf + " cannot be written (" + converter + ": " + *failure + "); name another directory for --figures"
             : std::string();
}

}  // namespace corelane::tool
