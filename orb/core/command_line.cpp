#include "orb/core/command_line.h"

#include <algorithm>

namespace corelane::core {

std::string unknown_option(std::span<const std::string> words, const std::vector<std::string>& known) {
  for (const std::string& word : words) {
    if (word == "--") return {};
    const std::string name = word.substr(0, word.find('='));
    if (!name.starts_with("--") || std::ranges::find(known, name) != known.end()) continue;
    const std::string question = meant(name, known, "is");
    return "there is no option " + name + question + (question.empty() ? "" : " meant?");
  }
  return {};
}

}  // namespace corelane::core
