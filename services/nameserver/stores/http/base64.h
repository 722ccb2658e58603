// Encodes and decodes base 64 with padding (RFC 4648, section 4).
// Threads: none; values.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace corelane::nameserver {

std::string to_base64(std::string_view bytes);
// Returns nothing if the text is not valid.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace corelane::nameserver
