// Makes the bytes of requests that attackers send.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/cdr/writer.h"
#include "orb/giop/headers.h"
#include "tests/support/bytes/wire.h"

namespace corelane::attack {

inline std::vector<std::byte> request(Bytes key, std::string_view operation, const std::string* text = nullptr,
                                      bool oneway = false) {
  cdr::Writer writer;
  giop::RequestHeader header{.request_id = 7,
                             .response_flags = oneway ? giop::response::none : giop::response::with_target,
                             .target = {},
                             .operation = operation,
                             .contexts = {}};
  header.target.object_key = key;
  giop::begin_request(writer, header, {}, giop::giop_1_2, native_order);
  if (text != nullptr) writer.write_string(*text);
  if (!giop::finish(writer)) throw std::runtime_error("a request that is too long");
  return test::copy_of(writer.bytes());
}

inline std::vector<std::byte> several(const std::vector<std::byte>& message, int times) {
  std::vector<std::byte> all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), message.begin(), message.end());
  return all;
}

}  // namespace corelane::attack
