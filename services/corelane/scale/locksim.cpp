#include "services/corelane/scale/locksim.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ostream>

#include "orb/base/text/counted.h"
#include "orb/os/files/small_file.h"
#include "orb/scale/lock_forecast.h"
#include "orb/scale/lock_model.h"
#include "services/corelane/output/json_text.h"
#include "services/corelane/output/text.h"
#include "services/corelane/scale/throughput_file.h"

namespace corelane::tool {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t longest_file = 16 << 20;  // bytes
constexpr int usual_most_cores = 32, most_cores_of_model = 1024;
constexpr std::size_t most_simulated = 128;  // numbers of cores; each takes about a tenth of a second
constexpr std::size_t most_rows = 4096;
constexpr std::int64_t most_work_of_fit = 600'000;  // sum of the cores of all rows
constexpr Duration longest_time = std::chrono::hours{1};

// The models of this command count in seconds, so that throughput is per second.
double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }
// Times of a fitted model may be beyond the range of Duration.
std::string brief_seconds(double value) {
  constexpr double most = 9e9;
  return brief(Duration(std::llround((value < most ? value : most) * 1e9)));
}

std::string times_of(const scale::LockModel& model) {
  return "T_ncs " + brief_seconds(model.outside) + ", T_cs " + brief_seconds(model.section) + ", hand-over " +
         brief_seconds(model.hand_over);
}

std::string text_of_collapse(const std::optional<int>& collapse) {
  return collapse ? "at " + counted(static_cast<std::size_t>(*collapse), "core") : "nowhere";
}

Json json_of(const scale::LockModel& model) {
  return {{"outside_s", model.outside}, {"section_s", model.section}, {"hand_over_s", model.hand_over}};
}
Json json_of(const std::optional<int>& collapse) { return collapse ? Json(*collapse) : Json(); }

// ---- From given times ----

struct SolvedPoint {
  scale::LockPoint exact{};
  std::optional<scale::SimulatedLockPoint> simulated{};
};

std::vector<SolvedPoint> solved_points(const LocksimOptions& options, const scale::LockModel& model,
                                       const std::vector<int>& cores) {
  std::vector<SolvedPoint> points;
  for (const int count : cores) {
    SolvedPoint& point = points.emplace_back();
    point.exact = scale::solve(model, count);
    point.exact.waiting_share = std::clamp(point.exact.waiting_share, 0.0, 1.0);
    if (options.times) point.simulated = scale::simulate(model, count, {.times = *options.times, .seed = options.seed});
  }
  return points;
}

void print_table(const std::vector<SolvedPoint>& points, std::ostream& out) {
  const bool simulated = points.front().simulated.has_value();
  out << "cores   sections/s  speed-up   outside   waiting" << (simulated ? "   simulated/s       +-" : "") << "\n";
  for (const SolvedPoint& point : points) {
    const scale::LockPoint& exact = point.exact;
    out << format("%5d %12.0f %9.2f %9.2f %7.1f %%", exact.cores, exact.throughput, exact.speed_up, exact.cores_outside,
                  100 * exact.waiting_share);
    if (point.simulated) out << format(" %13.0f %8.0f", point.simulated->point.throughput, point.simulated->half_width);
    out << "\n";
  }
}

void print_csv(const std::vector<SolvedPoint>& points, std::ostream& out) {
  const bool simulated = points.front().simulated.has_value();
  out << "cores,throughput,speed_up,cores_outside,waiting_share" << (simulated ? ",simulated,half_width" : "") << "\n";
  for (const SolvedPoint& point : points) {
    const scale::LockPoint& exact = point.exact;
    out << format("%d,%.9g,%.6g,%.6g,%.6g", exact.cores, exact.throughput, exact.speed_up, exact.cores_outside,
                  exact.waiting_share);
    if (point.simulated) out << format(",%.9g,%.6g", point.simulated->point.throughput, point.simulated->half_width);
    out << "\n";
  }
}

Json json_of(const SolvedPoint& point) {
  const scale::LockPoint& exact = point.exact;
  Json json{{"cores", exact.cores},
            {"throughput", exact.throughput},
            {"speed_up", exact.speed_up},
            {"cores_outside", exact.cores_outside},
            {"waiting_share", exact.waiting_share}};
  if (point.simulated) {
    json["simulated"] = point.simulated->point.throughput;
    json["half_width"] = point.simulated->half_width;
  }
  return json;
}

int show_solution(const LocksimOptions& options, const scale::LockModel& model, std::ostream& out) {
  std::vector<int> cores = options.cores;
  if (cores.empty()) {
    cores.resize(usual_most_cores);
    std::iota(cores.begin(), cores.end(), 1);
  }
  const int most = *std::max_element(cores.begin(), cores.end());
  const auto points = solved_points(options, model, cores);
  const auto collapse = scale::collapse_point(model, most);
  if (options.format == CurveFormat::csv) {
    print_csv(points, out);
  } else if (options.format == CurveFormat::json) {
    Json json{{"model", json_of(model)}, {"collapse", json_of(collapse)}, {"points", Json::array()}};
    for (const SolvedPoint& point : points) json["points"].push_back(json_of(point));
    out << json_lines(json);
  } else {
    out << times_of(model) << "; up to " << counted(static_cast<std::size_t>(most), "core") << " throughput collapses "
        << text_of_collapse(collapse) << "\n\n";
    print_table(points, out);
  }
  return 0;
}

// ---- From measured throughput ----

