// Which host and which process this is, in terms that another process can check.
// Threads: any but real-time ones (reads /proc).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corelane::os {

// Two processes with equal identities see one clock and one set of process ids.
struct HostIdentity {
  std::string boot_id;               // of the kernel: changes with each boot; "" when /proc is not readable
  std::uint64_t time_namespace = 0;  // inode numbers; 0 where the kernel has none
  std::uint64_t pid_namespace = 0;

  friend bool operator==(const HostIdentity&, const HostIdentity&) = default;
};

// Read once.
const HostIdentity& this_host();

// Of this process, read once: its inode number, 0 where /proc is not readable. Processes of one host with equal ones
// see the same files at the same paths, but for those that changed their root.
std::uint64_t mount_namespace();

// As the system was told; "" when it does not say. Nothing makes it unique.
std::string host_name();

// An address of one of this host's interfaces that are up.
struct HostAddress {
  std::string text;  // "192.0.2.7", "2001:db8::7", "fe80::1%eth0"
  bool ipv6 = false;
  bool loopback = false;    // reaches this host alone
  bool link_local = false;  // reaches one network alone, and needs its scope there

  friend bool operator==(const HostAddress&, const HostAddress&) = default;
};

// In the order in which the system gives them; none when it does not say.
std::vector<HostAddress> host_addresses();

// The file that this process runs; "" where /proc is not readable. It ends with " (deleted)" where that is no longer
// there.
std::string program_path();

// Whether a shell takes the path as it is, so that it can stand in a command for people: letters, digits, /, ., _ and
// -.
bool is_plain_path(std::string_view path);

// A pid is used again, a pid with its start time is not.
struct ProcessIdentity {
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;  // clock ticks after boot, field 22 of /proc/<pid>/stat

  friend constexpr bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

ProcessIdentity this_process();
// Of whatever has that pid now; nothing when there is none, or when /proc hides it.
std::optional<ProcessIdentity> identity_of(std::int32_t pid);

// Whether that very process still runs. A zombie has ended.
bool is_alive(const ProcessIdentity& process);

}  // namespace corelane::os
