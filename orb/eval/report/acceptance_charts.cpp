#include "orb/eval/report/acceptance_charts.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace corelane::eval {
namespace {

std::optional<double> number_in(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return std::nullopt;
  return value;
}

// The cells of one chart: those that differ in the last sweep only.
struct Panel {
  std::string name{};
  std::vector<std::pair<double, const CellSummary*>> cells{};
};

std::string panel_name(const CellSummary& cell) {
  std::string name;
  for (std::size_t i = 0; i + 1 < cell.swept.size(); ++i)
    name += (name.empty() ? "" : ", ") + cell.swept[i].first + " = " + cell.swept[i].second;
  return name;
}

std::vector<Panel> panels_of(const ExperimentSummary& summary) {
  std::vector<Panel> panels;
  for (const CellSummary& cell : summary.cells) {
    if (cell.swept.empty()) return {};
    const auto x = number_in(cell.swept.back().second);
    if (!x) return {};
    const std::string name = panel_name(cell);
    if (panels.empty() || panels.back().name != name) panels.push_back({.name = name});
    panels.back().cells.emplace_back(*x, &cell);
  }
  for (Panel& panel : panels) std::ranges::sort(panel.cells, {}, [](const auto& cell) { return cell.first; });
  return panels;
}

using PointFunction = std::function<CurvePoint(const DispatcherSummary&)>;

Curve curve_of(const Panel& panel, std::size_t dispatcher, std::string name, const PointFunction& point_of) {
  Curve curve{.name = std::move(name), .color = dispatcher};
  for (const auto& [x, cell] : panel.cells) {
    CurvePoint point = point_of(cell->dispatchers[dispatcher]);
    point.x = x;
    curve.points.push_back(point);
  }
  return curve;
}

CurvePoint point_of_estimate(const Estimate& estimate) {
  return {.y = estimate.value(), .low = estimate.low, .high = estimate.high};
}

CurvePoint point_of_part(double part, double whole) {
  const double y = whole > 0 ? part / whole : 0;
  return {.y = y, .low = y, .high = y};
}

Chart empty_chart(const Panel& panel, const std::string& title) {
  return {.title = title + (panel.name.empty() ? "" : ": " + panel.name),
          .x_name = panel.cells.front().second->swept.back().first};
}

}  // namespace

std::vector<Chart> miss_charts(const ExperimentSummary& summary) {
  std::vector<Chart> charts;
  for (const Panel& panel : panels_of(summary)) {
    Chart& chart = charts.emplace_back(empty_chart(panel, "Sets with a missed deadline"));
    chart.y_name = "fraction of sets, 95 %";
    for (std::size_t d = 0; d < summary.cells.front().dispatchers.size(); ++d)
      chart.curves.push_back(curve_of(panel, d, summary.cells.front().dispatchers[d].dispatcher,
                                      [](const DispatcherSummary& sum) { return point_of_estimate(sum.missed_sets); }));
  }
  return charts;
}

std::vector<Chart> admission_charts(const ExperimentSummary& summary) {
  std::vector<Chart> charts;
  for (const Panel& panel : panels_of(summary)) {
    Chart chart = empty_chart(panel, "Admitted");
    chart.y_name = "fraction";
    for (std::size_t d = 0; d < summary.cells.front().dispatchers.size(); ++d) {
      const DispatcherSummary& first = summary.cells.front().dispatchers[d];
      if (!first.refuses) continue;
      chart.curves.push_back(
          curve_of(panel, d, first.dispatcher + ": sets of which every task is admitted, 95 %",
                   [](const DispatcherSummary& sum) { return point_of_estimate(sum.admitted_sets); }));
      chart.curves.push_back(curve_of(panel, d, first.dispatcher + ": utilization", [](const DispatcherSummary& sum) {
        return point_of_part(sum.admitted_utilization, sum.utilization);
      }));
      chart.curves.back().is_dashed = true;
    }
    if (!chart.curves.empty()) charts.push_back(std::move(chart));
  }
  return charts;
}

}  // namespace corelane::eval
