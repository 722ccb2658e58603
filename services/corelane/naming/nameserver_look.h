// look_for_nameserver() asks for the naming service, for doctor, as a program with the same settings does.
// Threads: none of its own but the ORB's.
#pragma once

#include <string>
#include <vector>

namespace corelane::tool {

struct NameserverLook {
  // Where it was found, and the state of its store; "": it does not answer, or was not looked for.
  std::string answers{};
  std::string absence{};  // why it does not answer
  std::string trouble{};  // what is wrong with its store, or why it does not tell
  bool is_named = false;  // a setting names the service; otherwise this host's is meant
};

// Waits at most timeout.connect plus 5 s.
NameserverLook look_for_nameserver(const std::vector<std::string>& orb_options);

}  // namespace corelane::tool
