#include "orb/eval/report/chart.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <regex>
#include <string>
#include <vector>

#include "orb/eval/report/acceptance_charts.h"
#include "orb/eval/report/svg.h"
#include "orb/eval/report/ticks.h"

namespace chart_test {

using namespace corelane::eval;
using Catch::Contains;

namespace {

constexpr double width_of_chart = 520;

// Requires that no text of the figure that begins at its x ends beyond the width.
void check_widths(const std::string& svg, double width) {
  static const std::regex text("<text x=\"([0-9.]+)\" y=\"[-0-9.]+\" text-anchor=\"start\">([^<]*)</text>");
  std::size_t texts = 0;
  for (std::sregex_iterator match(svg.begin(), svg.end(), text), end; match != end; ++match, ++texts) {
    INFO((*match)[2]);
    CHECK(std::stod((*match)[1]) + text_width((*match)[2].str()) <= width);
  }
  CHECK(texts > 0);
}

Curve curve_from(double first, double last) {
  return {.name = "c", .points = {{.x = first, .y = 0.5, .low = 0.5, .high = 0.5}, {.x = last, .y = 0.1}}};
}

std::string tick_at_axis(const std::string& text) { return "y=\"250.0\" text-anchor=\"middle\">" + text + "<"; }

// Returns combinations of two utilizations with two allocations: the sets of mc-orb* that miss a deadline do not depend
// on the allocation, and those of mc-orb do.
ExperimentSummary allocations() {
  ExperimentSummary summary;
  for (const char* const utilization : {"1.4", "1.8"})
    for (const char* const allocation : {"worst-fit", "first-fit"}) {
      CellSummary& cell = summary.cells.emplace_back();
      cell.swept = {{"generate.utilization", utilization}, {"policy.allocation", allocation}};
      cell.dispatchers.push_back({.dispatcher = "mc-orb", .refuses = true});
      cell.dispatchers.push_back({.dispatcher = "mc-orb*"});
      const bool is_first_fit = std::string(allocation) == "first-fit";
      cell.dispatchers[0].missed_sets = {.hits = is_first_fit ? 3u : 1u, .trials = 10, .low = 0, .high = 1};
      cell.dispatchers[1].missed_sets = {.hits = 8, .trials = 10, .low = 0, .high = 1};
    }
  return summary;
}

}  // namespace

TEST_CASE("text is wrapped at blanks, and a word that is too wide is divided") {
  const double width = text_width("1234567890");
  CHECK(lines_of("", width) == std::vector<std::string>{""});
  CHECK(lines_of("one two three", width) == std::vector<std::string>{"one two", "three"});
  CHECK(lines_of("1234567890 x", width) == std::vector<std::string>{"1234567890", "x"});
  CHECK(lines_of("123456789012", width) == std::vector<std::string>{"1234567890", "12"});
  CHECK(text_width("\xc3\xa4") == text_width("a"));
  CHECK(lines_of("\xc3\xa4\xc3\xa4", text_width("a")) == std::vector<std::string>{"\xc3\xa4", "\xc3\xa4"});
}

TEST_CASE("marks of an axis are at round numbers") {
  const auto texts_of = [](const std::vector<double>& ticks) {
    std::vector<std::string> texts;
    for (const double tick : ticks) texts.push_back(tick_text(tick));
    return texts;
  };
  using Texts = std::vector<std::string>;
  CHECK(texts_of(linear_ticks(0, 1.05, 5)) == Texts{"0", "0.5", "1"});
  CHECK(texts_of(linear_ticks(1, 2, 5)) == Texts{"1", "1.2", "1.4", "1.6", "1.8", "2"});
  CHECK(texts_of(linear_ticks(-3, 47, 10)) == Texts{"0", "5", "10", "15", "20", "25", "30", "35", "40", "45"});
  CHECK(texts_of(logarithmic_ticks(0.15, 37)) == Texts{"0.2", "0.5", "1", "2", "5", "10", "20"});
  CHECK(texts_of(logarithmic_ticks(0.002, 200)) == Texts{"0.01", "0.1", "1", "10", "100"});
}

TEST_CASE("an axis that begins at zero has a mark there, and one where the responses reach the deadline") {
  const std::string svg = svg_of(
      Chart{.title = "t", .curves = {curve_from(0.4, 0.9)}, .x_axis = XAxis::zero, .mark_x = 1, .mark = "bound"});
  for (const char* const tick : {"0", "0.5", "1"}) CHECK_THAT(svg, Contains(tick_at_axis(tick)));
}

TEST_CASE("a logarithmic axis shows small and great values") {
  const std::string svg = svg_of(Chart{.title = "t",
                                       .curves = {curve_from(0.01, 100), curve_from(0, 1)},
                                       .x_axis = XAxis::logarithmic,
                                       .mark_x = 1,
                                       .mark = "deadline"});
  for (const char* const tick : {"0.01", "0.1", "1", "10", "100"}) CHECK_THAT(svg, Contains(tick_at_axis(tick)));
  CHECK_THAT(svg, Contains("x=\"72.0\" " + tick_at_axis("0.01")));  // at the left end
  CHECK_THAT(svg, Contains("x=\"505.0\" " + tick_at_axis("100")) &&
                      Contains("<line x1=\"288.5\" y1=\"34.0\""));  // 1: the mark
  CHECK_THAT(svg, !Contains("nan") && !Contains("inf"));
}

TEST_CASE("the name of the mark is above the curves") {
  const std::string svg =
      svg_of(Chart{.title = "t", .curves = {curve_from(0, 1)}, .x_axis = XAxis::zero, .mark_x = 1, .mark = "bound"});
  CHECK_THAT(svg, Contains("y=\"30.0\" text-anchor=\"end\">bound<"));  // the plot begins at 34
}

TEST_CASE("no text of a chart ends beyond its width") {
  const std::string name = "leader-followers-allocated, allocation = worst-fit, test = response-time, order = arrival";
  Chart chart{.title = "Sets with a missed deadline: " + name, .note = "note " + name};
  chart.curves = {curve_from(0, 1), curve_from(0, 2)};
  chart.curves[0].name = name;
  const std::string svg = svg_of(chart);
  check_widths(svg, width_of_chart);
  CHECK_THAT(svg, Contains("viewBox=\"0 -15.0 520.0 390.0\""));  // one more line of the title; 5 lines of the legend
  CHECK_THAT(svg, Contains("y=\"318.0\" text-anchor=\"start\">c<"));  // below both lines of the first name
}

TEST_CASE("a curve that the policies do not change is drawn once") {
  const auto charts = miss_charts(allocations());
  REQUIRE(charts.size() == 1);
  REQUIRE(charts[0].curves.size() == 3);
  CHECK(charts[0].curves[0].name == "mc-orb, allocation = worst-fit");
  CHECK(charts[0].curves[1].name == "mc-orb, allocation = first-fit");
  CHECK(charts[0].curves[2].name == "mc-orb* (any allocation)");
}

TEST_CASE("a curve of some of the policies names them") {
  ExperimentSummary summary = allocations();
  for (const std::size_t cell : {1U, 3U}) {
    CellSummary other = summary.cells[cell];
    other.swept.back().second = "best-fit";
    summary.cells.push_back(other);
  }
  const auto charts = miss_charts(summary);
  REQUIRE(charts.size() == 1);
  REQUIRE(charts[0].curves.size() == 3);
  CHECK(charts[0].curves[1].name == "mc-orb, allocation = first-fit or allocation = best-fit");
}

TEST_CASE("dispatchers with the same curve share it") {
  ExperimentSummary summary = allocations();
  for (CellSummary& cell : summary.cells) cell.dispatchers[0].missed_sets = cell.dispatchers[1].missed_sets;
  const auto charts = miss_charts(summary);
  REQUIRE(charts.size() == 1);
  REQUIRE(charts[0].curves.size() == 1);
  CHECK(charts[0].curves[0].name == "mc-orb (any allocation); mc-orb* (any allocation)");
}

TEST_CASE("axes say what they show, in which unit, and what the band is") {
  const auto misses = miss_charts(allocations()), admission = admission_charts(allocations());
  REQUIRE(misses.size() == 1);
  REQUIRE(admission.size() == 1);
  CHECK(misses[0].x_name == "total utilization, cores (generate.utilization)");
  CHECK(misses[0].y_name == "fraction of sets");
  CHECK(admission[0].y_name == "fraction of sets or utilization");
  for (const Chart* const chart : {&misses[0], &admission[0]}) {
    CHECK_THAT(svg_of(*chart),
               Contains(">band: 95 % interval (Wilson)<") || Contains(". band: 95 % interval (Wilson)<"));
    check_widths(svg_of(*chart), width_of_chart);
  }
}

}  // namespace chart_test
