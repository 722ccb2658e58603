#include "orb/eval/report/chart.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "orb/eval/report/curve_style.h"
#include "orb/eval/report/svg.h"
#include "orb/eval/report/table.h"

namespace corelane::eval {
namespace {

constexpr double chart_width = 520, chart_height = 300;
constexpr double plot_left = 72, plot_right = 505, plot_top = 34, plot_bottom = 232;
constexpr double legend_top = 284, legend_step = 15, legend_line = 40;

// Returns a round distance of about a fifth of the range: 1, 2 or 5 times a power of ten.
double step_of(double range) {
  const double rough = range / 5, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (rough <= factor * power * 1.001) return factor * power;
  return 10 * power;
}

std::string tick_text(double value) {
  std::string text = fixed(value, 4);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

// ChartPainter draws one chart.
class ChartPainter {
 public:
  explicit ChartPainter(const Chart& chart) : chart_(chart) {
    bool is_first = true;
    for (const Curve& curve : chart.curves)
      for (const CurvePoint& point : curve.points) {
        least_ = is_first ? point.x : std::min(least_, point.x);
        most_ = is_first ? point.x : std::max(most_, point.x);
        is_first = false;
      }
    has_points_ = !is_first;
    if (chart.mark_x > 0) most_ = std::max(most_, chart.mark_x * 1.05);
    if (most_ <= least_) least_ -= 0.5, most_ += 0.5;
  }

  std::string svg() const {
    const double height = chart_height + legend_step * static_cast<double>(chart_.curves.size());
    std::string text = "<svg viewBox=\"0 0 " + svg_number(chart_width) + " " + svg_number(height) +
                       "\" role=\"img\" aria-label=\"" + escaped(chart_.title) + "\">\n" +
                       svg_text(plot_left, 18, "start", chart_.title);
    if (!has_points_) return text + svg_text(chart_width / 2, 120, "middle", "no data") + "</svg>\n";
    text += y_axis() + x_axis() + mark();
    for (const Curve& curve : chart_.curves) text += band(curve) + line(curve);
    for (std::size_t i = 0; i < chart_.curves.size(); ++i) text += legend(i);
    return text + "</svg>\n";
  }

 private:
  double x_of(double x) const { return plot_left + (plot_right - plot_left) * (x - least_) / (most_ - least_); }
  double y_of(double y) const {
    if (!chart_.is_log_y) return plot_bottom - (plot_bottom - plot_top) * std::clamp(y / chart_.y_most, 0.0, 1.0);
    const double range = std::log10(chart_.y_most / chart_.y_least);
    const double part = std::log10(std::max(y, chart_.y_least) / chart_.y_least) / range;
    return plot_bottom - (plot_bottom - plot_top) * std::clamp(part, 0.0, 1.0);
  }

  std::string grid_line(double y) const {
    return svg_line(plot_left, y_of(y), plot_right, y_of(y), "grid") +
           svg_text(plot_left - 6, y_of(y) + 4, "end", tick_text(y));
  }

  std::string y_axis() const {
    std::string text = "<text x=\"12\" y=\"" + svg_number((plot_top + plot_bottom) / 2) +
                       "\" text-anchor=\"middle\" transform=\"rotate(-90 12 " +
                       svg_number((plot_top + plot_bottom) / 2) + ")\">" + escaped(chart_.y_name) + "</text>\n";
    if (chart_.is_log_y)
      for (double y = chart_.y_most; y >= chart_.y_least * 0.999; y /= 10) text += grid_line(y);
    else
      for (int i = 0; i <= 5; ++i) text += grid_line(chart_.y_most * i / 5);
    return text;
  }

  std::string x_axis() const {
    std::string text = svg_line(plot_left, plot_bottom, plot_right, plot_bottom, "axis") +
                       svg_text((plot_left + plot_right) / 2, plot_bottom + 34, "middle", chart_.x_name);
    const double step = step_of(most_ - least_);
    for (double x = std::ceil(least_ / step - 1e-9) * step; x <= most_ + step * 1e-9; x += step)
      text += svg_line(x_of(x), plot_bottom, x_of(x), plot_bottom + 4, "axis") +
              svg_text(x_of(x), plot_bottom + 18, "middle", tick_text(x));
    return text;
  }

  std::string mark() const {
    if (chart_.mark_x <= 0) return {};
    const double x = x_of(chart_.mark_x);
    const bool is_right = x > (plot_left + plot_right) / 2;
    return svg_line(x, plot_top, x, plot_bottom, "mark") +
           svg_text(is_right ? x - 4 : x + 4, plot_top + 10, is_right ? "end" : "start", chart_.mark);
  }

  std::string at(double x, double y) const { return svg_number(x_of(x)) + "," + svg_number(y_of(y)) + " "; }

  std::string band(const Curve& curve) const {
    std::string there, back;
    for (const CurvePoint& point : curve.points) {
      there += at(point.x, point.high);
      back = at(point.x, point.low) + back;
    }
    const bool has_band =
        std::ranges::any_of(curve.points, [](const CurvePoint& point) { return point.low < point.high; });
    if (!has_band) return {};
    const std::string color(style_of(curve).color);
    if (curve.points.size() == 1) {
      const CurvePoint& only = curve.points.front();
      return "<line x1=\"" + svg_number(x_of(only.x)) + "\" y1=\"" + svg_number(y_of(only.low)) + "\" x2=\"" +
             svg_number(x_of(only.x)) + "\" y2=\"" + svg_number(y_of(only.high)) + "\" stroke=\"" + color + "\"/>\n";
    }
    return "<polygon points=\"" + there + back + "\" fill=\"" + color + "\" fill-opacity=\"0.15\"/>\n";
  }

  static CurveStyle style_of(const Curve& curve) { return curve_style(curve.style, curve.is_hollow); }

  std::string line(const Curve& curve) const {
    const CurveStyle style = style_of(curve);
    std::string points, markers;
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      const CurvePoint& point = curve.points[i];
      points += at(point.x, point.y);
      if (i % marker_distance(curve.points.size()) == 0) markers += svg_marker(style, x_of(point.x), y_of(point.y));
    }
    return "<polyline points=\"" + points + "\" fill=\"none\" " + svg_stroke(style) + "/>\n" + markers;
  }

  std::string legend(std::size_t index) const {
    const Curve& curve = chart_.curves[index];
    const CurveStyle style = style_of(curve);
    const double y = legend_top + legend_step * static_cast<double>(index);
    return "<line x1=\"" + svg_number(plot_left) + "\" y1=\"" + svg_number(y) + "\" x2=\"" +
           svg_number(plot_left + legend_line) + "\" y2=\"" + svg_number(y) + "\" " + svg_stroke(style) + "/>\n" +
           svg_marker(style, plot_left + legend_line / 2, y) +
           svg_text(plot_left + legend_line + 6, y + 4, "start", curve.name);
  }

  const Chart& chart_;
  double least_ = 0, most_ = 0;
  bool has_points_ = false;
};

}  // namespace

std::string svg_of(const Chart& chart) { return ChartPainter(chart).svg(); }

}  // namespace corelane::eval
