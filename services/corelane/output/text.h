// Formats words and numbers for people.
// Threads: pure. Allocates.
//
// The folder services/corelane/output formats what commands print.
#pragma once

#include <string>
#include <string_view>

#include "orb/base/time.h"

namespace corelane::tool {

// Formats as printf(3); at most 255 characters.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

// Formats in the largest unit that keeps three digits: "12.3us".
std::string brief(Duration duration);

// Returns the lines below a task that is refused, wrapped.
std::string refusal_lines(const std::string& refusal);

// Returns printable text, so that a name from another process cannot control the terminal.
std::string plain(std::string_view text);

}  // namespace corelane::tool
