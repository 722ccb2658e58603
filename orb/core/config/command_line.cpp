#include "orb/core/config/command_line.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "orb/core/text/spelling.h"

namespace corelane::core {
namespace {

using Text = std::string_view;

// Returns what is before and after the first `border`; nothing if the text does not contain it.
std::optional<std::pair<Text, Text>> parts(Text text, Text border) {
  const std::size_t at = text.find(border);
  if (at == Text::npos) return std::nullopt;
  return std::pair(text.substr(0, at), text.substr(at + border.size()));
}

std::vector<std::string> words_between(Text text, char border) {
  std::vector<std::string> words;
  while (!text.empty()) {  // bound: the text
    words.emplace_back(text.substr(0, text.find(border)));
    text.remove_prefix(std::min(text.size(), words.back().size() + 1));
  }
  return words;
}

std::string list_of(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

// Returns "0.1" for "0.100000".
std::string short_number(std::string number) {
  if (number.find('.') == number.npos) return number;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number;
}

// Describes the words that were left over. A word after -- is not an option.
std::string superfluous(std::vector<std::string> words) {
  std::ranges::reverse(words);  // the library takes a command line from its end
  const auto border = std::ranges::find(words, "--");
  const auto option =
      std::find_if(words.begin(), border, [](const std::string& word) { return word.starts_with('-'); });
  if (option != border) return "there is no option " + *option;
  std::erase(words, "--");
  if (words.empty()) return "an empty word is one too many";
  return list_of(words) + (words.size() == 1 ? " is one word too many" : " are words too many");
}

}  // namespace

std::string reworded(std::string_view said) {
  for (const Text border : {"The following argument was not expected: ", "The following arguments were not expected: "})
    if (const auto found = parts(said, border)) return superfluous(words_between(found->second, ' '));
  if (const auto found = parts(said, " excludes "))
    return std::string(found->first) + " and " + std::string(found->second) + " exclude each other: give one of them";
  if (const auto found = parts(said, ": 1 required "))
    if (const auto what = parts(found->second, " missing"))
      return std::string(found->first) + " needs " + std::string(what->first) + " behind it";
  if (const auto found = parts(said, ": At Most 1 required but received "))
    return std::string(found->first) + " is given more than once";
  if (const auto found = parts(said, ": Value "))
    if (const auto value = parts(found->second, " not in range "))
      if (const auto range = parts(value->second, " to "))
        return std::string(found->first) + ": " + std::string(value->first) + " is not from " +
               short_number(std::string(range->first)) + " to " + short_number(std::string(range->second));
  if (const auto found = parts(said, " not in {"))
    return std::string(found->first) + " is none of " +
           list_of(words_between(found->second.substr(0, found->second.find('}')), ','));
  if (said == "A subcommand is required") return "which command?";
  return std::string(said);
}

std::string unknown_option(std::span<const std::string> words, const std::vector<std::string>& known) {
  for (const std::string& word : words) {
    if (word == "--") return {};
    const bool is_short = word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1])) != 0;
    const std::string name = is_short ? word.substr(0, 2) : word.substr(0, word.find('='));
    if ((!is_short && !name.starts_with("--")) || std::ranges::find(known, name) != known.end()) continue;
    if (is_short) return "there is no option " + name;
    const std::string question = meant(name, known, "is");
    return "there is no option " + name + question + (question.empty() ? "" : " meant?");
  }
  return {};
}

}  // namespace corelane::core
