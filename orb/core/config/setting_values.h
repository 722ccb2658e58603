// Functions that parse the values of settings. Each takes a value as text, stores it, and returns "". If the value is
// wrong it changes nothing, and returns what is expected, as the end of a sentence. The table of settings
// (settings.cpp) names these functions.
// Threads: any but real-time ones (users and groups are looked up in the system's lists).
#pragma once

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/core/settings.h"

namespace corelane::core::values {

template <typename Integer>
std::string number(std::string_view text, Integer& out, Integer least, Integer most) {
  Integer value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault == std::errc{} && end == text.data() + text.size() && value >= least && value <= most) {
    out = value;
    return {};
  }
  return "a number from " + std::to_string(least) + " to " + std::to_string(most);
}
std::string client_connections(Settings& settings, std::string_view text);
std::string size(std::string_view text, std::size_t& out, std::size_t least, std::size_t most);
// Parses a number of bytes, such as 67108864, 65536KiB or 64MiB.
std::string bytes(std::string_view text, std::size_t& out, std::size_t least, std::size_t most);
std::string span_of_time(std::string_view text, Duration& out);
// Parses a directory that several processes look into. A relative path would mean another one in each of them.
std::string directory(std::string_view text, std::string& out);
std::string some_time(std::string_view text, Duration& out);
std::string longest_lease(std::string_view text, Duration& out);
std::string yes_or_no(std::string_view text, bool& out);
// Parses hardware threads, such as "0,2-5". "all": every one that the process may use.
std::string cores(std::string_view text, std::vector<CoreId>& out);
std::string wait_mode(std::string_view text, os::WaitMode& out);

// Each of these is for one setting.
std::string mode(Settings& s, std::string_view text, bool has_ace);
std::string admission_test(Settings& s, std::string_view text);
std::string allocation(Settings& s, std::string_view text);
std::string placement(Settings& s, std::string_view text);
std::string deadline_cores(Settings& s, std::string_view text);
std::string deadline_policy(Settings& s, std::string_view text);
std::string best_effort_server(Settings& s, std::string_view text);
std::string io_budget(Settings& s, std::string_view text);
std::string peer_tasks(Settings& s, std::string_view text);
std::string peer_overrun(Settings& s, std::string_view text);
std::string peer_utilization(Settings& s, std::string_view text);
std::string idle_tasks(Settings& s, std::string_view text);
std::string pool_spin(Settings& s, std::string_view text);
std::string listen(Settings& s, std::string_view text);
std::string socket_mode(Settings& s, std::string_view text);
std::string allowed(Settings& s, std::string_view text);
std::string host(Settings& s, std::string_view text);
std::string nameserver_path(Settings& s, std::string_view text);
std::string name_writers(Settings& s, std::string_view text);
std::string name_network_writers(Settings& s, std::string_view text);
std::string trusted_nameservers(Settings& s, std::string_view text);
std::string log_level(Settings& s, std::string_view text);
std::string reserved_use(Settings& s, std::string_view text);
std::string reserved_backend(Settings& s, std::string_view text);
std::string reserved_root(Settings& s, std::string_view text);
std::string reserved_socket(Settings& s, std::string_view text);
std::string reserved_processes(Settings& s, std::string_view text);
std::string reserving_users(Settings& s, std::string_view text);

}  // namespace corelane::core::values
