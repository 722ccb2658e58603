#include "services/corelane/scale/comma_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

namespace corelane::tool {
namespace {

std::string without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(blanks) + 1 - begin));
}

// Returns at most `most` values. The last one has the rest of the line.
std::vector<std::string> values_of(std::string_view line, std::size_t most) {
  std::vector<std::string> values;
  for (;;) {
    const std::size_t comma = values.size() + 1 < most ? line.find(',') : line.npos;
    values.push_back(without_blanks(line.substr(0, comma)));
    if (comma == line.npos) return values;
    line.remove_prefix(comma + 1);
  }
}

}  // namespace

Expected<CommaTable, std::string> CommaTable::parse(std::string_view text, const std::string& path) {
  CommaTable table;
  table.path_ = path;
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string row = without_blanks(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (row.empty() || row.front() == '#') continue;
    std::vector<std::string> values = values_of(row, table.names_.empty() ? row.size() + 1 : table.names_.size());
    if (table.names_.empty()) {
      table.names_ = std::move(values);
    } else if (values.size() < table.names_.size()) {
      return path + ":" + std::to_string(line) + ": " + std::to_string(values.size()) +
             " columns, but the first row has " + std::to_string(table.names_.size()) + "; add what is missing";
    } else {
      table.rows_.push_back({line, std::move(values)});
    }
  }
  if (table.rows_.empty())
    return path + ": it has no rows; the first row names the columns, and the others have values";
  return table;
}

std::optional<std::size_t> CommaTable::column(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names_.begin());
}

Expected<std::size_t, std::string> CommaTable::required_column(std::string_view name) const {
  if (const auto found = column(name)) return *found;
  std::string there;
  for (const std::string& other : names_) there += (there.empty() ? "" : ", ") + other;
  return path_ + ": no column is named " + std::string(name) + "; there are " + there;
}

std::string CommaTable::place(std::size_t row) const { return path_ + ":" + std::to_string(rows_[row].line); }

Expected<double, std::string> CommaTable::number(std::size_t row, std::size_t column) const {
  const std::string& text = value(row, column);
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault == std::errc{} && end == text.data() + text.size() && std::isfinite(number)) return number;
  return place(row) + ": '" + text + "' is no number; " + names_[column] + " needs one, such as 12.5";
}

}  // namespace corelane::tool
