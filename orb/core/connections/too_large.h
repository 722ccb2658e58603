// Makes the error text about a message above limits.message_size. It says whose limit that is, and the sizes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace corelane::core {

// `what` is for example "the request for echo", `whose` "the server". `size` is that of the whole message. If `size` is
// not above `limit`, it is unknown.
inline std::string too_large_text(const std::string& what, std::string_view whose, std::size_t size,
                                  std::size_t limit) {
  return what + " has " + (size > limit ? "" : "more than ") + std::to_string(size > limit ? size : limit) +
         " bytes, and limits.message_size of " + std::string(whose) + " is " + std::to_string(limit);
}

}  // namespace corelane::core
