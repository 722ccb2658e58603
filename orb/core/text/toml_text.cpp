#include "orb/core/text/toml_text.h"

#include <algorithm>
#include <cstddef>

#include "orb/base/contract.h"
#include "orb/base/text/one_line.h"
#include "orb/os/files/small_file.h"

namespace corelane::core {
namespace {

constexpr std::size_t largest_file = 1024 * 1024, longest_shown = 200;
constexpr std::ptrdiff_t most_dots = 1000;

// Returns the number of the first line with more than `most_dots` dots.
std::optional<std::size_t> line_too_deep(std::string_view text) {
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view here = text.substr(0, text.find('\n'));
    if (std::count(here.begin(), here.end(), '.') > most_dots) return line;
    text.remove_prefix(std::min(here.size() + 1, text.size()));
  }
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

std::string_view line_of(std::string_view text, std::size_t line) {
  for (; line > 1 && !text.empty(); --line)  // bound: the text
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  text = text.substr(0, text.find_first_of("\r\n"));
  return trimmed(text);
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Returns whether `text` consists of letters, digits and characters of `others`, and is not empty.
bool is_made_of(std::string_view text, std::string_view others) {
  const auto fits = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || others.find(c) != others.npos; };
  return !text.empty() && std::ranges::all_of(text, fits);
}

// Returns whether a value should be text in quotes: 2,4-5 and 10ms, but neither 07 nor a list.
bool is_text(std::string_view value) {
  const auto tells = [](char c) { return is_letter(c) || c == ':' || c == ','; };
  return is_made_of(value, "_.:/,+-") && std::ranges::any_of(value, tells) && !value.ends_with(',');
}

// Returns whether the parser's message is about a wrong value or table in this line, and not about something that began
// in a line before.
bool is_of_its_line(std::string_view description, std::string_view before) {
  constexpr std::string_view others[] = {"redefine", "array", "string", "inline table", "boolean", "hexadecimal"};
  return !before.ends_with(',') && !before.ends_with('[') &&
         std::ranges::none_of(others, [&](auto other) { return description.find(other) != description.npos; });
}

// Returns a table header with quotes for a name such as IDL:Plant/Controller:1.0.step. The operation follows the
// version, which contains a dot itself. Returns "" for other names.
std::string quoted_header(std::string_view name) {
  if (!is_made_of(name, "_.:/-") || !is_letter(name.front()) || name.find(':') == name.npos) return {};
  const std::size_t dot = name.find('.', name.find('.', name.rfind(':')) + 1);
  const bool has_operation = name.find('.', name.rfind(':')) != name.npos && dot != name.npos;
  if (has_operation && !is_made_of(name.substr(dot + 1), "_")) return {};
  const std::string_view operation = has_operation ? name.substr(dot) : "";
  return "[\"" + std::string(name.substr(0, name.size() - operation.size())) + "\"" + std::string(operation) + "]";
}

void replace(std::string& text, std::string_view before, std::string_view after) {
  for (std::size_t at = 0; (at = text.find(before, at)) != text.npos; at += after.size())
    text.replace(at, before.size(), after);
}

// Turns the parser's message, such as "Error while parsing table header: expected ']', saw '\n'", into a sentence.
std::string plain_fault(std::string text) {
  constexpr std::string_view beginning = "Error while parsing ";
  if (text.starts_with(beginning)) {
    const bool vowel = text.size() > beginning.size() &&
                       std::string_view("aeiou").find(text[beginning.size()]) != std::string_view::npos;
    text.replace(0, beginning.size(), vowel ? "syntax error in an " : "syntax error in a ");
  }
  for (const std::string_view end : {"'\\r'", "'\\n'", "'\\r\\n'"}) replace(text, end, "the end of the line");
  replace(text, ", saw ", ", but found ");
  replace(text, "but found EOF", "but found the end of the file");
  replace(text, "value-terminator", "the end of the value");
  return text;
}

bool is_key(std::string_view text) {
  return is_made_of(text, "_.-") && !text.starts_with('.') && !text.ends_with('.') && text.find("..") == text.npos;
}

// Returns the line with quotes, if it lacks nothing else; otherwise "".
std::string with_quotes(std::string_view line) {
  line = trimmed(line.substr(0, line.find('#')));
  if (line.size() > 2 && line.starts_with('[') && line.ends_with(']'))
    return quoted_header(line.substr(1, line.size() - 2));
  const std::size_t equals = std::min(line.find('='), line.size());
  const std::string_view key = trimmed(line.substr(0, equals)),
                         value = trimmed(line.substr(std::min(equals + 1, line.size())));
  if (!is_key(key) || !is_text(value)) return {};
  return std::string(key) + " = \"" + std::string(value) + "\"" + duration_hint(value);
}

}  // namespace

std::string text_of(const std::string& file, FilePlace place) {
  std::string text = file + ":" + std::to_string(place.line) + ":";
  if (place.column > 0) text += std::to_string(place.column) + ":";
  return text + " ";
}

std::string toml_fault(std::string_view description, std::string_view text, std::size_t line) {
  const std::string_view here = line_of(text, line);
  if (description.find("cannot redefine existing table") != description.npos)
    return "the table " + as_one_line(std::string(here.substr(0, longest_shown))) +
           " is there twice; put its entries into one table";
  const std::string_view before = line > 1 ? line_of(text, line - 1) : "";
  const std::string quoted = is_of_its_line(description, before) ? with_quotes(here) : "";
  return plain_fault(std::string(description)) + (quoted.empty() ? "" : "; quotes are missing: " + quoted);
}

Expected<std::string, SettingsFault> read_toml(std::string_view what, const std::string& path) {
  auto text = os::read_small_file(path, largest_file);
  if (!text) return SettingsFault{std::string(what) + " " + text.error().text};
  if (auto fault = nesting_fault_of(*text, path)) return *std::move(fault);
  return std::move(*text);
}

std::optional<SettingsFault> nesting_fault_of(std::string_view text, const std::string& path) {
  const auto line = line_too_deep(text);
  if (!line) return std::nullopt;
  return SettingsFault{path + ":" + std::to_string(*line) + ": more than " + std::to_string(most_dots) +
                       " dots in a line; tables are not nested that deep"};
}

}  // namespace corelane::core
