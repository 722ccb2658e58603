#include "orb/eval/report/acceptance_charts.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "orb/base/contract.h"
#include "orb/eval/report/used_policies.h"

namespace corelane::eval {
namespace {

std::optional<double> number_in(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return std::nullopt;
  return value;
}

// The cells of a curve: those that differ only in what the x axis shows.
struct CellGroup {
  std::string policies{};
  std::vector<std::pair<double, const CellSummary*>> cells{};
};

// The cells of one chart: those that differ in what the x axis shows, and in their policies.
struct Panel {
  std::string name{};
  std::string x_name{};
  std::vector<CellGroup> groups{};
};

// Returns which swept field the x axis shows: the last one that is no policy.
std::optional<std::size_t> axis_of(const SweptValues& swept) {
  for (std::size_t i = swept.size(); i > 0; --i)
    if (!is_policy(swept[i - 1].first)) return i - 1;
  return std::nullopt;
}

// A unit in which the x axis shows durations.
struct DurationUnit {
  const char* name;
  Duration length;
};

constexpr DurationUnit duration_units[] = {{"s", std::chrono::seconds{1}},
                                           {"ms", std::chrono::milliseconds{1}},
                                           {"us", std::chrono::microseconds{1}},
                                           {"ns", std::chrono::nanoseconds{1}}};

// Returns the largest unit in which no duration on the x axis is a fraction below 1. Returns nothing if the x axis does
// not show durations.
const DurationUnit* duration_unit_of(const ExperimentSummary& summary) {
  Duration least = Duration::max();
  for (const CellSummary& cell : summary.cells) {
    const auto axis = axis_of(cell.swept);
    const auto duration = axis ? parse_duration(cell.swept[*axis].second) : std::nullopt;
    if (!duration) return nullptr;
    if (*duration > Duration::zero()) least = std::min(least, *duration);
  }
  return std::ranges::find_if(duration_units, [&](const DurationUnit& unit) { return least >= unit.length; });
}

// Returns where the x axis shows a swept value; nothing if that is neither a number nor a duration.
std::optional<double> x_of_value(const std::string& value, const DurationUnit* unit) {
  if (unit == nullptr) return number_in(value);
  const auto duration = parse_duration(value);
  if (!duration) return std::nullopt;
  return static_cast<double>(duration->count()) / static_cast<double>(unit->length.count());
}

std::string panel_name(const SweptValues& swept, std::size_t axis) {
  std::string name;
  for (std::size_t i = 0; i < axis; ++i)
    if (!is_policy(swept[i].first)) name += (name.empty() ? "" : ", ") + swept[i].first + " = " + swept[i].second;
  return name;
}

// Returns the element with this name, which it adds if there is none.
template <typename Element>
Element& element_named(std::vector<Element>& elements, std::string Element::*member, const std::string& name) {
  const auto found = std::ranges::find(elements, name, member);
  if (found != elements.end()) return *found;
  Element& added = elements.emplace_back();
  added.*member = name;
  return added;
}

// Returns the title of the x axis for a field.
std::string title_of_axis(const std::string& field) {
  return field == "generate.utilization" ? "total utilization, cores (generate.utilization)" : field;
}

std::vector<Panel> panels_of(const ExperimentSummary& summary) {
  std::vector<Panel> panels;
  const DurationUnit* const unit = duration_unit_of(summary);
  for (const CellSummary& cell : summary.cells) {
    const auto axis = axis_of(cell.swept);
    if (!axis) return {};
    const auto x = x_of_value(cell.swept[*axis].second, unit);
    if (!x) return {};
    Panel& panel = element_named(panels, &Panel::name, panel_name(cell.swept, *axis));
    panel.x_name =
        title_of_axis(cell.swept[*axis].first) + (unit == nullptr ? "" : std::string(" (") + unit->name + ")");
    element_named(panel.groups, &CellGroup::policies, swept_policies(cell.swept)).cells.emplace_back(*x, &cell);
  }
  for (Panel& panel : panels)
    for (CellGroup& group : panel.groups)
      std::ranges::sort(group.cells, {}, [](const auto& cell) { return cell.first; });
  return panels;
}

constexpr const char* note_of_band = "band: 95 % interval (Wilson)";

using PointFunction = std::function<CurvePoint(const DispatcherSummary&)>;

// Returns the points of a dispatcher in a group of the panel.
std::vector<CurvePoint> points_of(const CellGroup& group, std::size_t dispatcher, const PointFunction& point_of) {
  std::vector<CurvePoint> points;
  for (const auto& [x, cell] : group.cells) {
    CurvePoint point = point_of(cell->dispatchers[dispatcher]);
    point.x = x;
    points.push_back(point);
  }
  return points;
}

// Returns the name of a curve that shows a dispatcher in these groups of the panel.
std::string curve_name(const Panel& panel, const std::vector<std::size_t>& groups, std::size_t dispatcher) {
  const CellSummary& cell = *panel.groups.front().cells.front().second;
  const std::string& name = cell.dispatchers[dispatcher].dispatcher;
  if (groups.size() > 1 && groups.size() == panel.groups.size()) return name + " (" + any_policies(cell.swept) + ")";
  std::string policies;
  for (const std::size_t group : groups) policies += (policies.empty() ? "" : " or ") + panel.groups[group].policies;
  return with_policies(name, policies);
}

// The curves of a dispatcher in a panel.
struct ShownValue {
  std::size_t dispatcher = 0;
  const char* what = "";   // behind the names of the curves
  bool is_second = false;  // another value of the dispatcher is in the chart
};

// Adds a curve for each group of the panel. Groups with the same points have one together.
void add_curves(const Panel& panel, const ShownValue& shown, const PointFunction& point_of, Chart& chart) {
  std::vector<std::vector<CurvePoint>> points;
  for (const CellGroup& group : panel.groups) points.push_back(points_of(group, shown.dispatcher, point_of));
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto first = std::ranges::find(points, points[i]) - points.begin();
    if (static_cast<std::size_t>(first) != i) continue;
    std::vector<std::size_t> groups;
    for (std::size_t other = i; other < points.size(); ++other)
      if (points[other] == points[i]) groups.push_back(other);
    add_curve({.name = curve_name(panel, groups, shown.dispatcher) + shown.what,
               .points = points[i],
               .style = shown.dispatcher * panel.groups.size() + i,
               .is_hollow = shown.is_second},
              chart);
  }
}

CurvePoint point_of_estimate(const Estimate& estimate) {
  return {.y = estimate.value(), .low = estimate.low, .high = estimate.high};
}

CurvePoint point_of_part(double part, double whole) {
  const double y = whole > 0 ? part / whole : 0;
  return {.y = y, .low = y, .high = y};
}

Chart empty_chart(const Panel& panel, const std::string& title) {
  return {.title = title + (panel.name.empty() ? "" : ": " + panel.name), .x_name = panel.x_name};
}

}  // namespace

