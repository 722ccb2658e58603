#include "orb/os/machine/host.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <system_error>

namespace corelane::os {
namespace {

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::uint64_t inode_of(const char* path) {
  struct stat found {};
  return stat(path, &found) == 0 ? found.st_ino : 0;
}

struct ProcessState {
  char state = '?';
  std::uint64_t start_ticks = 0;
};

// Reads fields 3 and 22 of /proc/<process>/stat. The name in field 2 may contain blanks and parentheses, so it counts
// from the name's end.
std::optional<ProcessState> read_state(const std::string& process) {
  const std::string line = first_line(("/proc/" + process + "/stat").c_str());
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  ProcessState found;
  fields >> found.state;
  std::string skipped;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  if (!(fields >> found.start_ticks)) return std::nullopt;
  return found;
}

// Returns nothing for an interface that is down or has no IP address.
std::optional<HostAddress> address_of(const ifaddrs& entry) {
  if (entry.ifa_addr == nullptr || (entry.ifa_flags & IFF_UP) == 0) return std::nullopt;
  const int family = entry.ifa_addr->sa_family;
  if (family != AF_INET && family != AF_INET6) return std::nullopt;
  HostAddress found{.text = {}, .ipv6 = family == AF_INET6, .loopback = (entry.ifa_flags & IFF_LOOPBACK) != 0};
  char text[INET6_ADDRSTRLEN + IF_NAMESIZE + 1] = "";
  const auto size = static_cast<socklen_t>(found.ipv6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
  if (getnameinfo(entry.ifa_addr, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) return std::nullopt;
  found.text = text;
  if (found.ipv6)
    found.link_local = IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(entry.ifa_addr)->sin6_addr);
  else
    found.link_local = found.text.starts_with("169.254.");  // RFC 3927
  return found;
}

}  // namespace

const HostIdentity& this_host() {
  static const HostIdentity identity{.boot_id = first_line("/proc/sys/kernel/random/boot_id"),
                                     .time_namespace = inode_of("/proc/self/ns/time"),
                                     .pid_namespace = inode_of("/proc/self/ns/pid")};
  return identity;
}

std::uint64_t mount_namespace() {
  static const std::uint64_t inode = inode_of("/proc/self/ns/mnt");
  return inode;
}

std::vector<HostAddress> host_addresses() {
  ifaddrs* raw = nullptr;
  if (getifaddrs(&raw) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> list(raw, &freeifaddrs);
  std::vector<HostAddress> found;
  for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next)  // bound: the interfaces
    if (auto address = address_of(*entry)) found.push_back(std::move(*address));
  return found;
}

std::string program_path() {
  std::error_code failure;
  return std::filesystem::read_symlink("/proc/self/exe", failure);
}

bool is_plain_path(std::string_view path) {
  return std::ranges::all_of(
      path, [](unsigned char c) { return std::isalnum(c) != 0 || c == '/' || c == '.' || c == '_' || c == '-'; });
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

ProcessIdentity this_process() {
  // Read "self" and not the pid: /proc may belong to another pid namespace, in which another process has this number.
  const auto state = read_state("self");
  return {.pid = static_cast<std::int32_t>(getpid()), .start_ticks = state ? state->start_ticks : 0};
}

std::optional<ProcessIdentity> identity_of(std::int32_t pid) {
  const auto state = read_state(std::to_string(pid));
  if (!state) return std::nullopt;
  return ProcessIdentity{.pid = pid, .start_ticks = state->start_ticks};
}

bool is_alive(const ProcessIdentity& process) {
  if (process.pid <= 0) return false;
  if (kill(process.pid, 0) != 0 && errno == ESRCH) return false;
  const auto state = read_state(std::to_string(process.pid));
  // With hidepid, /proc does not show other users' processes. Then the result of kill() counts.
  if (!state) return kill(process.pid, 0) == 0 || errno == EPERM;
  return state->start_ticks == process.start_ticks && state->state != 'Z' && state->state != 'X';
}

}  // namespace corelane::os
