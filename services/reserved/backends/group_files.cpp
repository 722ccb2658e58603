#include "services/reserved/backends/group_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>

#include "orb/os/clock.h"
#include "orb/os/fd.h"
#include "orb/os/machine/mounts.h"

namespace corelane::reserved {

std::optional<std::string> MountedGroups::read(const std::string& file) const {
  const os::Fd fd(open(absolute(file).c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  std::string text;
  char part[4096];
  for (;;) {                                                    // bound: the file's size
    const ssize_t count = ::read(fd.get(), part, sizeof part);  // bound: the file's size
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    text.append(part, static_cast<std::size_t>(count));
  }
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

int MountedGroups::write(const std::string& file, const std::string& text) {
  const os::Fd fd(open(absolute(file).c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!fd) return errno;
  const std::string line = text + "\n";  // an empty list is a line, too: a write of zero bytes does nothing
  ssize_t count = 0;
  do count = ::write(fd.get(), line.data(), line.size());
  while (count < 0 && errno == EINTR);
  return count < 0 ? errno : 0;
}

int MountedGroups::make(const std::string& group) {
  return mkdir(absolute(group).c_str(), 0755) == 0 || errno == EEXIST ? 0 : errno;
}

int MountedGroups::remove(const std::string& group) {
  return rmdir(absolute(group).c_str()) == 0 || errno == ENOENT ? 0 : errno;
}

bool MountedGroups::has(const std::string& path) const { return access(absolute(path).c_str(), F_OK) == 0; }

std::vector<std::string> MountedGroups::children(const std::string& group) const {
  std::vector<std::string> names;
  std::error_code fault;
  for (std::filesystem::directory_iterator entry(absolute(group), fault), end; !fault && entry != end;
       entry.increment(fault))
    if (std::error_code ignored; entry->is_directory(ignored)) names.push_back(entry->path().filename().string());
  return names;
}

std::string MountedGroups::absolute(const std::string& path) const {
  return path.empty() ? mount_ : mount_ + "/" + path;
}

std::string joined_path(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a + b;
  return a + "/" + b;
}

namespace {

std::vector<int> numbers_in(const std::string& list) {
  std::vector<int> numbers;
  std::istringstream text(list);
  for (int number = 0; text >> number;) numbers.push_back(number);
  return numbers;
}

}  // namespace

std::vector<int> numbers_of(const GroupFiles& groups, const std::string& file) {
  return numbers_in(groups.read(file).value_or(""));
}

std::optional<std::vector<int>> numbers_below(const GroupFiles& groups, const std::string& group,
                                              const std::string& list) {
  const std::string file = joined_path(group, list);
  const auto own = groups.read(file);
  if (!own && groups.has(file)) return std::nullopt;
  std::vector<int> numbers = numbers_in(own.value_or(""));
  for (const std::string& child : groups.children(group)) {  // bound: the groups
    const auto below = numbers_below(groups, joined_path(group, child), list);
    if (!below) return std::nullopt;
    numbers.insert(numbers.end(), below->begin(), below->end());
  }
  return numbers;
}

Expected<void, std::string> put(GroupFiles& groups, const std::string& file, const std::string& text) {
  if (const int fault = groups.write(file, text); fault != 0)
    return "'" + text + "' cannot be written to " + groups.absolute(file) + ": " + errno_text(fault);
  return {};
}

Moved move_all(GroupFiles& groups, const std::string& from, const std::string& to, const std::string& list) {
  constexpr int rounds = 100;  // against processes that fork faster than they are moved
  Moved result;
  for (int round = 0; round < rounds; ++round) {
    unsigned moved = 0;
    std::set<int> unmovable;
    for (const int number : numbers_of(groups, joined_path(from, list))) {
      const int fault = number == 0 ? EINVAL : groups.write(joined_path(to, list), std::to_string(number));
      if (fault == 0) ++moved;
      if (fault == EINVAL) unmovable.insert(number);
      if (fault != 0 && fault != EINVAL && fault != ESRCH) result.fault = fault;
    }
    result.moved += moved;
    result.unmovable = static_cast<unsigned>(unmovable.size());
    if (moved == 0) break;
  }
  return result;
}

int remove_emptied(GroupFiles& groups, const std::string& group, const std::string& to, const std::string& list,
                   int& patience) {
  if (!groups.has(group)) return 0;
  for (const std::string& child : groups.children(group))  // bound: the groups
    if (const int fault = remove_emptied(groups, joined_path(group, child), to, list, patience); fault != 0)
      return fault;
  for (;; --patience) {  // bound: patience
    const Moved moved = move_all(groups, group, to, list);
    const int fault = groups.remove(group);
    if (fault != EBUSY || patience <= 0) return fault;
    if (moved.fault != 0) return moved.fault;
    os::sleep_until(os::now() + std::chrono::milliseconds{1});
  }
}

Mounts find_mounts(const std::string& mountinfo) {
  const auto all = os::read_mounts(mountinfo);
  const auto place_of = [&](std::string_view controller) {
    const auto mount = os::cgroup_mount(all, controller);
    return mount ? mount->point : std::string();
  };
  Mounts mounts{.v1_cpuset = place_of("cpuset"),
                .v1_cpu = place_of("cpu"),
                .v2 = place_of(""),
                .v1_memory = place_of("memory"),
                .v1_blkio = place_of("blkio")};
  if (const auto resctrl = std::ranges::find(all, "resctrl", &os::Mount::type); resctrl != all.end())
    mounts.resctrl = resctrl->point;
  if (!mounts.v2.empty())
    mounts.v2_cpuset = os::has_word(MountedGroups(mounts.v2).read("cgroup.controllers").value_or(""), "cpuset", ' ');
  return mounts;
}

std::string errno_text(int number) {
  const char* name = strerrorname_np(number);
  return std::string(std::strerror(number)) + " (" + (name != nullptr ? name : std::to_string(number)) + ")";
}

}  // namespace corelane::reserved
