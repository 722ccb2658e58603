// Makes the ORB of a role from options, as on a command line.
#pragma once

#include <string>
#include <vector>

#include "orb/corba/orb.h"

namespace servers {

inline CORBA::object_reference<CORBA::ORB> orb_of(std::vector<std::string> words) {
  words.insert(words.begin(), "corelane-bench-servers");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  return CORBA::ORB_init(argc, argv.data());
}

}  // namespace servers
