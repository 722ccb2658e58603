#include "orb/os/peers/user_name.h"

#include <pwd.h>

#include <vector>

namespace corelane::os {

std::string name_of_user(uid_t user) {
  constexpr std::size_t lookup_bytes = 64 * 1024;
  std::vector<char> memory(lookup_bytes);
  passwd entry{};
  passwd* found = nullptr;
  const bool is_known = getpwuid_r(user, &entry, memory.data(), memory.size(), &found) == 0 && found != nullptr;
  return is_known ? found->pw_name : std::to_string(user);
}

}  // namespace corelane::os
