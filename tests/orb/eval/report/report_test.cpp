#include "orb/eval/report/report.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "orb/base/registry.h"
#include "orb/eval/report/acceptance_charts.h"
#include "orb/eval/report/chart.h"
#include "orb/eval/report/comparison_tables.h"
#include "orb/eval/report/curve_style.h"
#include "orb/eval/report/examples.h"
#include "orb/eval/report/gantt.h"
#include "orb/eval/report/svg.h"
#include "orb/eval/report/used_policies.h"
#include "orb/eval/scenario_file.h"
#include "orb/eval/virtual_run.h"

namespace report_test {

using namespace corelane;
using namespace corelane::eval;
using namespace std::chrono_literals;

namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++count;
  return count;
}

// Runs a small experiment and returns its page.
std::string page_of(const std::string& title, const std::function<bool()>& is_to_stop = {},
                    const std::string& more = "") {
  const auto cells = parse_scenario(
      "repetitions = 5\n[platform]\ncores = 2\n[generate]\ntasks = 6\n[experiment]\nlength = \"300ms\"\n"
      "[[sweep]]\nfield = \"generate.utilization\"\nvalues = [1.0, 1.9]\n" +
          more,
      "s.toml");
  if (!cells) FAIL(cells.error().text);
  ReportInput input{.title = title, .heading = "Two cores.", .origin = {.mode = "virtual"}};
  Compared compared{.dispatchers = {"mc-orb", "mc-orb*"}, .baseline = "mc-orb*"};
  input.dispatchers = dispatchers_of(cells->front().scenario);
  std::vector<SetResult> results;
  for (const Cell& cell : *cells) {
    input.scenarios.push_back(cell.scenario);
    compared.cells.push_back(cell.swept);
    for (std::int64_t set = 0; set < cell.scenario.repetitions; ++set)
      for (const Dispatcher* const dispatcher : input.dispatchers) {
        auto request = run_request(cell.scenario, set, {});
        request->dispatcher = dispatcher;
        SetResult& result = results.emplace_back(summed_up(*request, run_virtually(*request)));
        result.cell = compared.cells.size() - 1;
        result.set = set;
      }
  }
  input.summary = summarize(compared, results);
  input.tables = tables_of(input.summary, {});
  input.command_of = [](std::size_t cell, std::int64_t set, const Dispatcher& dispatcher) {
    return "again " + std::to_string(cell) + " " + std::to_string(set) + " " + std::string(dispatcher.name);
  };
  input.is_to_stop = is_to_stop;
  return report_of(input).html;
}

}  // namespace

TEST_CASE("a report needs nothing from elsewhere, and runs nothing") {
  const std::string report = page_of("A & B <x>");
  for (const char* const foreign : {"http", "src=", "href=", "<script", "@import", "url("})
    CHECK(count_of(report, foreign) == 0);
  CHECK_THAT(report, Catch::StartsWith("<!DOCTYPE html>") && Catch::EndsWith("</html>\n"));
  CHECK_THAT(report, Catch::Contains("<h1>A &amp; B &lt;x&gt;</h1>"));
}

TEST_CASE("a report has charts of misses, admission and responses, its tables, and the first miss") {
  const std::string report = page_of("x");
  CHECK(count_of(report, "<svg ") == count_of(report, "</svg>"));
  CHECK(count_of(report, "<table>") == 4);
  for (const char* const part : {"Sets with a missed deadline", "Admitted", "Responses beside the deadline",
                                 "Responses beside the computed bound", "The first miss under mc-orb*"})
    CHECK_THAT(report, Catch::Contains(part));
  CHECK(count_of(report, "The first miss under mc-orb<") == 0);
  CHECK(count_of(report, "class=\"late\"") > 0);
}

TEST_CASE("the first miss names its combination and its set, and how to run the set again") {
  const std::string report = page_of("x");
  const auto has = [&](const char* pattern) { return std::regex_search(report, std::regex(pattern)); };
  CHECK(has(">mc-orb\\*, generate.utilization = 1.9, set [1-5]: job [0-9]+ of [a-z0-9-]+ is late<"));
  CHECK(has(">To run this set again: again 1 [0-4] mc-orb\\*<"));
}

