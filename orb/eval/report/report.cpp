#include "orb/eval/report/report.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "orb/base/text/counted.h"
#include "orb/eval/report/acceptance_charts.h"
#include "orb/eval/report/chart.h"
#include "orb/eval/report/examples.h"
#include "orb/eval/report/gantt.h"
#include "orb/eval/report/svg.h"
#include "orb/eval/report/used_policies.h"

namespace corelane::eval {
namespace {

constexpr const char* figure_style =
    "svg{width:100%;height:auto;font:12px system-ui,sans-serif;fill:#333}\n"
    ".grid{stroke:#e3e3e3}.axis{stroke:#888}.mark{stroke:#b00020;stroke-dasharray:4 3}\n"
    ".late{stroke:#b00020;stroke-width:2}\n";
constexpr const char* page_style =
    "body{font:15px/1.45 system-ui,sans-serif;color:#1b1b1b;background:#fff;max-width:1120px;margin:24px auto;"
    "padding:0 16px}\n"
    "h1{font-size:24px;margin-bottom:4px}h2{font-size:18px;margin:32px 0 8px}p{margin:6px 0}\n"
    ".origin,.note{color:#555;font-size:13px}\n"
    ".charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(480px,1fr));gap:16px}\n"
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

constexpr double most_linear_ratio = 5;  // a longer axis would squeeze the responses before the mark

Chart response_chart(const std::vector<Example>& examples, const std::string& policies,
                     std::vector<double> Example::*values, std::string title, std::string mark) {
  Chart chart{.title = std::move(title),
              .x_name = "response / " + mark,
              .y_name = "part of jobs above x",
              .x_axis = XAxis::zero,
              .is_log_y = true,
              .mark_x = 1,
              .mark = mark};
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const std::vector<double>& ratios = examples[i].*values;
    if (ratios.empty()) continue;
    if (*std::ranges::max_element(ratios) > most_linear_ratio) chart.x_axis = XAxis::logarithmic;
    add_curve(exceedance(with_policies(examples[i].dispatcher, policies), ratios, i), chart);
  }
  if (chart.x_axis == XAxis::logarithmic) chart.x_name += " (logarithmic)";
  return chart;
}

// Returns an SVG element as a file: with its namespace and its style.
std::string svg_file(const std::string& svg) {
  constexpr std::string_view opening = "<svg ";
  const std::size_t end = svg.find('>') + 1;
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" " + svg.substr(opening.size(), end - opening.size()) + "\n<style>" +
         figure_style + "</style>" + svg.substr(end);
}

std::string file_name_of(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    name += c == '*' ? "-star" : is_plain ? std::string(1, c) : "-";
  }
  return name;
}

// ReportWriter writes the page from top to bottom.
class ReportWriter {
 public:
  explicit ReportWriter(const ReportInput& input) : input_(input) {}

  Report write() {
    const std::string& title = input_.title;
    const ResultsOrigin& origin = input_.origin;
    add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" + escaped(title) +
        "</title>\n<style>\n" + page_style + figure_style + "</style>\n</head>\n<body>\n<h1>" + escaped(title) +
        "</h1>\n" + paragraph(input_.heading) +
        paragraph(origin.machine + "; Linux " + origin.kernel + "; Corelane " + origin.version + "; seed " +
                      std::to_string(origin.seed) + "; scenario " + origin.scenario,
                  "origin"));
    add(html_of(used_policies_table(input_.scenarios, input_.dispatchers, input_.defaults)));
    add_charts("Missed deadlines", "misses", miss_charts(input_.summary));
    add_charts("Admission", "admission", admission_charts(input_.summary));
    for (const Table& table : input_.tables) add(html_of(table));
    add(paragraph(input_.note, "note"));
    if (origin.mode == "virtual" && !input_.summary.cells.empty()) add_examples();
    add("</body>\n</html>\n");
    return std::move(report_);
  }

 private:
  void add(const std::string& html) { report_.html += html; }

  void add_figure(const std::string& name, const std::string& svg) {
    add(svg);
    report_.figures.push_back({.name = name, .svg = svg_file(svg)});
  }

  void add_charts(const std::string& heading, const std::string& name, const std::vector<Chart>& charts) {
    if (charts.empty()) return;
    add("<h2>" + escaped(heading) + "</h2>\n<div class=\"charts\">\n");
    for (std::size_t i = 0; i < charts.size(); ++i) add_figure(name + "-" + std::to_string(i + 1), svg_of(charts[i]));
    add("</div>\n");
  }

  // Runs some sets of the worst cell again, and shows them.
  void add_examples() {
    const std::size_t cell = worst_cell(input_.summary);
    std::vector<Example> examples;
    for (const Dispatcher* const dispatcher : input_.dispatchers)
      examples.push_back(example_of(input_.scenarios[cell], *dispatcher, input_.defaults, input_.is_to_stop));
    const std::size_t sets = examples.front().sets;
    if (sets == 0) return;
    const bool is_stopped = input_.is_to_stop && input_.is_to_stop();
    const std::string where = name_of_cell(input_.summary.cells[cell]);
    const std::string policies = swept_policies(input_.summary.cells[cell].swept);
    add_charts(
        "Responses" + (where.empty() ? "" : " for " + where), "responses",
        {response_chart(examples, policies, &Example::of_deadline, "Responses beside the deadline", "deadline"),
         response_chart(examples, policies, &Example::of_bound, "Responses beside the computed bound", "bound")});
    add(paragraph("All jobs of the first " + counted(sets, "set") +
                      " of the combination in which most sets miss a deadline." +
                      (is_stopped ? " The runs were stopped, so curves may have fewer sets." : ""),
                  "note"));
    for (std::size_t i = 0; i < examples.size(); ++i)
      if (examples[i].first_miss) add_first_miss(examples[i], *input_.dispatchers[i], cell);
  }

  void add_first_miss(const Example& example, const Dispatcher& dispatcher, std::size_t cell) {
    const SweptValues& swept = input_.summary.cells[cell].swept;
    const std::string where = name_of_cell(input_.summary.cells[cell]);
    Gantt gantt = *example.first_miss;
    gantt.title = example.dispatcher + (where.empty() ? "" : ", " + where) + ", set " +
                  std::to_string(example.set_of_miss + 1) + ": " + gantt.title;
    add("<h2>The first miss under " + escaped(with_policies(example.dispatcher, swept_policies(swept))) + "</h2>\n");
    add_figure("first-miss-" + file_name_of(example.dispatcher), svg_of(gantt));
    const std::string command =
        input_.command_of ? input_.command_of(cell, example.set_of_miss, dispatcher) : std::string();
    if (!command.empty()) add(paragraph("To run this set again: " + command, "note"));
  }

  const ReportInput& input_;
  Report report_{};
};

}  // namespace

Report report_of(const ReportInput& input) { return ReportWriter(input).write(); }

}  // namespace corelane::eval
