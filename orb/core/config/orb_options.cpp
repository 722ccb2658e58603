#include "orb/core/config/orb_options.h"

#include <utility>

namespace corelane::core {

std::vector<std::string> take_orb_options(std::vector<std::string>& words) {
  std::vector<std::string> taken, left;
  bool value = false;
  for (std::string& word : words) {
    const bool option = is_orb_option(word);
    (option || value ? taken : left).push_back(std::move(word));
    value = option;
  }
  words = std::move(left);
  return taken;
}

}  // namespace corelane::core
