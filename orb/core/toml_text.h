// read_toml(): the text of a TOML file that a user named, after what a parser would not survive is ruled out.
// Threads: any but real-time ones: it reads files and allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "orb/base/expected.h"
#include "orb/core/settings_fault.h"

namespace corelane::core {

// `what` the file is, for messages: "configuration file". At most 1 MiB, and 1000 dots in a line: each may nest a table
// in another, and the parser goes down as deep.
Expected<std::string, SettingsFault> read_toml(std::string_view what, const std::string& path);

// From 1, in characters; 0 where it is not known.
struct FilePlace {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};
// What a fault begins with: "corelane.toml:3:7: ".
std::string text_of(const std::string& file, FilePlace place);

// What the parser says of a line of the text (from 1), without the names of tables, which it spoils where they have
// quotes; and how the line is written with quotes, where it lacks them.
std::string toml_fault(std::string_view description, std::string_view text, std::size_t line);

}  // namespace corelane::core