TEST_CASE("a report names the policies of each dispatcher") {
  const std::string report =
      page_of("x", {}, "[policy]\nallocation = \"first-fit\"\norder = \"decreasing-utilization\"\n");
  CHECK_THAT(report, Catch::Contains("<h2>Policies</h2>") &&
                         Catch::Contains("<tr><td>mc-orb</td><td>first-fit</td><td>response-time</td>"
                                         "<td>decreasing-utilization</td></tr>") &&
                         Catch::Contains("<tr><td>mc-orb*</td><td>worst-fit</td><td>none</td>"
                                         "<td>decreasing-utilization</td></tr>"));
}

TEST_CASE("a report that compares policies names them in the legends and in headings") {
  const std::string report =
      page_of("x", {}, "[[sweep]]\nfield = \"policy.allocation\"\nvalues = [\"worst-fit\", \"first-fit\"]\n");
  CHECK_THAT(report, Catch::Contains("<tr><td>mc-orb</td><td>worst-fit, first-fit</td>"));
  for (const char* const part : {">mc-orb (any allocation)<", ">mc-orb* (any allocation)<",
                                 ">mc-orb, allocation = ", "The first miss under mc-orb*, allocation = "})
    CHECK_THAT(report, Catch::Contains(part));
}

TEST_CASE("the table of policies says how leader-followers place tasks, and that budgets include slowdowns") {
  Scenario scenario;
  scenario.policy.charge_slowdowns = SlowdownCharge::placed;
  const Table table = used_policies_table(std::span(&scenario, 1), dispatchers(), {});
  REQUIRE(table.rows.size() == dispatchers().size());
  CHECK(table.rows[0] == std::vector<std::string>{"mc-orb", "worst-fit", "response-time", "arrival"});
  CHECK(table.rows[3] == std::vector<std::string>{"leader-followers", "any core", "none", "arrival"});
  CHECK(table.rows[4][1] == "each core in turn");
  CHECK(table.rows[5][1] == "the first core");
  CHECK(table.rows[6] == std::vector<std::string>{"leader-followers-allocated", "worst-fit", "none", "arrival"});
  REQUIRE(table.notes.size() == 1);
  CHECK_THAT(table.notes[0], Catch::Contains("which are estimates"));
  const Dispatcher* const refuses_none = find_named(dispatchers(), "mc-orb*");
  CHECK(used_policies_table(std::span(&scenario, 1), std::span(&refuses_none, 1), {}).notes.empty());
}

TEST_CASE("the table of policies says under which dispatchers no task moves") {
  std::vector<Scenario> scenarios(2);
  scenarios[1].policy.repack = false;
  const Table table = used_policies_table(scenarios, dispatchers(), {});
  CHECK(table.rows[0] ==
        std::vector<std::string>{"mc-orb", "worst-fit, worst-fit without repacking", "response-time", "arrival"});
  CHECK(table.rows[1] == std::vector<std::string>{"mc-orb*", "worst-fit", "none", "arrival"});
}

TEST_CASE("a report that is stopped runs no more sets, and has what is known without them") {
  bool is_asked = false;
  const std::string report = page_of("x", [&] { return is_asked = true; });
  CHECK(is_asked);
  CHECK_THAT(report, Catch::Contains("Sets with a missed deadline") && Catch::EndsWith("</html>\n"));
  CHECK(count_of(report, "Responses beside") == 0);
  CHECK(count_of(report, "The first miss") == 0);
}

TEST_CASE("a report that is stopped later shows the sets that were run") {
  int asked = 0;
  page_of("x", [&] { return ++asked < 0; });
  REQUIRE(asked > 1);
  const int last = asked;  // the question for the note, after all runs
  asked = 0;
  const std::string report = page_of("x", [&] { return ++asked >= last; });
  CHECK_THAT(report, Catch::Contains("The runs were stopped") && Catch::Contains("All jobs of the first 5 sets"));
}

