// HalfRoom: where an Assembler asks for the room that half received messages take. Who gives it counts what all
// connections together hold.
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

  // The connection holds `bytes` from here on instead of what it held. False, and nothing changed: so many are not
  // there. Holding less never fails. `request`: what the bytes are for, where that is known. `insists`: others may lose
  // their connection for it.
  [[nodiscard]] virtual bool hold(std::size_t bytes, const Request& request, bool insists) noexcept = 0;
};

}  // namespace corelane::giop
