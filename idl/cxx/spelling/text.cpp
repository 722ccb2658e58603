#include "idl/cxx/spelling/text.h"

#include <algorithm>

namespace corelane::idl::cxx {

std::string fill(std::string_view pattern, Arguments arguments) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '$' && i + 1 < pattern.size() && pattern[i + 1] >= '0' && pattern[i + 1] <= '9')
      out += arguments.begin()[pattern[++i] - '0'];
    else
      out += pattern[i];
  }
  return out;
}

std::string join(const std::vector<std::string>& items, std::string_view separator) {
  std::string out;
  for (const std::string& item : items) {
    if (&item != &items.front()) out += separator;
    out += item;
  }
  return out;
}

void Text::line(std::string_view pattern, Arguments arguments) {
  const std::string filled = fill(pattern, arguments);
  for (std::size_t at = 0; at <= filled.size();) {
    const std::size_t end = std::min(filled.find('\n', at), filled.size());
    put(indentation_, std::string_view(filled).substr(at, end - at));
    at = end + 1;
  }
}

void Text::open(std::string_view pattern, Arguments arguments) {
  line(pattern, arguments);
  indent();
}

void Text::close(std::string_view pattern, Arguments arguments) {
  indentation_ -= 2;
  line(pattern, arguments);
}

void Text::label(std::string_view name) { put(indentation_ - 1, name); }

void Text::list(std::string_view head, const std::vector<std::string>& items, std::string_view tail) {
  std::string current(head);
  std::size_t indentation = indentation_;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool last = i + 1 == items.size();
    const std::string item = items[i] + (last ? std::string(tail) : ",");
    const std::string_view gap = i == 0 ? "" : " ";
    if (indentation + current.size() + gap.size() + item.size() > columns && !current.empty()) {
      put(indentation, current);
      indentation = indentation_ + 4;
      current = item;
    } else {
      current.append(gap).append(item);
    }
  }
  if (items.empty()) current += tail;
  put(indentation, current);
}

void Text::put(std::size_t indentation, std::string_view line) {
  while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
  if (line.empty()) {
    if (!text_.ends_with("\n\n") && !text_.empty()) text_ += '\n';
    return;
  }
  text_.append(indentation, ' ').append(line) += '\n';
}

}  // namespace corelane::idl::cxx
