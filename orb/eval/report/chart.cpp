#include "orb/eval/report/chart.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "orb/eval/report/curve_style.h"
#include "orb/eval/report/svg.h"
#include "orb/eval/report/ticks.h"

namespace corelane::eval {
namespace {

constexpr double chart_width = 520, chart_height = 300;
constexpr double plot_left = 72, plot_right = 505, plot_top = 34, plot_bottom = 232;
constexpr double legend_top = 284, legend_step = 15, legend_line = 40;
constexpr double title_y = 14, mark_y = 30, right_margin = 8;

// ChartPainter draws one chart.
class ChartPainter {
 public:
  explicit ChartPainter(const Chart& chart) : chart_(chart) {
    bool is_first = true;
    for (const Curve& curve : chart.curves)
      for (const CurvePoint& point : curve.points) {
        if (is_logarithmic() && point.x <= 0) continue;
        least_ = is_first ? point.x : std::min(least_, point.x);
        most_ = is_first ? point.x : std::max(most_, point.x);
        is_first = false;
      }
    has_points_ = !is_first;
    if (chart.mark_x > 0) least_ = std::min(least_, chart.mark_x), most_ = std::max(most_, chart.mark_x * 1.05);
    if (chart.x_axis == XAxis::zero) least_ = std::min(least_, 0.0);
    if (most_ > least_) return;
    if (is_logarithmic())
      least_ /= 2, most_ *= 2;
    else
      least_ -= 0.5, most_ += 0.5;
  }

  std::string svg() const {
    const std::vector<std::string> title = lines_of(chart_.title, chart_width - plot_left - right_margin);
    const double above = legend_step * static_cast<double>(title.size() - 1);  // the lines before the last one
    const Legend legend = legend_of();
    std::string text = "<svg viewBox=\"0 " + svg_number(0 - above) + " " + svg_number(chart_width) + " " +
                       svg_number(above + chart_height + legend_step * static_cast<double>(legend.rows)) +
                       "\" role=\"img\" aria-label=\"" + escaped(chart_.title) + "\">\n" +
                       svg_lines(plot_left, title_y - above, legend_step, title);
    if (!has_points_) return text + svg_text(chart_width / 2, 120, "middle", "no data") + "</svg>\n";
    text += y_axis() + x_axis() + mark();
    for (const Curve& curve : chart_.curves) text += band(curve) + line(curve);
    return text + legend.svg + "</svg>\n";
  }

 private:
  struct Legend {
    std::string svg{};
    std::size_t rows = 0;
  };

  bool is_logarithmic() const { return chart_.x_axis == XAxis::logarithmic; }
  double on_scale(double x) const { return is_logarithmic() ? std::log10(std::max(x, least_)) : x; }
  double x_of(double x) const {
    const double part = (on_scale(x) - on_scale(least_)) / (on_scale(most_) - on_scale(least_));
    return plot_left + (plot_right - plot_left) * part;
  }
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
    for (const double x : is_logarithmic() ? logarithmic_ticks(least_, most_) : linear_ticks(least_, most_, 5))
      text += svg_line(x_of(x), plot_bottom, x_of(x), plot_bottom + 4, "axis") +
              svg_text(x_of(x), plot_bottom + 18, "middle", tick_text(x));
    return text;
  }

  // The name of the mark is above the plot, where no curve crosses it.
  std::string mark() const {
    if (chart_.mark_x <= 0) return {};
    const double x = x_of(chart_.mark_x);
    const bool is_right = x > (plot_left + plot_right) / 2;
    return svg_line(x, plot_top, x, plot_bottom, "mark") + svg_text(x, mark_y, is_right ? "end" : "start", chart_.mark);
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

  Legend legend_of() const {
    constexpr double text_left = plot_left + legend_line + 6;
    Legend legend;
    for (const Curve& curve : chart_.curves) {
      const CurveStyle style = style_of(curve);
      const double y = legend_top + legend_step * static_cast<double>(legend.rows);
      const std::vector<std::string> name = lines_of(curve.name, chart_width - text_left - right_margin);
      legend.svg += "<line x1=\"" + svg_number(plot_left) + "\" y1=\"" + svg_number(y) + "\" x2=\"" +
                    svg_number(plot_left + legend_line) + "\" y2=\"" + svg_number(y) + "\" " + svg_stroke(style) +
                    "/>\n" + svg_marker(style, plot_left + legend_line / 2, y) +
                    svg_lines(text_left, y + 4, legend_step, name);
      legend.rows += name.size();
    }
    if (chart_.note.empty()) return legend;
    const std::vector<std::string> note = lines_of(chart_.note, chart_width - plot_left - right_margin);
    legend.svg +=
        svg_lines(plot_left, legend_top + legend_step * static_cast<double>(legend.rows) + 4, legend_step, note);
    legend.rows += note.size();
    return legend;
  }

  const Chart& chart_;
  double least_ = 0, most_ = 0;
  bool has_points_ = false;
};

}  // namespace

void add_curve(Curve curve, Chart& chart) {
  const auto same = std::ranges::find_if(chart.curves, [&](const Curve& other) {
    return other.is_hollow == curve.is_hollow && other.points == curve.points;
  });
  if (same == chart.curves.end())
    chart.curves.push_back(std::move(curve));
  else
    same->name += "; " + curve.name;
}

std::string svg_of(const Chart& chart) { return ChartPainter(chart).svg(); }

}  // namespace corelane::eval
