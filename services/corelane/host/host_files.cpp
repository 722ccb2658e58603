#include "services/corelane/host/host_files.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <system_error>

#include "orb/os/machine/core_list.h"

namespace corelane::tool {
namespace {

namespace fs = std::filesystem;

bool is_digit_text(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == text.npos; }

}  // namespace

fs::path HostFiles::beneath(std::string_view path) const {
  return fs::path(root_) / path.substr(path.starts_with('/') ? 1 : 0);
}

std::optional<std::string> HostFiles::text(std::string_view path) const {
  std::ifstream file(beneath(path), std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream content;
  content << file.rdbuf();
  if (content.bad()) return std::nullopt;
  std::string text = content.str();
  text.erase(text.find_last_not_of(" \n\t") + 1);
  return text;
}

std::vector<std::string> HostFiles::lines(std::string_view path) const {
  std::vector<std::string> lines;
  std::istringstream stream(text_or_empty(path));
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::optional<std::string> HostFiles::field(std::string_view path, std::string_view name) const {
  for (const std::string& line : lines(path)) {
    if (!line.starts_with(name)) continue;
    const std::size_t value = line.find_first_not_of(": \t", name.size());
    return value == line.npos ? "" : line.substr(value);
  }
  return std::nullopt;
}

std::vector<std::string> HostFiles::numbered(std::string_view directory, std::string_view prefix) const {
  std::vector<std::string> names;
  std::error_code failure;
  for (fs::directory_iterator entry(beneath(directory), failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const std::string name = entry->path().filename();
    if (name.starts_with(prefix) && is_digit_text(std::string_view(name).substr(prefix.size()))) names.push_back(name);
  }
  std::ranges::sort(names, {}, [&](const std::string& name) { return leading_number(name.substr(prefix.size())); });
  return names;
}

bool HostFiles::exists(std::string_view path) const {
  std::error_code failure;
  return fs::exists(beneath(path), failure);
}

CoreSet parse_core_set(std::string_view text) {
  CoreSet cores;
  for (const CoreId core : os::parse_core_list(text).value_or(std::vector<CoreId>{})) cores.insert(core.value);
  return cores;
}

std::string core_text(const CoreSet& cores) {
  std::vector<CoreId> numbers;
  for (const int core : cores) numbers.push_back({static_cast<std::int16_t>(core)});
  return os::core_list_text(numbers);
}

std::vector<std::string> words_of(std::string_view line) {
  std::istringstream stream{std::string(line)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

long long leading_number(std::string_view text) {
  long long number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace corelane::tool
