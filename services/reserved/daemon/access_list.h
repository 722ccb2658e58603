// AccessList: who may reserve cores.
// Threads: any; constant. Asks the system's user database: not for real-time threads.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "orb/base/expected.h"
#include "orb/channel/access.h"
#include "services/reserved/accounts/model.h"

namespace corelane::reserved {

// What the system knows of a user; a name that is not known is its number.
struct KnownUser {
  std::string name{};
  std::vector<gid_t> groups{};  // all that it is in
};
KnownUser known_user(uid_t user);

class AccessList {
 public:
  // Besides root and this process's user.
  explicit AccessList(channel::Access access) : access_(std::move(access)) {}

  // Else why not, and how to mend it.
  Expected<void, Refusal> admits(std::uint32_t user) const;

 private:
  const channel::Access access_;
};

}  // namespace corelane::reserved
