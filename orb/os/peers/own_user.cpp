#include "orb/os/peers/own_user.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>

#include "orb/os/fd.h"

namespace corelane::os {
namespace {

constexpr id_t usual_overflow = 65534;
constexpr std::uint64_t all_numbers = 4294967295;  // except (uid_t)-1, which is no user

// Holds the beginning of the file. A longer map has more than one line, and the rest counts as unmapped.
using ProcText = std::array<char, 4096>;

std::string_view text_of_proc(const char* path, ProcText& room) noexcept {
  const Fd file(::open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t got = ::read(file.get(), room.data(), room.size());
  return {room.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

id_t overflow_in(const char* path) noexcept {
  ProcText room;
  const std::string_view text = text_of_proc(path, room);
  id_t found = usual_overflow;
  std::from_chars(text.data(), text.data() + text.size(), found);
  return found;
}

// Returns the third number of a line: how many users or groups it maps.
std::uint64_t mapped_by(std::string_view line) noexcept {
  const auto last = line.find_last_of(" \t");
  if (last == std::string_view::npos) return 0;
  std::uint64_t count = 0;
  std::from_chars(line.data() + last + 1, line.data() + line.size(), count);
  return count;
}

bool maps_everybody(std::string_view id_map) noexcept {
  std::uint64_t mapped = 0;
  while (!id_map.empty()) {  // bound: the text
    const std::string_view line = id_map.substr(0, id_map.find('\n'));
    id_map.remove_prefix(line.size() < id_map.size() ? line.size() + 1 : line.size());
    mapped += mapped_by(line);
  }
  return mapped >= all_numbers;
}

}  // namespace

bool is_own_user(uid_t user, uid_t own, uid_t overflow, std::string_view uid_map) noexcept {
  return user == own && (user != overflow || maps_everybody(uid_map));
}

bool runs_as_root() noexcept { return ::geteuid() == 0; }

bool is_own_user(uid_t user) noexcept { return is_one_user(user, ::geteuid()); }

bool is_one_user(uid_t user, uid_t other) noexcept {
  if (user != other) return false;
  static const uid_t overflow = overflow_in("/proc/sys/kernel/overflowuid");
  if (user != overflow) return true;
  ProcText room;
  return is_own_user(user, other, overflow, text_of_proc("/proc/self/uid_map", room));
}

bool is_known_group(gid_t group, gid_t overflow, std::string_view gid_map) noexcept {
  return group != overflow || maps_everybody(gid_map);
}

bool is_known_group(gid_t group) noexcept {
  static const gid_t overflow = overflow_in("/proc/sys/kernel/overflowgid");
  if (group != overflow) return true;
  ProcText room;
  return is_known_group(group, overflow, text_of_proc("/proc/self/gid_map", room));
}

}  // namespace corelane::os