TEST_CASE("text is escaped") { CHECK(escaped("<a b=\"c\">&") == "&lt;a b=&quot;c&quot;&gt;&amp;"); }

TEST_CASE("control characters are not written into a page") { CHECK(escaped("a\x1b[31m\n") == "a?[31m\n"); }

TEST_CASE("colors repeat after eight") {
  CHECK(color_of(0) != color_of(7));
  CHECK(color_of(8) == color_of(0));
}

TEST_CASE("markers and dashes tell 32 curves apart without colors, and second curves from them") {
  std::set<std::tuple<std::size_t, std::string_view, bool>> styles;
  for (std::size_t i = 0; i < 32; ++i)
    for (const bool is_hollow : {false, true}) {
      const CurveStyle style = curve_style(i, is_hollow);
      CHECK(style.color == color_of(i));
      styles.emplace(style.marker, style.dashes, style.is_hollow);
    }
  CHECK(styles.size() == 64);
  CHECK(curve_style(32, false) == curve_style(0, false));
}

TEST_CASE("the legend of a chart shows the line and the marker of each curve") {
  Chart chart{.title = "t"};
  for (std::size_t i = 0; i < 32; ++i) {
    const std::string name = "c" + std::to_string(i);
    chart.curves.push_back({.name = name, .points = {{.x = 1, .y = 0.5, .low = 0.5, .high = 0.5}}, .style = i});
  }
  const std::string svg = svg_of(chart);
  std::set<std::string> drawn;
  for (std::size_t i = 0; i < 32; ++i) {
    const CurveStyle style = curve_style(i, false);
    const double y = 284 + 15 * static_cast<double>(i);
    const std::string line = svg_stroke(style) + "/>\n" + svg_marker(style, 92, y);
    CHECK_THAT(svg, Catch::Contains(line + svg_text(118, y + 4, "start", "c" + std::to_string(i))));
    drawn.insert(svg_stroke(style) + svg_marker(style, 0, 0));
  }
  CHECK(drawn.size() == 32);
}

TEST_CASE("a second curve has dashes and hollow markers") {
  CHECK(svg_stroke(curve_style(1, true)) == "stroke-width=\"2\" stroke=\"#d55e00\" stroke-dasharray=\"5 4\"");
  CHECK_THAT(svg_marker(curve_style(0, true), 1, 2), Catch::Contains("fill=\"#fff\" stroke=\"#0072b2\""));
  CHECK(svg_marker(curve_style(1, false), 1, 2) ==
        "<path d=\"M-3 -3h6v6h-6z\" transform=\"translate(1.0 2.0)\" fill=\"#d55e00\"/>\n");
}

TEST_CASE("a curve of many points has a marker at about ten of them") {
  CHECK(marker_distance(40) == 1);
  CHECK(marker_distance(41) == 4);
  CHECK(marker_distance(200) == 20);
  Curve curve{.name = "c"};
  for (int i = 0; i < 200; ++i) curve.points.push_back({.x = static_cast<double>(i)});
  CHECK(count_of(svg_of(Chart{.title = "t", .curves = {curve}}), "<circle") == 11);  // one in the legend
}

TEST_CASE("stripes tell tasks of one color apart in a Gantt chart and its legend") {
  Gantt gantt{.title = "t", .cores = {CoreId{0}}, .late = {.finish = 9ms, .deadline = 10ms}};
  for (int i = 0; i < 17; ++i) gantt.tasks.push_back("task-" + std::to_string(i));
  gantt.slices.push_back({.task = 0, .begin = Time{0ms}, .end = Time{1ms}});
  gantt.slices.push_back({.task = 8, .begin = Time{1ms}, .end = Time{2ms}});
  gantt.slices.push_back({.task = 16, .begin = Time{2ms}, .end = Time{3ms}});
  const std::string svg = svg_of(gantt);
  CHECK(count_of(svg, "fill=\"#0072b2\"") == 7);  // each task in its bar and in the legend, and the late job
  CHECK(count_of(svg, "stroke=\"#fff\"") == 6);   // one stripe of task-8 and two of task-16, twice
}

