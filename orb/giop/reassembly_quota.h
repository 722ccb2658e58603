// ReassemblyQuota counts the half-received messages of an Assembler, and may refuse more of them. Thread: the
// connection's reader.
#pragma once

#include <cstddef>
#include <optional>

#include "orb/giop/headers.h"

namespace corelane::giop {

class ReassemblyQuota {
 public:
  using Request = std::optional<HalfRequest>;
  virtual ~ReassemblyQuota() = default;  // gives back everything

  // Changes what the connection holds to `bytes`. Returns false and changes nothing if there is no room. Holding less
  // never fails. `request`: the request that the bytes belong to, once it is known and was not passed before.
  [[nodiscard]] virtual bool hold(std::size_t bytes, const Request& request) noexcept = 0;
};

}  // namespace corelane::giop
