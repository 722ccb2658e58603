// Elements of SVG, and the colors of a report.
// Threads: pure functions. They allocate.
//
// The folder orb/eval/report draws the figures of a report.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace corelane::eval {

// Returns the text with the characters escaped that mean something in HTML and SVG. Control characters become
// question marks.
std::string escaped(std::string_view text);

inline constexpr std::size_t color_count = 8;

// Returns the color of the i-th curve or task. Readers with color blindness can tell the colors apart (Okabe & Ito
// 2008). They repeat after color_count.
std::string_view color_of(std::size_t index) noexcept;

// Returns a number for an attribute, with one digit behind the point.
std::string svg_number(double value);

// Returns a text element. `anchor`: start, middle or end.
std::string svg_text(double x, double y, std::string_view anchor, std::string_view text);

// Returns how wide a figure shows the text at most, by an estimate: the width depends on the reader's fonts.
double text_width(std::string_view text) noexcept;

// Returns the text in lines that are not wider than this by text_width(); at least one. Lines end at blanks. A word
// that is wider than a line is divided.
std::vector<std::string> lines_of(std::string_view text, double width);

// Returns a text element for each line, each this far below the one before.
std::string svg_lines(double x, double y, double step, const std::vector<std::string>& lines);

// Returns a line element of the class, such as "grid".
std::string svg_line(double x1, double y1, double x2, double y2, std::string_view css_class);

}  // namespace corelane::eval