void print_forecast(const scale::LockForecast& forecast, std::ostream& out) {
  out << "fitted to the measurements with up to " << counted(static_cast<std::size_t>(forecast.highest_fitted), "core")
      << ": " << times_of(forecast.fit.model) << format("; error %.1f %%\n\n", 100 * forecast.fit.error)
      << "cores   measured/s  predicted/s    error\n";
  for (const scale::PredictedPoint& point : forecast.upper)
    out << format("%5d %12.0f %12.0f %+6.1f %%\n", point.cores, point.measured, point.predicted, 100 * point.error());
  out << format("\nmean error of the prediction: %.1f %%\n", 100 * forecast.mean_error) << "throughput collapses "
      << text_of_collapse(forecast.measured_collapse) << " as measured, and "
      << text_of_collapse(forecast.predicted_collapse) << " as predicted\n";
}

Json json_of(const scale::LockForecast& forecast) {
  Json json;
  json["testable"] = forecast.not_testable.empty();
  if (!forecast.not_testable.empty()) {
    json["reason"] = forecast.not_testable;
    return json;
  }
  json["model"] = json_of(forecast.fit.model);
  json["fit_error"] = forecast.fit.error;
  json["highest_fitted"] = forecast.highest_fitted;
  json["mean_error"] = forecast.mean_error;
  json["measured_collapse"] = json_of(forecast.measured_collapse);
  json["predicted_collapse"] = json_of(forecast.predicted_collapse);
  json["points"] = Json::array();
  for (const scale::PredictedPoint& point : forecast.upper)
    json["points"].push_back({{"cores", point.cores}, {"measured", point.measured}, {"predicted", point.predicted}});
  return json;
}

void print_forecast_csv(const scale::LockForecast& forecast, std::ostream& out) {
  out << "cores,measured,predicted,error\n";
  for (const scale::PredictedPoint& point : forecast.upper)
    out << format("%d,%.9g,%.9g,%.6g\n", point.cores, point.measured, point.predicted, point.error());
}

int say_fault(const std::string& text, std::ostream& err) {
  err << "corelane scale locksim: " << plain(text) << "\n";
  return 2;
}

// Returns what is wrong with the number of measurements; "" if a fit takes seconds at most.
std::string fault_of_rows(const std::vector<scale::ThroughputPoint>& measured) {
  std::int64_t work = 0;
  for (const scale::ThroughputPoint& point : measured) {
    work += point.cores;
    if (point.cores > most_cores_of_model)
      return "a row has " + std::to_string(point.cores) + " cores; the most is " + std::to_string(most_cores_of_model);
  }
  if (measured.size() > most_rows || work > most_work_of_fit)
    return std::to_string(measured.size()) + " rows with " + std::to_string(work) +
           " cores together are too many for a fit; the most are " + std::to_string(most_rows) + " and " +
           std::to_string(most_work_of_fit) + ", so leave rows out";
  return "";
}

int show_forecast(const LocksimOptions& options, std::ostream& out, std::ostream& err) {
  const auto text = os::read_small_file(options.fit, longest_file);
  if (!text) return say_fault(text.error().text, err);
  const auto measured = throughputs_in(*text, options.fit, options.benchmark);
  if (!measured) return say_fault(measured.error(), err);
  if (const std::string fault = fault_of_rows(*measured); !fault.empty())
    return say_fault(options.fit + ": " + fault, err);
  std::optional<scale::KnownTimes> known;
  if (options.outside)
    known = scale::KnownTimes{.outside = seconds(*options.outside), .section = seconds(*options.section)};
  const scale::LockForecast forecast = scale::forecast(*measured, known);
  if (options.format == CurveFormat::json) out << json_lines(json_of(forecast));
  if (!forecast.not_testable.empty()) {
    err << "corelane scale locksim: not testable: " << forecast.not_testable << "\n";
    return 1;
  }
  if (options.format == CurveFormat::csv) print_forecast_csv(forecast, out);
  if (options.format == CurveFormat::table) print_forecast(forecast, out);
  return 0;
}

// Returns what is wrong with the options; "" if nothing is.
std::string fault_of(const LocksimOptions& options) {
  if (options.outside.has_value() != options.section.has_value()) return "--tncs and --tcs belong together; give both";
  for (const Duration time :
       {options.outside.value_or(Duration{}), options.section.value_or(Duration{}), options.hand_over})
    if (time > longest_time) return "the time " + brief(time) + " is too long; the most is 1 h";
  if (!options.cores.empty() && options.cores.back() > most_cores_of_model)
    return std::to_string(options.cores.back()) + " cores are too many; the most is " +
           std::to_string(most_cores_of_model);
  if (options.times && options.cores.size() > most_simulated)
    return std::to_string(options.cores.size()) + " numbers of cores are too many to simulate; give at most " +
           std::to_string(most_simulated) + " with --cores";
  return "";
}

}  // namespace

int locksim(const LocksimOptions& options, std::ostream& out, std::ostream& err) {
  if (const std::string fault = fault_of(options); !fault.empty()) return say_fault(fault, err);
  if (!options.fit.empty()) return show_forecast(options, out, err);
  if (!options.outside) return say_fault("give --tncs and --tcs, or measured throughput with --fit FILE", err);
  const scale::LockModel model{.outside = seconds(*options.outside),
                               .section = seconds(*options.section),
                               .hand_over = seconds(options.hand_over)};
  if (const std::string fault = scale::fault_of(model); !fault.empty()) return say_fault(fault, err);
  return show_solution(options, model, out);
}

}  // namespace corelane::tool
