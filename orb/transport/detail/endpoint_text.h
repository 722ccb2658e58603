// Helpers for the functions of transport kinds that parse endpoints.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "orb/base/expected.h"
#include "orb/transport/endpoint.h"

namespace corelane::transport {

using ParsedEndpoint = Expected<Endpoint, EndpointFault>;

inline Unexpected<EndpointFault> endpoint_fault(std::string text) { return Unexpected(EndpointFault{std::move(text)}); }
inline std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

}  // namespace corelane::transport
