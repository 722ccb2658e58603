// AccessList: who may reserve cores.
// Threads: any; constant. Asks the system's user database: not for real-time threads.
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
  // Besides root and this process's user.
  explicit AccessList(channel::Access access) : access_(std::move(access)) {}

  // Else why not, and how to mend it. `groups`: those of the user's process.
  Expected<void, Refusal> admits(std::uint32_t user, std::span<const gid_t> groups) const;

 private:
  const channel::Access access_;
};

}  // namespace corelane::reserved
