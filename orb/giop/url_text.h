// Encodes and decodes escapes in corbaloc: and corbaname: references: %xx stands for any byte. CORBA 3.3 part 2,
// 7.6.10.
//
// Threads: none; values.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace corelane::giop {

// Decodes escapes; returns nothing if a % is not followed by two hexadecimal digits.
std::optional<std::string> url_unescaped(std::string_view text);
// Encodes all bytes except letters, digits and ;/:?@&=+$,-_.!~*'()
std::string url_escaped(std::string_view bytes);

}  // namespace corelane::giop
