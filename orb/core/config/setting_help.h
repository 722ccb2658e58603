// Texts of help for settings whose values are the names of a registry (orb/base/registry.h). A new entry appears in the
// help by itself.
// Threads: any but real-time ones; each text is made at its first use and stays.
#pragma once

#include <string_view>

namespace corelane::core {

std::string_view listen_help();  // of endpoint.listen
std::string_view local_help();   // of endpoint.local

}  // namespace corelane::core
