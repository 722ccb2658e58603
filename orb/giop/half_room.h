// HalfRoom: counts what an Assembler holds of half received messages, and may refuse more of them.
// Thread: the connection's reader.
#pragma once

#include <cstddef>
#include <optional>

#include "orb/giop/headers.h"

namespace corelane::giop {

class HalfRoom {
 public:
  using Request = std::optional<HalfRequest>;
  virtual ~HalfRoom() = default;  // gives all back

  // The connection holds `bytes` from here on instead of what it held. False, and nothing changed: there is no room for
  // so many. Holding less never fails. `request`: what the bytes are for, where that is known and was not said before.
  [[nodiscard]] virtual bool hold(std::size_t bytes, const Request& request) noexcept = 0;
};

}  // namespace corelane::giop
