#include "orb/eval/experiment/csv.h"

#include <algorithm>
#include <cstddef>

#include "orb/base/text/one_line.h"

namespace corelane::eval {
namespace {

std::string csv_field(std::string field) {
  std::ranges::replace(field, '\n', ' ');
  std::ranges::replace(field, '\r', ' ');
  field = as_one_line(field);
  if (field.find_first_of(",\"") == field.npos) return field;
  for (std::size_t at = 0; (at = field.find('"', at)) != field.npos; at += 2) field.insert(at, 1, '"');
  return '"' + field + '"';
}

}  // namespace

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) line += csv_field(field) + ",";
  if (!line.empty()) line.pop_back();
  return line + "\n";
}

std::vector<std::string> csv_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (is_quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"')
      fields.back() += line[++i];
    else if (c == '"')
      is_quoted = !is_quoted;
    else if (c == ',' && !is_quoted)
      fields.emplace_back();
    else if (c != '\r' || is_quoted)
      fields.back() += c;
  }
  return fields;
}

}  // namespace corelane::eval
