// read_toml() reads a TOML file that a user named, and refuses content that would crash the parser.
// Threads: any but real-time ones: it reads files and allocates.
//
// The folder orb/core/text reads TOML files, and finds the known name that a user probably meant. It knows no setting
// and no contract.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "orb/base/expected.h"
#include "orb/core/settings_fault.h"

namespace corelane::core {

// `what` describes the file in messages, such as "configuration file". Bounds: 1 MiB, and 1000 dots in a line. Each dot
// may nest a table in another, and the parser recurses once for each.
Expected<std::string, SettingsFault> read_toml(std::string_view what, const std::string& path);
// Returns what content of the text would crash the parser; nothing if it may be parsed. `path` is for the fault.
std::optional<SettingsFault> nesting_fault_of(std::string_view text, const std::string& path);

// A place in a file. Both numbers start at 1, the column in characters; 0: not known.
struct FilePlace {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};
// Returns the beginning of an error message: "corelane.toml:3:7: ".
std::string text_of(const std::string& file, FilePlace place);

// Returns the parser's message about a line of the text (from 1). Names of tables are left out, since the parser
// garbles names with quotes. If the line lacks quotes, the message shows the line with quotes.
std::string toml_fault(std::string_view description, std::string_view text, std::size_t line);

}  // namespace corelane::core
