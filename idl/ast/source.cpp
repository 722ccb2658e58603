#include "idl/ast/source.h"

#include <algorithm>
#include <utility>

namespace corelane::idl {

std::string_view Source::line(std::uint32_t number) const {
  if (number == 0 || number > lines.size()) return {};
  const std::size_t begin = lines[number - 1];
  const std::size_t end = number < lines.size() ? lines[number] : text.size();
  std::string_view result = std::string_view(text).substr(begin, end - begin);
  while (!result.empty() && (result.back() == '\n' || result.back() == '\r')) result.remove_suffix(1);
  return result;
}

SourceId SourceMap::add(std::string path, std::string include_path, std::string text, bool embedded) {
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  Source source;
  source.path = std::move(path);
  source.include_path = std::move(include_path);
  source.text = std::move(text);
  source.embedded = embedded;
  source.lines.push_back(0);
  for (std::size_t i = 0; i < source.text.size(); ++i)
    if (source.text[i] == '\n') source.lines.push_back(static_cast<std::uint32_t>(i + 1));
  sources_.push_back(std::move(source));
  return static_cast<SourceId>(sources_.size() - 1);
}

SourceId SourceMap::find(std::string_view path) const {
  for (std::size_t i = 0; i < sources_.size(); ++i)
    if (sources_[i].path == path) return static_cast<SourceId>(i);
  return SourceId::none;
}

Span SourceMap::span(SourceId id, std::uint32_t line, std::uint32_t column, std::size_t length) const {
  Span result{.source = id, .line = line, .column = column, .length = static_cast<std::uint32_t>(length)};
  if (id == SourceId::none || line == 0 || line > (*this)[id].lines.size() || column == 0) return result;
  const std::size_t room = (*this)[id].line(line).size();
  result.offset = (*this)[id].lines[line - 1] + column - 1;
  const std::size_t left = column - 1 < room ? room - (column - 1) : 0;
  result.length = static_cast<std::uint32_t>(std::min(length, left));
  return result;
}

Span join(const Span& first, const Span& last) {
  if (first.source != last.source || first.line != last.line || last.column < first.column) return first;
  Span result = first;
  result.length = last.column + last.length - first.column;
  return result;
}

}  // namespace corelane::idl
