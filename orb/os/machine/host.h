// Identifies this host and this process in terms that another process can check.
// Threads: any but real-time ones (reads /proc).
//
// The folder orb/os/machine tells what this machine has and what this process may use of it: cores, quota, mounts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corelane::os {

// Two processes with equal identities have the same clock and the same process ids.
struct HostIdentity {
  std::string boot_id;               // changes with each boot; "" if /proc is not readable
  std::uint64_t time_namespace = 0;  // inode numbers; 0 if the kernel has none
  std::uint64_t pid_namespace = 0;

  friend bool operator==(const HostIdentity&, const HostIdentity&) = default;
};

// Reads it at the first call.
const HostIdentity& this_host();

// Returns the inode number of this process's mount namespace, read once; 0 if /proc is not readable. Processes of one
// host with equal numbers see the same files at the same paths, unless a process has changed its root.
std::uint64_t mount_namespace();

// Returns the configured host name, or "" if the system does not report one. It need not be unique.
std::string host_name();

// An address of an interface of this host that is up.
struct HostAddress {
  std::string text;  // "192.0.2.7", "2001:db8::7", "fe80::1%eth0"
  bool ipv6 = false;
  bool loopback = false;    // reaches only this host
  bool link_local = false;  // reaches only one network; needs a scope

  friend bool operator==(const HostAddress&, const HostAddress&) = default;
};

// Returns the addresses in the system's order; none if the system does not report them.
std::vector<HostAddress> host_addresses();

// Returns the path of the running program, or "" if /proc is not readable. It ends with " (deleted)" if the file has
// been removed.
std::string program_path();

// Returns whether the path needs no quotes in a shell command: only letters, digits, /, ., _ and -.
bool is_plain_path(std::string_view path);

// Identifies a process. The system reuses a pid, but not a pid with its start time.
struct ProcessIdentity {
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;  // clock ticks after boot, field 22 of /proc/<pid>/stat

  friend constexpr bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

ProcessIdentity this_process();
// Returns the identity of the process that has this pid now. Nothing if there is none or /proc hides it.
std::optional<ProcessIdentity> identity_of(std::int32_t pid);

// Returns whether this very process still runs. A zombie counts as ended.
bool is_alive(const ProcessIdentity& process);

}  // namespace corelane::os
