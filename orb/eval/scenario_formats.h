// Files with tasks in other formats than TOML: the JSON of rt-app, the XML of SimSo, and the CSV of the schedulability
// analyzer np-schedulability-analysis. parse_scenario() (scenario_file.h) reads all of them, and recognizes each by its
// content. These functions write them.
//
// Threads: any but real-time ones: they allocate.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/registry.h"
#include "orb/base/time.h"
#include "orb/eval/scenario.h"

namespace corelane::eval {

// Choices of the caller for files without units.
struct FormatOptions {
  Duration tick = std::chrono::microseconds{1};  // what one unit of time means in jobs CSV; above 0
};

// A scenario as text, and what the format cannot express: a sentence for each kind of value that was left out.
struct WrittenScenario {
  std::string text;
  std::vector<std::string> notes{};
};

struct ScenarioFormat {
  std::string_view name;
  std::string_view ending;  // of files, with its dot
  std::string_view help;    // behind the name and a colon
  std::size_t longest;      // file, in bytes
  // Returns whether a text that is no TOML looks like this format. Null: the format is TOML.
  bool (*fits)(std::string_view text);
  // Reads what `fits` has accepted. The fault names the file, and the task or the line. Null: the format is TOML.
  Expected<Scenario, ScenarioFault> (*read)(std::string_view text, const std::string& path,
                                            const FormatOptions& options);
  // `scenario` has listed tasks only; see as_listed() in task_set.h. The fault says what cannot be written at all.
  Expected<WrittenScenario, ScenarioFault> (*write)(const Scenario& scenario, const FormatOptions& options);
};

// The first is TOML.
Registry<ScenarioFormat> scenario_formats() noexcept;
// Returns the format of files with the ending of this path; null if there is none.
const ScenarioFormat* format_of_path(std::string_view path) noexcept;
// Returns the format of a text: TOML if no other format fits. Ignores a byte order mark.
const ScenarioFormat& format_of_text(std::string_view text) noexcept;

// Reads a file in any of the formats. The checks of TOML (core::read_toml) apply to TOML alone. A fault says that the
// file cannot be read, or is longer than its format allows.
Expected<std::string, ScenarioFault> read_scenario_file(const std::string& path);

}  // namespace corelane::eval
