#include "idl/tool/arguments.h"

#include <string_view>
#include <utility>

#include "idl/tool/user_file.h"

namespace corelane::idl::tool {
namespace {

constexpr int deepest_response = 16;
constexpr std::size_t most_words = 100'000;
constexpr std::size_t largest_response = 16 * 1024 * 1024;

// Returns the words of a response file; nothing if a quote is not closed.
std::optional<std::vector<std::string>> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (blank && quote == 0) {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
      continue;
    }
    in_word = true;
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else {
      word += c;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return quote == 0 ? std::optional(std::move(words)) : std::nullopt;
}

// Appends the argument, or the words of its response file.
std::optional<ArgumentFault> append(const std::string& argument, int depth, std::vector<std::string>& out) {
  // recursion: bounded by `depth`
  if (argument.size() < 2 || argument.front() != '@') {
    out.push_back(argument);
    return std::nullopt;
  }
  const std::string path = argument.substr(1);
  if (depth == deepest_response) return ArgumentFault{"response files are nested too deeply at @" + path};
  const auto text = read_user_file(path, largest_response);
  if (const auto* fault = std::get_if<ReadFault>(&text))
    return ArgumentFault{"cannot read the response file " + path + ": " + fault->reason};
  const auto words = words_of(std::get<std::string>(text));
  if (!words) return ArgumentFault{"a quote stays open in the response file " + path};
  for (const std::string& word : *words) {
    if (out.size() > most_words) return ArgumentFault{"the response files hold too many words"};
    if (auto fault = append(word, depth + 1, out)) return fault;
  }
  return std::nullopt;
}

}  // namespace

std::variant<std::vector<std::string>, ArgumentFault> expand_arguments(const std::vector<std::string>& arguments) {
  std::vector<std::string> result;
  for (const std::string& argument : arguments)
    if (auto fault = append(argument, 0, result)) return *std::move(fault);
  return result;
}

void turn_warnings(Policy policy, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < warning_texts.size(); ++i) {
    const auto kind = static_cast<Warning>(i);
    if (diagnostics.policy(kind) == Policy::warn) diagnostics.set_policy(kind, policy);
  }
}

std::optional<std::string> apply_warnings(const std::vector<std::string>& values, Diagnostics& diagnostics) {
  struct Prefix {
    std::string_view text;
    Policy policy;
  };
  constexpr Prefix prefixes[] = {
      {"no-error=", Policy::warn}, {"no-", Policy::ignore}, {"error=", Policy::error}, {"", Policy::warn}};
  for (const std::string& value : values) {
    if (value == "error") {
      turn_warnings(Policy::error, diagnostics);
      continue;
    }
    const Prefix* prefix = prefixes;
    while (!value.starts_with(prefix->text)) ++prefix;  // the last prefix always matches
    const std::optional<Warning> kind = warning_named(std::string_view(value).substr(prefix->text.size()));
    if (!kind) return "-W" + value + " names no warning; see --help";
    diagnostics.set_policy(*kind, prefix->policy);
  }
  return std::nullopt;
}

}  // namespace corelane::idl::tool
