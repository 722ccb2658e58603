#include "orb/core/toml_text.h"

#include <algorithm>
#include <cstddef>
#include <optional>

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

std::string_view line_of(std::string_view text, std::size_t line) {
  for (; line > 1 && !text.empty(); --line)  // bound: the text
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  text = text.substr(0, text.find_first_of("\r\n"));
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

}  // namespace

std::string text_of(const std::string& file, FilePlace place) {
  std::string text = file + ":" + std::to_string(place.line) + ":";
  if (place.column > 0) text += std::to_string(place.column) + ":";
  return text + " ";
}

std::string toml_fault(std::string_view description, std::string_view text, std::size_t line) {
  if (description.find("cannot redefine existing table") == description.npos) return std::string(description);
  return "the table " + std::string(line_of(text, line)) + " is there twice; put all of it into one";
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
