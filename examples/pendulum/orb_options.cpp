#include "examples/pendulum/orb_options.h"

namespace corelane::pendulum {

std::vector<std::string> take_orb_options(std::vector<std::string>& arguments) {
  std::vector<std::string> taken, left;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].starts_with("-ORB")) {
      left.push_back(arguments[i]);
      continue;
    }
    taken.push_back(arguments[i]);
    if (i + 1 < arguments.size()) taken.push_back(arguments[++i]);
  }
  arguments = std::move(left);
  return taken;
}

CORBA::object_reference<CORBA::ORB> init_orb(const std::vector<std::string>& options) {
  std::vector<std::string> words{"corelane-pendulum"};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(words.size());
  return CORBA::ORB_init(argc, argv.data());
}

}  // namespace corelane::pendulum
