// AccessList says which users may reserve cores.
// Threads: any; constant. Queries the system's user database, so do not call it from real-time threads.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "orb/base/expected.h"
#include "orb/channel/access.h"
#include "services/reserved/accounts/model.h"

namespace corelane::reserved {

class AccessList {
 public:
  // `access` lists the users allowed besides root and the user of this process.
  explicit AccessList(channel::Access access) : access_(std::move(access)) {}

  // Returns nothing if the user may reserve. Otherwise returns the reason and how to fix it. `groups`: the groups of
  // the user's process.
  Expected<void, Refusal> admits(std::uint32_t user, std::span<const gid_t> groups) const;

 private:
  const channel::Access access_;
};

}  // namespace corelane::reserved
