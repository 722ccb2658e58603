#include "orb/eval/report/svg.h"

#include <array>

#include "orb/eval/report/table.h"

namespace corelane::eval {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else if ((c >= 0 && c < ' ' && c != '\n' && c != '\t') || c == '\x7f')
      result += '?';
    else
      result += c;
  }
  return result;
}

std::string_view color_of(std::size_t index) noexcept {
  static constexpr std::array<std::string_view, color_count> colors{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                                    "#e69f00", "#56b4e9", "#7f7f7f", "#b8a600"};
  return colors[index % colors.size()];
}

std::string svg_number(double value) { return fixed(value, 1); }

std::string svg_text(double x, double y, std::string_view anchor, std::string_view text) {
  return "<text x=\"" + svg_number(x) + "\" y=\"" + svg_number(y) + "\" text-anchor=\"" + std::string(anchor) + "\">" +
         escaped(text) + "</text>\n";
}

std::string svg_line(double x1, double y1, double x2, double y2, std::string_view css_class) {
  return "<line x1=\"" + svg_number(x1) + "\" y1=\"" + svg_number(y1) + "\" x2=\"" + svg_number(x2) + "\" y2=\"" +
         svg_number(y2) + "\" class=\"" + std::string(css_class) + "\"/>\n";
}

}  // namespace corelane::eval
