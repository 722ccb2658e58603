// Looks up a user's name, for messages.
// Threads: any but real-time ones, because a lookup in the user database may take long.
#pragma once

#include <sys/types.h>

#include <string>

namespace corelane::os {

// Returns the user's name, or the number if this host has no name for it.
std::string name_of_user(uid_t user);

}  // namespace corelane::os
