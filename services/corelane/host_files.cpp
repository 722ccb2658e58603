#include "services/corelane/host_files.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <system_error>

namespace corelane::tool {
namespace {

namespace fs = std::filesystem;

constexpr int most_cores = 8192;

bool is_digit_text(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == text.npos; }

// "3" or "0-3" into `cores`; false: it is neither.
bool add_range(CoreSet& cores, std::string_view range) {
  const std::size_t dash = range.find('-');
  const std::string_view first = range.substr(0, dash), last = dash == range.npos ? first : range.substr(dash + 1);
  if (!is_digit_text(first) || !is_digit_text(last)) return false;
  const long long end = std::min<long long>(leading_number(last), most_cores);
  for (long long core = leading_number(first); core <= end; ++core) cores.insert(static_cast<int>(core));
  return true;
}

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
  while (!text.empty()) {  // bound: the text
    const std::string_view range = text.substr(0, text.find(','));
    if (!add_range(cores, range)) return {};
    text.remove_prefix(std::min(text.size(), range.size() + 1));
  }
  return cores;
}

std::string core_text(const CoreSet& cores) {
  std::string text;
  for (auto first = cores.begin(); first != cores.end();) {
    auto last = first;
    for (auto next = std::next(first); next != cores.end() && *next == *last + 1; ++next) last = next;
    text += (text.empty() ? "" : ",") + std::to_string(*first);
    if (last != first) text += "-" + std::to_string(*last);
    first = std::next(last);
  }
  return text;
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
