// CurveStyle says how a chart draws a curve: its color, its markers and its dashes. Readers can tell 32 curves apart by
// markers and dashes alone, as on paper without colors.
// Threads: pure functions. svg_stroke() and svg_marker() allocate.
//
//   curves    color and marker      line
//   0 to 7    one of eight each     solid
//   8 to 15   those of 0 to 7       long dashes
//   16 to 23  those of 0 to 7       long and short dashes
//   24 to 31  those of 0 to 7       short dashes
//   from 32   those of 0 to 31
//
// A second curve of the same style has hollow markers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace corelane::eval {

struct CurveStyle {
  std::string_view color{};
  std::size_t marker = 0;     // the number of its shape
  std::string_view dashes{};  // of stroke-dasharray; empty: a solid line
  bool is_hollow = false;     // of the markers

  bool operator==(const CurveStyle&) const = default;
};

// Returns the style of the i-th curve. If `is_hollow`, it is that of a second curve: the markers are hollow, and the
// line has dashes.
CurveStyle curve_style(std::size_t index, bool is_hollow) noexcept;

// Returns the attributes of a line, from `stroke-width` on.
std::string svg_stroke(const CurveStyle& style);

// Returns the element of a marker whose middle is here.
std::string svg_marker(const CurveStyle& style, double x, double y);

// Returns the distance between the markers of a curve of so many points: all of 40 points have one, and about ten of
// more than that.
constexpr std::size_t marker_distance(std::size_t points) noexcept { return points <= 40 ? 1 : points / 10; }

}  // namespace corelane::eval
