// Operation is what a stub knows of one operation: constant data in generated code.
// Threads: any; constants.
#pragma once

#include <span>
#include <string_view>

#include "orb/cdr/codec.h"

namespace corelane::core {

// RaisesEntry is one entry of a raises clause: its repository id, and how to throw it.
struct RaisesEntry {
  std::string_view id;
  // Decodes the members and throws. Returns if they cannot be decoded (the reader says why).
  void (*raise)(cdr::Reader& members);
};

template <typename UserExceptionType>
constexpr RaisesEntry raises() {
  return {UserExceptionType::_id, [](cdr::Reader& members) {
            UserExceptionType exception;
            cdr::Reader::Attempt attempt(members);
            if (decode(members, exception) && attempt.keep()) throw exception;
          }};
}

struct Operation {
  std::string_view name;  // as on the wire: "step", "_get_count"
  bool oneway = false;
  std::span<const RaisesEntry> raises{};
};

}  // namespace corelane::core
