#include "orb/eval/report/svg.h"

#include <algorithm>
#include <array>

#include "orb/eval/report/table.h"

namespace corelane::eval {
namespace {

constexpr double character_width = 6.6;  // of system-ui at 12 pixels, on average

bool begins_character(char c) noexcept { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }  // in UTF-8

// Returns how many bytes of the text fit into a line: up to a blank, or within a word that is wider than the line.
std::size_t bytes_in_line(std::string_view text, double width) {
  if (text_width(text) <= width) return text.size();
  std::size_t fitting = 0, blank = 0;
  for (std::size_t i = 1; i < text.size() && text_width(text.substr(0, i)) <= width; ++i) {
    if (begins_character(text[i])) fitting = i;
    if (text[i] == ' ') blank = i;
  }
  return blank > 0 ? blank : std::max<std::size_t>(fitting, 1);
}

}  // namespace

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

double text_width(std::string_view text) noexcept {
  return character_width * static_cast<double>(std::ranges::count_if(text, begins_character));
}

std::vector<std::string> lines_of(std::string_view text, double width) {
  std::vector<std::string> lines;
  for (;;) {
    const std::size_t end = bytes_in_line(text, width);
    lines.emplace_back(text.substr(0, end));
    if (end == text.size()) return lines;
    text.remove_prefix(text[end] == ' ' ? end + 1 : end);
  }
}

std::string svg_lines(double x, double y, double step, const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i)
    text += svg_text(x, y + step * static_cast<double>(i), "start", lines[i]);
  return text;
}

std::string svg_line(double x1, double y1, double x2, double y2, std::string_view css_class) {
  return "<line x1=\"" + svg_number(x1) + "\" y1=\"" + svg_number(y1) + "\" x2=\"" + svg_number(x2) + "\" y2=\"" +
         svg_number(y2) + "\" class=\"" + std::string(css_class) + "\"/>\n";
}

}  // namespace corelane::eval
