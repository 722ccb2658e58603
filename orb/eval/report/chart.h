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
};

struct Curve {
  std::string name{};
  std::vector<CurvePoint> points{};  // by ascending x
  std::size_t style = 0;             // see curve_style()
  bool is_hollow = false;            // a second curve of this style
};

struct Chart {
  std::string title{};
  std::string x_name{}, y_name{};
  std::vector<Curve> curves{};
  double y_most = 1;        // the axis goes from 0 to this
  bool is_log_y = false;    // then it goes from y_least to y_most
  double y_least = 0.0001;  // > 0; smaller values are drawn there
  double mark_x = 0;        // a vertical line with the name mark; 0: none
  std::string mark{};
};

// Returns an SVG element. A chart without points says so.
std::string svg_of(const Chart& chart);

}  // namespace corelane::eval
