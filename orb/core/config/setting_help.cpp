#include "orb/core/config/setting_help.h"

#include <string>

#include "orb/transport/endpoint.h"
#include "orb/transport/transport_kind.h"

namespace corelane::core {

std::string_view listen_help() {
  static const std::string help =
      "Where a server listens, separated by commas. " + transport::endpoint_help() + ". References name all of them";
  return help;
}

std::string_view local_help() {
  static const std::string help = [] {
    std::string local;
    for (const auto* const kind : transport::transport_kinds())
      if (kind->offered_unasked) local.append(local.empty() ? "" : " and ").append(kind->prefix);
    return "on: a server that listens for clients of other hosts also offers " + local +
           " to those of its own host. off: only what endpoint.listen says";
  }();
  return help;
}

}  // namespace corelane::core
