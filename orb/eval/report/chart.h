// Chart draws curves with confidence bands.
// Threads: pure functions. They allocate.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace corelane::eval {

struct CurvePoint {
  double x = 0, y = 0;
  double low = 0, high = 0;  // the band; equal to y: none

  bool operator==(const CurvePoint&) const = default;
};

struct Curve {
  std::string name{};
  std::vector<CurvePoint> points{};  // by ascending x
  std::size_t style = 0;             // see curve_style()
  bool is_hollow = false;            // a second curve of this style
};

// Where the x axis begins, and how it is divided.
enum class XAxis { least_value, zero, logarithmic };  // logarithmic: all values are > 0; others are drawn at the least

struct Chart {
  std::string title{};
  std::string x_name{}, y_name{};
  std::string note{};  // below the legend, which names the curves
  std::vector<Curve> curves{};
  XAxis x_axis = XAxis::least_value;
  double y_most = 1;        // the axis goes from 0 to this
  bool is_log_y = false;    // then it goes from y_least to y_most
  double y_least = 0.0001;  // > 0; smaller values are drawn there
  double mark_x = 0;        // a vertical line with the name mark; 0: none
  std::string mark{};
};

// Adds the curve. If the chart has one with the same points, that one gets both names.
void add_curve(Curve curve, Chart& chart);

// Returns an SVG element. A chart without points says so. Long names are wrapped.
std::string svg_of(const Chart& chart);

}  // namespace corelane::eval