std::vector<Chart> miss_charts(const ExperimentSummary& summary) {
  std::vector<Chart> charts;
  for (const Panel& panel : panels_of(summary)) {
    Chart& chart = charts.emplace_back(empty_chart(panel, "Sets with a missed deadline"));
    chart.y_name = "fraction of sets";
    chart.note = note_of_band;
    for (std::size_t d = 0; d < summary.cells.front().dispatchers.size(); ++d)
      add_curves(
          panel, {.dispatcher = d}, [](const DispatcherSummary& sum) { return point_of_estimate(sum.missed_sets); },
          chart);
  }
  return charts;
}

std::vector<Chart> admission_charts(const ExperimentSummary& summary) {
  std::vector<Chart> charts;
  for (const Panel& panel : panels_of(summary)) {
    Chart chart = empty_chart(panel, "Admitted");
    chart.y_name = "fraction of sets or utilization";
    chart.note = std::string("whole sets: every task is admitted. ") + note_of_band;
    for (std::size_t d = 0; d < summary.cells.front().dispatchers.size(); ++d) {
      if (!summary.cells.front().dispatchers[d].refuses) continue;
      add_curves(
          panel, {.dispatcher = d, .what = ": whole sets"},
          [](const DispatcherSummary& sum) { return point_of_estimate(sum.admitted_sets); }, chart);
      add_curves(
          panel, {.dispatcher = d, .what = ": utilization", .is_second = true},
          [](const DispatcherSummary& sum) { return point_of_part(sum.admitted_utilization, sum.utilization); }, chart);
    }
    if (!chart.curves.empty()) charts.push_back(std::move(chart));
  }
  return charts;
}

}  // namespace corelane::eval
