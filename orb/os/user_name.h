// What a user is called, for messages.
// Threads: any but real-time ones: a look at the users' database may take long.
#pragma once

#include <sys/types.h>

#include <string>

namespace corelane::os {

// The number itself where this host has no name for it.
std::string name_of_user(uid_t user);

}  // namespace corelane::os
