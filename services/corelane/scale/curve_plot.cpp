#include "services/corelane/scale/curve_plot.h"

#include <algorithm>
#include <cstddef>

#include "orb/eval/report/curve_style.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

// The drawing area, in pixels.
struct Area {
  static constexpr double left = 50, top = 20, width = 560, height = 360;
  static constexpr double right = left + width, bottom = top + height;
};
constexpr double legend_line = 40, legend_step = 16;

std::string escaped(const std::string& text) {
  std::string result;
  for (const char character : plain(text)) switch (character) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += character;
    }
  return result;
}

// Maps cores and speed-ups to pixels.
struct Axes {
  int most_cores = 1;
  double highest = 1;  // speed-up

  double x(double cores) const { return Area::left + Area::width * cores / most_cores; }
  double y(double speed_up) const { return Area::top + Area::height * (1 - speed_up / highest); }
};

Axes axes_of(const std::vector<PlottedCurve>& curves) {
  Axes axes;
  for (const PlottedCurve& curve : curves)
    for (const scale::SpeedUp& point : curve.points) {
      axes.most_cores = std::max(axes.most_cores, point.cores);
      axes.highest = std::max({axes.highest, point.speed_up, static_cast<double>(point.cores)});
    }
  return axes;
}

std::string line_between(double x1, double y1, double x2, double y2, const char* style) {
  return format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, style);
}

// Draws about eight labels on each axis.
std::string grid(const Axes& axes) {
  std::string text;
  const int step = std::max(1, (axes.most_cores + 7) / 8);
  for (int cores = 0; cores <= axes.most_cores; cores += step) {
    text += line_between(axes.x(cores), Area::top, axes.x(cores), Area::bottom, "stroke=\"#ddd\"");
    text += format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%d</text>\n", axes.x(cores), Area::bottom + 18,
                   cores);
  }
  for (int line = 0; line <= 8; ++line) {
    const double speed_up = axes.highest * line / 8;
    text += line_between(Area::left, axes.y(speed_up), Area::right, axes.y(speed_up), "stroke=\"#ddd\"");
    text += format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.3g</text>\n", Area::left - 6,
                   axes.y(speed_up) + 4, speed_up);
  }
  return text + format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">cores</text>\n",
                       Area::left + Area::width / 2, Area::bottom + 36);
}

// Draws a curve, and its line of the legend beside the diagram.
std::string polyline(const PlottedCurve& curve, const Axes& axes, std::size_t number) {
  const eval::CurveStyle style = eval::curve_style(number, false);
  const std::string stroke = eval::svg_stroke(style);
  std::string points, markers;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const double x = axes.x(curve.points[i].cores), y = axes.y(curve.points[i].speed_up);
    points += format("%.1f,%.1f ", x, y);
    if (i % eval::marker_distance(curve.points.size()) == 0) markers += eval::svg_marker(style, x, y);
  }
  const double left = Area::right + 8, y = Area::top + legend_step * static_cast<double>(number + 1);
  return "<polyline fill=\"none\" " + stroke + " points=\"" + points + "\"/>\n" + markers +
         line_between(left, y - 4, left + legend_line, y - 4, stroke.c_str()) +
         eval::svg_marker(style, left + legend_line / 2, y - 4) +
         format("<text x=\"%.1f\" y=\"%.1f\">", left + legend_line + 6, y) + escaped(curve.name) + "</text>\n";
}

std::string diagram(const std::vector<PlottedCurve>& curves) {
  const Axes axes = axes_of(curves);
  const double legend_bottom = Area::top + legend_step * static_cast<double>(curves.size() + 1);
  std::string text = format("<svg width=\"%.0f\" height=\"%.0f\" font-size=\"12\" font-family=\"sans-serif\">\n",
                            Area::right + 176, std::max(Area::bottom + 44, legend_bottom));
  text += grid(axes);
  text += line_between(axes.x(0), axes.y(0), axes.x(axes.most_cores), axes.y(axes.most_cores),
                       "stroke=\"#888\" stroke-dasharray=\"4\"");
  for (std::size_t i = 0; i < curves.size(); ++i) text += polyline(curves[i], axes, i);
  return text + "</svg>\n";
}

std::string table_of(const PlottedCurve& curve) {
  std::string text = "<h2>" + escaped(curve.name) + "</h2>\n<table><tr><th>cores</th><th>speed-up</th></tr>\n";
  for (const scale::SpeedUp& point : curve.points)
    text += format("<tr><td>%d</td><td>%.2f</td></tr>\n", point.cores, point.speed_up);
  return text + "</table>\n";
}

}  // namespace

std::string html_of(const std::string& title, const std::vector<PlottedCurve>& curves) {
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + escaped(title) +
      "</title>\n<style>body{font-family:sans-serif} td,th{padding:0 1em;text-align:right}</style></head>\n"
      "<body><h1>" +
      escaped(title) + "</h1>\n<p>Speed-up over cores; the gray line without markers is the ideal one.</p>\n";
  text += diagram(curves);
  for (const PlottedCurve& curve : curves) text += table_of(curve);
  return text + "</body></html>\n";
}

}  // namespace corelane::tool
