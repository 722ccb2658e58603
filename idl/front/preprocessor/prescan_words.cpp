#include "idl/front/preprocessor/prescan_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <utility>

namespace corelane::idl {
namespace {

struct ConditionWord {
  std::string_view word;
  std::string_view text;  // not longer than `word`
};
constexpr std::array condition_words = {ConditionWord{"true", "1"},   ConditionWord{"false", "0"},
                                        ConditionWord{"and", "&&"},   ConditionWord{"or", "||"},
                                        ConditionWord{"not", "!"},    ConditionWord{"not_eq", "!="},
                                        ConditionWord{"bitand", "&"}, ConditionWord{"bitor", "|"},
                                        ConditionWord{"xor", "^"},    ConditionWord{"compl", "~"}};

// Returns the replacement text, padded with blanks to `size`.
std::string padded(std::string_view text, std::size_t size) {
  return std::string(text).append(size - text.size(), ' ');
}

}  // namespace

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_in_word(char c) { return starts_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string_view leading_name(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_in_word(text[end])) ++end;
  return text.substr(0, end);
}

std::string condition_in_c(std::string directive) {
  bool is_asked_for = false;  // after `defined`, where a word is a name
  char quote = '\0';
  for (std::size_t at = 0; at < directive.size(); ++at) {
    const char c = directive[at];
    if (quote != '\0') {
      if (c == '\\') ++at;
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (is_in_word(c)) {
      const std::string word(leading_name(std::string_view(directive).substr(at)));
      const auto known = std::find_if(condition_words.begin(), condition_words.end(),
                                      [&](const ConditionWord& one) { return one.word == word; });
      if (!is_asked_for && known != condition_words.end())
        directive.replace(at, word.size(), padded(known->text, word.size()));
      is_asked_for = word == "defined";
      at += word.size() - 1;
    } else if (c != ' ' && c != '\t' && c != '\r' && c != '(') {
      is_asked_for = false;
    }
  }
  return directive;
}

}  // namespace corelane::idl
