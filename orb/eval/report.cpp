#include "orb/eval/report.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "orb/base/counted.h"
#include "orb/eval/report/acceptance_charts.h"
#include "orb/eval/report/chart.h"
#include "orb/eval/report/examples.h"
#include "orb/eval/report/gantt.h"
#include "orb/eval/report/svg.h"

namespace corelane::eval {
namespace {

constexpr const char* page_style =
    "body{font:15px/1.45 system-ui,sans-serif;color:#1b1b1b;background:#fff;max-width:1120px;margin:24px auto;"
    "padding:0 16px}\n"
    "h1{font-size:24px;margin-bottom:4px}h2{font-size:18px;margin:32px 0 8px}p{margin:6px 0}\n"
    ".origin,.note{color:#555;font-size:13px}\n"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(480px,1fr));gap:16px}\n"
    "svg{width:100%;height:auto;font:12px system-ui,sans-serif;fill:#333}\n"
    ".grid{stroke:#e3e3e3}.axis{stroke:#888}.mark{stroke:#b00020;stroke-dasharray:4 3}\n"
    ".late{stroke:#b00020;stroke-width:2}\n"
    ".table{overflow-x:auto}table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:3px 10px;text-align:right;border-bottom:1px solid #e3e3e3;white-space:nowrap}\n"
    "th{border-bottom:2px solid #888}\n";

std::string paragraph(const std::string& text, const char* css_class = "") {
  if (text.empty()) return {};
  return "<p" + (*css_class == '\0' ? std::string() : " class=\"" + std::string(css_class) + "\"") + ">" +
         escaped(text) + "</p>\n";
}

std::string html_of(const Table& table) {
  std::string text = "<h2>" + escaped(table.title) + "</h2>\n<div class=\"table\"><table>\n<tr>";
  for (const std::string& column : table.columns) text += "<th>" + escaped(column) + "</th>";
  text += "</tr>\n";
  for (const auto& row : table.rows) {
    text += "<tr>";
    for (const std::string& cell : row) text += "<td>" + escaped(cell) + "</td>";
    text += "</tr>\n";
  }
  text += "</table></div>\n";
  for (const std::string& note : table.notes) text += paragraph(note, "note");
  return text;
}

std::string html_of(const std::vector<Chart>& charts, const std::string& heading) {
  if (charts.empty()) return {};
  std::string text = "<h2>" + escaped(heading) + "</h2>\n<div class=\"charts\">\n";
  for (const Chart& chart : charts) text += svg_of(chart);
  return text + "</div>\n";
}

// Returns the index of the cell in which most sets miss a deadline, under all dispatchers together.
std::size_t worst_cell(const ExperimentSummary& summary) {
  const auto missed = [](const CellSummary& cell) {
    double sum = 0;
    for (const DispatcherSummary& dispatcher : cell.dispatchers) sum += dispatcher.missed_sets.value();
    return sum;
  };
  return static_cast<std::size_t>(std::ranges::max_element(summary.cells, {}, missed) - summary.cells.begin());
}

std::string name_of_cell(const CellSummary& cell) {
  std::string name;
  for (const auto& [field, value] : cell.swept) name += (name.empty() ? "" : ", ") + field + " = " + value;
  return name;
}

Chart response_chart(const std::vector<Example>& examples, std::vector<double> Example::*values, std::string title,
                     std::string mark) {
  Chart chart{.title = std::move(title),
              .x_name = "response / " + mark,
              .y_name = "part of jobs above x",
              .is_log_y = true,
              .mark_x = 1,
              .mark = mark};
  for (std::size_t i = 0; i < examples.size(); ++i)
    if (!(examples[i].*values).empty())
      chart.curves.push_back(exceedance(examples[i].dispatcher, examples[i].*values, i));
  return chart;
}

// Runs some sets of the worst cell again, and shows them.
std::string examples_html(const ReportInput& input) {
  const std::size_t cell = worst_cell(input.summary);
  std::vector<Example> examples;
  for (const Dispatcher* const dispatcher : input.dispatchers)
    examples.push_back(example_of(input.scenarios[cell], *dispatcher, input.defaults));
  const std::string where = name_of_cell(input.summary.cells[cell]);
  std::string text = html_of(std::vector<Chart>{response_chart(examples, &Example::of_deadline,
                                                               "Responses beside the deadline", "deadline"),
                                                response_chart(examples, &Example::of_bound,
                                                               "Responses beside the computed bound", "bound")},
                             "Responses" + (where.empty() ? "" : " for " + where));
  text += paragraph("All jobs of the first " + counted(examples.front().sets, "set") +
                        " of the combination in which most sets miss a deadline.",
                    "note");
  for (const Example& example : examples)
    if (example.first_miss) text += "<h2>The first miss under " + escaped(example.dispatcher) + "</h2>\n" +
                                    svg_of(*example.first_miss);
  return text;
}

}  // namespace

std::string html_report(const ReportInput& input) {
  const std::string title = input.title.empty() ? "Experiment" : input.title;
  const ResultsOrigin& origin = input.origin;
  std::string text = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" +
                     escaped(title) + "</title>\n<style>\n" + page_style + "</style>\n</head>\n<body>\n<h1>" +
                     escaped(title) + "</h1>\n" + paragraph(input.heading) +
                     paragraph(origin.machine + "; Linux " + origin.kernel + "; Corelane " + origin.version +
                                   "; seed " + std::to_string(origin.seed) + "; scenario " + origin.scenario,
                               "origin");
  text += html_of(miss_charts(input.summary), "Missed deadlines");
  text += html_of(admission_charts(input.summary), "Admission");
  for (const Table& table : input.tables) text += html_of(table);
  text += paragraph(input.note, "note");
  if (origin.mode == "virtual" && !input.summary.cells.empty()) text += examples_html(input);
  return text + "</body>\n</html>\n";
}

}  // namespace corelane::eval
