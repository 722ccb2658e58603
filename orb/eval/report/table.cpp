#include "orb/eval/report/table.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "orb/base/text/one_line.h"

namespace corelane::eval {
namespace {

std::string aligned(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i)
    line += (i == 0 ? "" : "  ") + std::string(widths[i] - std::min(widths[i], cells[i].size()), ' ') + cells[i];
  return line + "\n";
}

Table without_controls(Table table) {
  table.title = as_one_line(table.title);
  for (std::string& column : table.columns) column = as_one_line(column);
  for (auto& row : table.rows)
    for (std::string& cell : row) cell = as_one_line(cell);
  return table;
}

}  // namespace

std::string text_of(const Table& raw) {
  const Table table = without_controls(raw);
  std::vector<std::size_t> widths;
  for (const std::string& column : table.columns) widths.push_back(column.size());
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text = table.title + "\n\n" + aligned(table.columns, widths);
  for (const auto& row : table.rows) text += aligned(row, widths);
  if (!table.notes.empty()) text += "\n";
  for (const std::string& note : table.notes) text += wrapped(note);
  return text;
}

std::string wrapped(const std::string& raw, std::size_t first, std::size_t others) {
  std::string text = raw;
  std::ranges::replace(text, '\n', ' ');
  text = as_one_line(text);
  constexpr std::size_t width = 100;
  std::string lines, line(first, ' ');
  bool is_begun = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (is_begun && line.size() + 1 + word.size() > width) {
      lines += std::exchange(line, std::string(others, ' ')) + "\n";
      is_begun = false;
    }
    line += (is_begun ? " " : "") + word;
    is_begun = true;
    at = end + 1;
  }
  return lines + line + "\n";
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

}  // namespace corelane::eval
