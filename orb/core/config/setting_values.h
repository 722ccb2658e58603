// Functions that parse the values of settings of orb/core that need more than orb/base/settings/setting_values.h
// offers. Each is for one setting. They keep the rules of Setting::apply (orb/base/settings/setting.h). Threads: any
// but real-time ones (users and groups are looked up in the system's lists).
#pragma once

#include <string>
#include <string_view>

#include "orb/core/settings.h"

namespace corelane::core::values {

std::string client_connections(Settings& s, std::string_view text);
std::string mode(Settings& s, std::string_view text, bool has_ace);
std::string io_budget(Settings& s, std::string_view text);
std::string peer_overrun(Settings& s, std::string_view text);
std::string listen(Settings& s, std::string_view text);
std::string host(Settings& s, std::string_view text);
std::string nameserver_path(Settings& s, std::string_view text);
std::string trusted_nameservers(Settings& s, std::string_view text);
std::string log_level(Settings& s, std::string_view text);
std::string reserved_use(Settings& s, std::string_view text);
std::string reserved_socket(Settings& s, std::string_view text);

}  // namespace corelane::core::values
