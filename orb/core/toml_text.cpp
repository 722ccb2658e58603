#include "orb/core/toml_text.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "orb/base/one_line.h"
#include "orb/os/small_file.h"

namespace corelane::core {
namespace {

constexpr std::size_t largest_file = 1024 * 1024;
constexpr std::ptrdiff_t most_dots = 1000;

// The number of the first line with more dots than that.
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

// [IDL:Plant/Controller:1.0.step]: behind the version, which has a dot of its own, stands the operation.
std::string quoted_header(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  const bool has_operation = name.find('.', name.rfind(':')) < dot;
  const std::string_view operation = has_operation ? name.substr(dot) : "";
  return "[\"" + std::string(name.substr(0, name.size() - operation.size())) + "\"" + std::string(operation) + "]";
}

// How a line is written that lacks nothing but quotes; "": another one.
std::string with_quotes(std::string_view line) {
  constexpr std::size_t longest = 200;
  line = trimmed(line.substr(0, line.find('#')));
  if (line.size() > longest || line.find_first_of("\"'{}") != line.npos) return {};
  if (line.starts_with('[')) {
    const std::string_view name = line.substr(1, line.size() - 2);
    const bool is_header = line.ends_with(']') && name.find(':') != name.npos && name.find_first_of("[]") == name.npos;
    return is_header ? quoted_header(name) : std::string{};
  }
  const std::string_view key = trimmed(line.substr(0, line.find('='))),
                         value = trimmed(line.substr(line.find('=') + 1));
  if (key == line || key.find_first_of(" \t:/") != key.npos || value.empty() || value.starts_with('[')) return {};
  return std::string(key) + " = \"" + std::string(value) + "\"";
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
    return "the table " + std::string(here) + " is there twice; put all of it into one";
  const std::string quoted = description.find("redefine") == description.npos ? with_quotes(here) : "";
  return std::string(description) + (quoted.empty() ? "" : "; quotes are missing: " + as_one_line(quoted));
}

Expected<std::string, SettingsFault> read_toml(std::string_view what, const std::string& path) {
  auto text = os::read_small_file(path, largest_file);
  if (!text) return SettingsFault{std::string(what) + " " + text.error().text};
  if (const auto line = line_too_deep(*text))
    return SettingsFault{path + ":" + std::to_string(*line) + ": more than " + std::to_string(most_dots) +
                         " dots in a line; tables are not nested that deep"};
  return std::move(*text);
}

}  // namespace corelane::core
