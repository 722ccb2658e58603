#include "orb/os/threads/thread_state.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

#include "orb/os/fd.h"

namespace corelane::os {
namespace {

using Text = std::array<char, 512>;

// Returns the beginning of a file of /proc; empty if it cannot be read.
std::string_view read_text(const char* path, Text& room) noexcept {
  const Fd file(::open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t count = file ? ::read(file.get(), room.data(), room.size()) : -1;
  return count > 0 ? std::string_view(room.data(), static_cast<std::size_t>(count)) : std::string_view{};
}

}  // namespace

// Parses "<time on a core> <time ready> <times it ran>"; the times are in nanoseconds.
std::optional<Duration> run_delay() noexcept {
  Text room;
  std::string_view text = read_text("/proc/thread-self/schedstat", room);
  const std::size_t space = text.find(' ');
  if (space == text.npos) return std::nullopt;
  text.remove_prefix(space + 1);
  std::int64_t delay = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), delay);
  if (fault != std::errc{}) return std::nullopt;
  return Duration{delay};
}

// Parses "<tid> (<name>) <state> ..."; the name may contain any characters.
bool is_asleep(pid_t tid) noexcept {
  std::array<char, 64> path{"/proc/self/task/"};
  constexpr std::size_t prefix = 16;
  const auto [end, fault] = std::to_chars(path.data() + prefix, path.data() + 40, tid);
  if (tid <= 0 || fault != std::errc{}) return false;
  std::string_view("/stat").copy(end, 5);
  Text room;
  const std::string_view text = read_text(path.data(), room);
  const std::size_t name_end = text.rfind(')');
  if (name_end == text.npos || name_end + 2 >= text.size()) return false;
  return text[name_end + 2] == 'S' || text[name_end + 2] == 'D';
}

}  // namespace corelane::os
