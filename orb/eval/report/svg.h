// Elements of SVG, and the colors of a report.
// Threads: pure functions. They allocate.
//
// The folder orb/eval/report draws the figures of a report.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

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

// Returns a line element of the class, such as "grid".
std::string svg_line(double x1, double y1, double x2, double y2, std::string_view css_class);

}  // namespace corelane::eval
