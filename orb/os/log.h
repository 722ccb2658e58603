// Four functions and a level: all that the program says about itself, one line each on standard error. Control
// characters in a line, as another program's text may have them, come out as question marks. Threads: any but real-time
// ones: they write, take a lock, and may wait for the terminal.
#pragma once

#include <cstdint>
#include <string_view>

namespace corelane::os::log {

enum class Level : std::uint8_t { debug, info, warn, error, off };

// Lines below the level are dropped. At start: info.
void set_level(Level level) noexcept;

void debug(std::string_view line) noexcept;
void info(std::string_view line) noexcept;
void warn(std::string_view line) noexcept;
void error(std::string_view line) noexcept;

}  // namespace corelane::os::log
