#include "orb/corba/init_orb.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace corelane::corba {

CORBA::object_reference<CORBA::ORB> init_orb(std::vector<std::string> options, const std::string& id) {
  options.insert(options.begin(), "");  // the program's name
  std::vector<char*> argv;
  std::ranges::transform(options, std::back_inserter(argv), [](std::string& word) { return word.data(); });
  argv.push_back(nullptr);
  int argc = static_cast<int>(options.size());
  return CORBA::ORB_init(argc, argv.data(), id);
}

}  // namespace corelane::corba
