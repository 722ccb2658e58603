#include "services/corelane/output/text.h"

#include <cstdarg>
#include <cstdio>

#include "orb/base/text/one_line.h"
#include "orb/eval/report/table.h"

namespace corelane::tool {

std::string format(const char* pattern, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

std::string brief(Duration duration) {
  const auto count = static_cast<double>(duration.count());
  if (count < 1e3) return format("%.0fns", count);
  if (count < 1e6) return format("%.1fus", count / 1e3);
  return count < 1e9 ? format("%.2fms", count / 1e6) : format("%.2fs", count / 1e9);
}

std::string refusal_lines(const std::string& refusal) { return eval::wrapped("refused: " + refusal, 7, 9); }

std::string plain(std::string_view text) { return as_one_line(text); }

}  // namespace corelane::tool
