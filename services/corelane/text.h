// Words and numbers for people.
// Threads: pure. Allocates.
#pragma once

#include <string>
#include <string_view>

#include "orb/base/time.h"

namespace corelane::tool {

// As printf(3); at most 255 characters.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

// In the largest unit that keeps three digits: "12.3us".
std::string brief(Duration duration);

// Printable, so that a name from elsewhere cannot play with the terminal.
std::string plain(std::string_view text);

}  // namespace corelane::tool
