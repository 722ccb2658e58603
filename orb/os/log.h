// The log: one function per level. Each call writes one line to standard error. Control characters, which texts of
// other programs may contain, become question marks. Threads: any but real-time ones, because these functions write,
// take a lock, and may wait for the terminal.
#pragma once

#include <cstdint>
#include <string_view>

namespace corelane::os::log {

enum class Level : std::uint8_t { debug, info, warn, error, off };

// Drops lines below the level from now on. The initial level is info.
void set_level(Level level) noexcept;

void debug(std::string_view line) noexcept;
void info(std::string_view line) noexcept;
void warn(std::string_view line) noexcept;
void error(std::string_view line) noexcept;

}  // namespace corelane::os::log
