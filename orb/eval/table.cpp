#include "orb/eval/table.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>

namespace corelane::eval {
namespace {

std::string aligned(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i)
    line += (i == 0 ? "" : "  ") + std::string(widths[i] - std::min(widths[i], cells[i].size()), ' ') + cells[i];
  return line + "\n";
}

}  // namespace

std::string text_of(const Table& table) {
  std::vector<std::size_t> widths;
  for (const std::string& column : table.columns) widths.push_back(column.size());
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text = table.title + "\n\n" + aligned(table.columns, widths);
  for (const auto& row : table.rows) text += aligned(row, widths);
  if (!table.notes.empty()) text += "\n";
  for (const std::string& note : table.notes) text += note + "\n";
  return text;
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

}  // namespace corelane::eval