TEST_CASE("a chart draws a curve with its band, and a single point with its interval") {
  const Curve curve{
      .name = "c",
      .points = {{.x = 1, .y = 0.2, .low = 0.1, .high = 0.3}, {.x = 2, .y = 0.4, .low = 0.3, .high = 0.5}}};
  const std::string svg = svg_of(Chart{.title = "t", .curves = {curve}});
  CHECK(count_of(svg, "<polygon") == 1);
  CHECK(count_of(svg, "<circle") == 3);  // one in the legend
  const Curve one{.name = "c", .points = {{.x = 1, .y = 0.2, .low = 0.1, .high = 0.3}}};
  CHECK(count_of(svg_of(Chart{.title = "t", .curves = {one}}), "<polygon") == 0);
  CHECK_THAT(svg_of(Chart{.title = "t"}), Catch::Contains("no data"));
}

TEST_CASE("the part above x falls from all values to none") {
  const Curve curve = exceedance("c", {4, 1, 3, 2}, 0);
  REQUIRE(curve.points.size() == 4);
  CHECK(curve.points[0].x == 1);
  CHECK(curve.points[0].y == 0.75);
  CHECK(curve.points[3].x == 4);
  CHECK(curve.points[3].y == 0);
  CHECK(exceedance("c", {}, 0).points.empty());
}

TEST_CASE("a curve of many values has few points, ascending") {
  std::vector<double> values;
  for (int i = 0; i < 100'000; ++i) values.push_back(i);
  const Curve curve = exceedance("c", values, 0);
  CHECK(curve.points.size() <= 201);
  CHECK(std::ranges::is_sorted(curve.points, {}, &CurvePoint::x));
  CHECK(curve.points.back().x == 99'999);
}

TEST_CASE("the last sweep is the x axis, and the others give a chart each") {
  ExperimentSummary summary;
  for (const char* const balance : {"0.1", "0.2"})
    for (const char* const utilization : {"1.5", "1.4"}) {
      CellSummary& cell = summary.cells.emplace_back();
      cell.swept = {{"balance", balance}, {"utilization", utilization}};
      cell.dispatchers.push_back({.dispatcher = "mc-orb", .refuses = true});
    }
  const auto charts = miss_charts(summary);
  REQUIRE(charts.size() == 2);
  CHECK_THAT(charts[1].title, Catch::Contains("balance = 0.2"));
  CHECK(charts[1].x_name == "utilization");
  REQUIRE(charts[1].curves[0].points.size() == 2);
  CHECK(charts[1].curves[0].points[0].x == 1.4);
  CHECK(admission_charts(summary).size() == 2);
  summary.cells[0].swept.back().second = "worst-fit";  // no number
  CHECK(miss_charts(summary).empty());
}

TEST_CASE("swept durations are on the x axis in one unit, which its title names") {
  ExperimentSummary summary;
  for (const char* const duration : {"1ms", "0s", "20us", "2500ns"}) {
    CellSummary& cell = summary.cells.emplace_back();
    cell.swept = {{"overheads.release", duration}};
    cell.dispatchers.push_back({.dispatcher = "mc-orb", .refuses = true});
  }
  const auto charts = miss_charts(summary);
  REQUIRE(charts.size() == 1);
  CHECK(charts[0].x_name == "overheads.release (us)");
  REQUIRE(charts[0].curves[0].points.size() == 4);
  const double expected[] = {0, 2.5, 20, 1000};
  for (std::size_t i = 0; i < 4; ++i) CHECK(charts[0].curves[0].points[i].x == Approx(expected[i]));
  CHECK(admission_charts(summary).size() == 1);
  summary.cells[0].swept.back().second = "1";  // no duration
  CHECK(miss_charts(summary).empty());
}

}  // namespace report_test
