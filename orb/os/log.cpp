#include "orb/os/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "orb/base/text/one_line.h"
#include "orb/os/process/broken_pipe_guard.h"
#include "orb/os/process/error_capture.h"
#include "orb/os/process/size_limit_guard.h"

namespace corelane::os::log {
namespace {

// Never destroyed: a thread may still log while the process ends.
spdlog::logger& logger() {
  static spdlog::logger& instance = *[] {
    auto* const made = new spdlog::logger("corelane", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l: %v");
    return made;
  }();
  return instance;
}

void write(spdlog::level::level_enum level, std::string_view line) noexcept {
  const SizeLimitGuard in_size;     // standard error may be a file
  const BrokenPipeGuard to_nobody;  // or a pipe without a reader: the line is lost, the process goes on
  logger().log(level, spdlog::string_view_t{line.data(), line.size()});  // spdlog's error handler gets its errors
}

void write_line(spdlog::level::level_enum level, std::string_view line) noexcept try {
  if (!logger().should_log(level)) return;
  constexpr auto is_plain = [](char c) { return c >= ' ' && c < '\x7f'; };
  if (std::all_of(line.begin(), line.end(), is_plain)) return write(level, line);
  write(level, as_one_line(line));
} catch (const std::bad_alloc&) {
  write(level, "a line of the log is lost: there is no memory for it");
}

}  // namespace

void set_level(Level level) noexcept {
  static constexpr spdlog::level::level_enum levels[] = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                                         spdlog::level::err, spdlog::level::off};
  logger().set_level(levels[static_cast<std::size_t>(level)]);
}

void debug(std::string_view line) noexcept { write_line(spdlog::level::debug, line); }
void info(std::string_view line) noexcept { write_line(spdlog::level::info, line); }
void warn(std::string_view line) noexcept { write_line(spdlog::level::warn, line); }
void error(std::string_view line) noexcept {
  if (!ErrorCapture::keep(line)) write_line(spdlog::level::err, line);
}

}  // namespace corelane::os::log
