#include "examples/pendulum/table.h"

#include <algorithm>
#include <chrono>
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

std::string progress_of(Duration gone, Duration length, const std::string& state, std::size_t columns) {
  constexpr std::size_t longest_bar = 30;
  const std::string text = format("] %4.1f s  ", std::chrono::duration<double>(gone).count()) + state;
  std::size_t bar = longest_bar;
  if (columns > 0) bar = std::min(bar, columns - std::min(columns, text.size() + 2));
  const double share = std::chrono::duration<double>(gone) / std::chrono::duration<double>(length);
  const auto filled = std::min(bar, static_cast<std::size_t>(share * static_cast<double>(bar)));
  const std::string line = "[" + std::string(filled, '#') + std::string(bar - filled, '.') + text;
  return columns > 0 ? line.substr(0, columns - 1) : line;
}

std::string silence_of(bool overloaded) {
  return overloaded ? "overloaded, as expected: no time is left for the demo's question"
                    : "the service does not answer the demo itself";
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
