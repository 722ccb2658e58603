#include "examples/pendulum/table.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace corelane::pendulum {

std::string format(const char* pattern, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

std::string milliseconds(Duration duration) {
  return format("%g", std::chrono::duration<double, std::milli>(duration).count());
}

Table::Table(std::vector<std::string> head) { rows_.push_back(std::move(head)); }

void Table::add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - row[i].size(), ' ');
      const bool words = i == 0 || i + 1 == row.size();  // the first and the last column hold words
      text += (i == 0 ? "" : "  ") + (words ? row[i] + pad : pad + row[i]);
    }
    while (text.ends_with(' ')) text.pop_back();
    text += '\n';
  }
  return text;
}

}  // namespace corelane::pendulum
