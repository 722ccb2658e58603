// AccessList: who may reserve cores.
// Threads: any; constant. Asks the system's user database: not for real-time threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "services/reserved/accounts/model.h"

namespace corelane::reserved {

// What the system knows of a user; a name that is not known is its number.
struct UserNames {
  std::string user{};
  std::vector<std::string> groups{};  // names and numbers
};
UserNames names_of_user(std::uint32_t user);

class AccessList {
 public:
  // Names or numbers; "*" is everybody. Root may always.
  AccessList(std::vector<std::string> users, std::vector<std::string> groups)
      : users_(std::move(users)), groups_(std::move(groups)) {}

  // Else why not, and how to mend it.
  Expected<void, Refusal> admits(std::uint32_t user) const { return admits(user, names_of_user(user)); }
  Expected<void, Refusal> admits(std::uint32_t user, const UserNames& names) const;

 private:
  const std::vector<std::string> users_, groups_;
};

}  // namespace corelane::reserved
