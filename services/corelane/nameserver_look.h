// What doctor finds out of the naming service by asking for it, as a program with the same settings does.
// Threads: none of its own but the ORB's.
#pragma once

#include <string>
#include <vector>

namespace corelane::tool {

struct NameserverLook {
  std::string answers{};  // where it was looked for, and how its store is; "": it does not, or was not looked for
  std::string absence{};  // why it does not
  std::string trouble{};  // of its store, or why it does not tell
  bool is_named = false;  // a setting says which one is meant; else this host's is
};

// Waits for timeout.connect and 5 s at most.
NameserverLook look_for_nameserver(const std::vector<std::string>& orb_options);

}  // namespace corelane::tool
