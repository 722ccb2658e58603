#include "orb/eval/report/curve_style.h"

#include <array>

#include "orb/eval/report/svg.h"

namespace corelane::eval {
namespace {

// Paths around the middle of the marker; empty: a circle.
constexpr std::array<std::string_view, color_count> shapes{
    "",
    "M-3 -3h6v6h-6z",                                                // a square
    "M0 -3.6L3.6 2.8H-3.6z",                                         // a triangle
    "M0 -4L4 0L0 4L-4 0z",                                           // a diamond
    "M0 3.6L3.6 -2.8H-3.6z",                                         // a triangle that points down
    "M-1.2 -3.8h2.4v2.6h2.6v2.4h-2.6v2.6h-2.4v-2.6h-2.6v-2.4h2.6z",  // a plus
    "M-3.4 -3.4h6.8L-3.4 3.4h6.8z",                                  // an hourglass
    "M-3.4 -3.4v6.8L3.4 -3.4v6.8z",                                  // the same, turned
};
constexpr std::array<std::string_view, 4> dashes{"", "10 3", "10 3 2 3", "2 3"};
constexpr std::string_view hollow_dashes = "5 4";  // where the first curve of the style has a solid line

}  // namespace

CurveStyle curve_style(std::size_t index, bool is_hollow) noexcept {
  const std::size_t group = index / shapes.size() % dashes.size();
  return {.color = color_of(index),
          .marker = index % shapes.size(),
          .dashes = is_hollow && dashes[group].empty() ? hollow_dashes : dashes[group],
          .is_hollow = is_hollow};
}

std::string svg_stroke(const CurveStyle& style) {
  const std::string attributes = "stroke-width=\"2\" stroke=\"" + std::string(style.color) + "\"";
  return style.dashes.empty() ? attributes : attributes + " stroke-dasharray=\"" + std::string(style.dashes) + "\"";
}

std::string svg_marker(const CurveStyle& style, double x, double y) {
  const std::string color(style.color), path(shapes[style.marker]);
  const std::string paint = (style.is_hollow ? "fill=\"#fff\" stroke=\"" : "fill=\"") + color + "\"/>\n";
  if (path.empty()) return "<circle cx=\"" + svg_number(x) + "\" cy=\"" + svg_number(y) + "\" r=\"2.6\" " + paint;
  return "<path d=\"" + path + "\" transform=\"translate(" + svg_number(x) + " " + svg_number(y) + ")\" " + paint;
}

}  // namespace corelane::eval
