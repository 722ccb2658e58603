// corelane-plot-admission writes docs/images/admission.svg to standard output: which share of deadlines is missed, and
// by how many tasks, when more and more tasks ask a server of two cores for admission, with admission control and
// without.
//
//   build/bin/corelane-plot-admission > docs/images/admission.svg
//
// Everything runs in virtual time, with a server's own Manager and default settings. The same program always prints the
// same figure; a test compares it with the committed one.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "orb/base/contract.h"
#include "orb/dispatch/manager_options.h"
#include "orb/sim/simulator.h"
#include "orb/sim/workload.h"

using namespace corelane;
using namespace std::chrono_literals;

namespace {

constexpr int sets = 20;  // task sets per point
constexpr int least = 4, most = 40, step = 2;
constexpr Time end{1s};

// Percentages of one number of tasks.
struct Point {
  int tasks;
  double missed_without, late_without, missed_with, refused;
};

// Of the admitted tasks: deadlines that passed, deadlines that were met, and tasks that missed at least one.
struct Outcome {
  double due = 0, met = 0, late = 0, refused = 0;
};

// Returns a contract with a period of 5 to 100 ms and a budget of 2 to 18 % of it.
Contract random_contract(sim::Random& random) {
  const Duration period = sim::log_uniform_period(random, 5ms, 100ms);
  const double share = 0.02 + 0.16 * sim::uniform(random);
  const auto micros = static_cast<std::int64_t>(share * static_cast<double>(period / 1us));
  return make_contract(period, std::chrono::microseconds{micros});
}

sched::ManagerOptions server_of_two_cores(bool admission) {
  std::vector<dispatch::CoreLease> leases;
  for (std::int16_t core = 0; core < 2; ++core) leases.push_back({.core = CoreId{core}, .physical_core = core});
  dispatch::ExecutiveOptions options;
  if (!admission) options.admission_test = &sched::admission::none;
  return dispatch::manager_options(options, leases);
}

// Adds what happened to one task. A job that was refused or never ended has missed its deadline, too.
void add(Outcome& outcome, const Contract& contract, const sim::TaskReport& report) {
  if (!report.admitted) return void(++outcome.refused);
  const Duration lived = end - std::max(report.started, Time{});
  if (report.started == never || lived < contract.deadline) return;
  const double due = static_cast<double>((lived - contract.deadline) / contract.period + 1);
  const double met = std::min(due, static_cast<double>(report.jobs - report.misses));
  outcome.due += due;
  outcome.met += met;
  if (met < due) ++outcome.late;
}

void simulate(Outcome& outcome, const std::vector<Contract>& contracts, bool admission) {
  sim::Simulator simulator(server_of_two_cores(admission));
  for (const Contract& contract : contracts) simulator.add({.contract = contract, .jittered = true});
  simulator.run(end);
  for (std::size_t i = 0; i < contracts.size(); ++i) add(outcome, contracts[i], simulator.report(i));
}

Point point_of(int tasks) {
  Outcome with, without;
  for (int set = 0; set < sets; ++set) {
    sim::Random random(static_cast<std::uint64_t>(set + 1));
    std::vector<Contract> contracts;
    for (int i = 0; i < tasks; ++i) contracts.push_back(random_contract(random));
    simulate(with, contracts, true);
    simulate(without, contracts, false);
  }
  const auto missed = [](const Outcome& outcome) { return 100 * (1 - outcome.met / std::max(outcome.due, 1.0)); };
  const double all = sets * tasks;
  return {tasks, missed(without), 100 * without.late / all, missed(with), 100 * with.refused / all};
}

// The plot area in pixels.
constexpr double left = 70, right = 610, top = 56, bottom = 320;

double x_of(int tasks) { return left + (right - left) * (tasks - least) / (most - least); }
double y_of(double percent) { return bottom - (bottom - top) * percent / 100; }

void text(double x, double y, const char* anchor, const char* color, const std::string& words) {
  std::printf("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">%s</text>\n", x, y, anchor, color,
              words.c_str());
}

void curve(const std::vector<Point>& points, double Point::*value, const char* color, const char* dashes) {
  std::printf("<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2.5\" stroke-dasharray=\"%s\" points=\"", color,
              dashes);
  for (const Point& point : points) std::printf("%.1f,%.1f ", x_of(point.tasks), y_of(point.*value));
  std::printf("\"/>\n");
}

void axes() {
  for (int percent = 0; percent <= 100; percent += 25) {
    std::printf("<path d=\"M%.1f %.1fH%.1f\" stroke=\"#ddd\"/>\n", left, y_of(percent), right);
    text(left - 8, y_of(percent) + 4, "end", "#333", std::to_string(percent) + " %");
  }
  for (int tasks = least; tasks <= most; tasks += 6)
    text(x_of(tasks), bottom + 20, "middle", "#333", std::to_string(tasks));
  text((left + right) / 2, bottom + 42, "middle", "#333",
       "tasks that ask a server of two cores for admission, 10 % of a core each on average");
}

// The numbers themselves, for readers of the file.
void table(const std::vector<Point>& points) {
  std::printf(
      "<!-- percent; tasks: deadlines missed without, tasks late without, deadlines missed with, tasks refused\n");
  for (const Point& p : points)
    std::printf("%d: %.2f %.2f %.2f %.2f\n", p.tasks, p.missed_without, p.late_without, p.missed_with, p.refused);
  std::printf("-->\n");
}

void draw(const std::vector<Point>& points) {
  std::printf(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 820 380\" font-family=\"sans-serif\" "
      "font-size=\"13\">\n");
  table(points);
  std::printf("<rect width=\"820\" height=\"380\" fill=\"#fff\"/>\n");
  text(left, 30, "start", "#111", "What comes of tasks that ask for admission");
  axes();
  curve(points, &Point::refused, "#777", "5 4");
  curve(points, &Point::late_without, "#c0392b", "5 4");
  curve(points, &Point::missed_without, "#c0392b", "none");
  curve(points, &Point::missed_with, "#1f6fb4", "none");
  const Point& last = points.back();
  text(right + 8, y_of(last.late_without) - 4, "start", "#c0392b", "without: tasks that were late");
  text(right + 8, y_of(last.missed_without) + 4, "start", "#c0392b", "without: deadlines missed");
  text(right + 8, y_of(last.refused) + 14, "start", "#777", "with: tasks refused");
  text(right + 8, y_of(last.missed_with) - 4, "start", "#1f6fb4", "with: deadlines missed");
  std::printf("</svg>\n");
}

}  // namespace

int main() {
  std::vector<Point> points;
  for (int tasks = least; tasks <= most; tasks += step) points.push_back(point_of(tasks));
  draw(points);
  return std::fflush(stdout) == 0 ? 0 : 1;
}
