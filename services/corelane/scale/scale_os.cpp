#include "services/corelane/scale/scale_os.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <sstream>
#include <system_error>
#include <utility>

#include "orb/base/text/counted.h"
#include "orb/os/files/small_file.h"
#include "orb/os/machine/topology.h"
#include "orb/scale/throughput_curve.h"
#include "services/corelane/output/json_text.h"
#include "services/corelane/output/output_file.h"
#include "services/corelane/output/text.h"
#include "services/corelane/scale/curve_plot.h"
#include "services/corelane/scale/os_benchmarks.h"
#include "services/corelane/scale/os_curve.h"

namespace corelane::tool {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t bytes_per_mebi = 1 << 20;
constexpr Duration longest_run = std::chrono::hours{1};

// ---- Output ----

// A curve with what follows from it.
struct ShownCurve {
  OsCurve curve{};
  std::vector<scale::SpeedUp> speed_ups{};  // empty without a point of one core
};

ShownCurve shown(OsCurve curve) {
  const auto throughputs = throughputs_of(curve);
  return {std::move(curve), scale::speed_ups(throughputs)};
}

std::string or_dash(const char* pattern, const std::optional<double>& value) {
  if (!value) return "-";
  char text[32];
  std::snprintf(text, sizeof text, pattern, *value);
  return text;
}

std::optional<double> speed_up_of(const ShownCurve& curve, std::size_t point) {
  return curve.speed_ups.empty() ? std::nullopt : std::optional(curve.speed_ups[point].speed_up);
}
std::optional<double> serial_share_of(const ShownCurve& curve, std::size_t point) {
  return curve.speed_ups.empty() ? std::nullopt : curve.speed_ups[point].serial_share;
}

std::string text_of_locks(const OsCurve& curve) {
  if (!curve.locks) return "";
  if (curve.locks->empty()) return "no lock of the kernel was waited for\n";
  std::string text;
  for (const LockContention& lock : *curve.locks)
    text += "lock " + plain(lock.lock) + ": waited " + format("%.0fus", lock.waited_us) + " in " +
            counted(lock.contentions, "contention") + "\n";
  return text;
}

// The kernel counts CPU time in steps on some hosts, so short runs may show none.
std::string kernel_time_text(double nanoseconds) {
  return nanoseconds > 0 ? brief(Duration(static_cast<std::int64_t>(nanoseconds))) : "-";
}

void print_table(const ShownCurve& shown, std::ostream& out) {
  out << shown.curve.benchmark << ": " << shown.curve.unit << "\n"
      << "cores      units/s  speed-up  serial share  kernel/unit\n";
  for (std::size_t i = 0; i < shown.curve.points.size(); ++i) {
    const OsPoint& point = shown.curve.points[i];
    out << format("%5d %12.0f %9s %13s %12s\n", point.cores, point.throughput,
                  or_dash("%.2f", speed_up_of(shown, i)).c_str(), or_dash("%.2f", serial_share_of(shown, i)).c_str(),
                  kernel_time_text(point.kernel_ns).c_str());
  }
  out << collapse_text(shown.curve) << "\n" << text_of_locks(shown.curve) << "\n";
}

void print_csv(const ShownCurve& shown, std::ostream& out) {
  for (std::size_t i = 0; i < shown.curve.points.size(); ++i) {
    const OsPoint& point = shown.curve.points[i];
    out << shown.curve.benchmark << format(",%d,%.9g", point.cores, point.throughput) << ","
        << or_dash("%.6g", speed_up_of(shown, i)) << "," << or_dash("%.6g", serial_share_of(shown, i)) << ","
        << or_dash("%.6g", point.kernel_ns > 0 ? std::optional(point.kernel_ns) : std::nullopt) << "\n";
  }
}

Json json_of(const ShownCurve& shown) {
  const auto collapse = collapse_of(shown.curve);
  Json json{{"name", shown.curve.benchmark},
            {"unit", shown.curve.unit},
            {"collapse", collapse ? Json(*collapse) : Json()},
            {"points", Json::array()}};
  for (std::size_t i = 0; i < shown.curve.points.size(); ++i) {
    const OsPoint& point = shown.curve.points[i];
    Json entry{{"cores", point.cores},
               {"throughput", point.throughput},
               {"kernel_ns", point.kernel_ns > 0 ? Json(point.kernel_ns) : Json()}};
    if (point.spread) entry["spread"] = {point.spread->low, point.spread->high};
    if (const auto value = speed_up_of(shown, i)) entry["speed_up"] = *value;
    if (const auto value = serial_share_of(shown, i)) entry["serial_share"] = *value;
    json["points"].push_back(std::move(entry));
  }
  if (!shown.curve.locks) return json;
  json["locks"] = Json::array();
  for (const LockContention& lock : *shown.curve.locks)
    json["locks"].push_back({{"lock", lock.lock}, {"contentions", lock.contentions}, {"waited_us", lock.waited_us}});
  return json;
}

std::string html_page_of(const std::vector<ShownCurve>& curves) {
  std::vector<PlottedCurve> plotted;
  for (const ShownCurve& curve : curves) plotted.push_back({curve.curve.benchmark, curve.speed_ups});
  return html_of("Speed-up of the kernel's services", plotted);
}

// ---- Input ----

int say_os_fault(const std::string& text, std::ostream& err, int status) {
  err << "corelane scale os: " << plain(text) << "\n";
  return status;
}

std::vector<OsBenchmark> chosen_benchmarks(const std::vector<std::string>& only) {
  std::vector<OsBenchmark> chosen;
  for (const OsBenchmark& benchmark : os_benchmarks())
    if (only.empty() || std::find(only.begin(), only.end(), benchmark.name) != only.end()) chosen.push_back(benchmark);
  return chosen;
}

bool needs_file(const std::vector<OsBenchmark>& benchmarks) {
  return std::any_of(benchmarks.begin(), benchmarks.end(), [](const auto& benchmark) { return benchmark.needs_file; });
}

// Returns how much memory programs can get without swapping, in bytes; nothing if /proc does not tell.
std::optional<std::uint64_t> available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t kibi = 0;
    if (words >> name >> kibi && name == "MemAvailable:") return kibi << 10;
  }
  return std::nullopt;
}

// Returns why the file of that size cannot be used; "" if it can.
std::string fault_of_size(std::uint64_t size) {
  const auto available = available_memory();
  if (!available || size < *available / 2) return "";
  return "the benchmark mmap reads a file of " + std::to_string(size / bytes_per_mebi) +
         " MiB, which takes as much memory, but only " + std::to_string(*available / bytes_per_mebi) +
         " MiB are available; give a smaller --file-size, or leave it out with --only";
}

Expected<OsMeasurement, std::string> measurement_of(const ScaleOsOptions& options) {
  const auto topology = os::Topology::detect();
  if (!topology) return std::string("the cores of this host cannot be read; is /sys mounted?");
  OsMeasurement measurement{
      .cores = benchmark_order(topology->cores()), .time = options.time, .rounds = options.rounds};
  const int most = static_cast<int>(measurement.cores.size());
  measurement.counts = options.cores.empty() ? usual_counts(most) : options.cores;
  if (measurement.counts.back() > most)
    return "--cores asks for " + std::to_string(measurement.counts.back()) + " cores, but this process may use " +
           std::to_string(most) + "; give fewer, or start it where it may use more";
  return measurement;
}

// ---- The command ----

// Shows each curve as soon as it is measured, if the format allows that.
class CurveWriter {
 public:
  CurveWriter(CurveFormat format, std::ostream& out) : format_(format), out_(out) {
    if (format == CurveFormat::json) json_["benchmarks"] = Json::array();
    if (format == CurveFormat::csv) out << "benchmark,cores,throughput,speed_up,serial_share,kernel_ns\n";
  }

  void add(const ShownCurve& curve) {
    if (format_ == CurveFormat::table) print_table(curve, out_);
    if (format_ == CurveFormat::csv) print_csv(curve, out_);
    if (format_ == CurveFormat::json) json_["benchmarks"].push_back(json_of(curve));
    out_.flush();
  }
  // `knows_locks`: whether the kernel told which locks were waited for.
  void end(bool knows_locks) {
    if (format_ == CurveFormat::json) out_ << json_lines(json_);
    if (format_ != CurveFormat::table) return;
    if (!knows_locks)
      out_ << "waits for the kernel's locks: not shown; the kernel has no /proc/lock_stat (CONFIG_LOCK_STAT), or this "
              "user may not read it\n";
    out_ << "functions of the kernel: perf shows them where it may; see docs/scalability.md\n";
  }

 private:
  const CurveFormat format_;
  std::ostream& out_;
  Json json_{};
};

int measure_all(const ScaleOsOptions& options, const std::vector<OsBenchmark>& benchmarks,
                const OsMeasurement& measurement, std::ostream& out, std::ostream& err) {
  const OsInputs inputs(needs_file(benchmarks) ? options.file_size : 0);
  CurveWriter writer(options.format, out);
  std::vector<ShownCurve> curves;
  int status = 0;
  for (const OsBenchmark& benchmark : benchmarks) {
    auto curve = measure_curve(benchmark, inputs, measurement);
    if (!curve) {
      status = say_os_fault(std::string(benchmark.name) + ": " + curve.error(), err, 1);
      continue;
    }
    curves.push_back(shown(*std::move(curve)));
    writer.add(curves.back());
  }
  writer.end(!curves.empty() && curves.front().curve.locks);
  if (options.html.empty() || curves.empty()) return status;
  if (const auto written = os::write_output_file(options.html, html_page_of(curves)); !written)
    return say_os_fault(written.error().text, err, 1);
  return status;
}

}  // namespace

std::vector<std::string> names_of_os_benchmarks() {
  std::vector<std::string> names;
  for (const OsBenchmark& benchmark : os_benchmarks()) names.emplace_back(benchmark.name);
  return names;
}

int scale_os(const ScaleOsOptions& options, std::ostream& out, std::ostream& err) {
  if (options.time <= Duration::zero() || options.time > longest_run)
    return say_os_fault("the time of a run is not between 0 and 1 h; give a number of seconds with --seconds", err, 2);
  const auto benchmarks = chosen_benchmarks(options.only);
  const auto measurement = measurement_of(options);
  if (!measurement) return say_os_fault(measurement.error(), err, 2);
  if (const std::string fault = needs_file(benchmarks) ? fault_of_size(options.file_size) : ""; !fault.empty())
    return say_os_fault(fault, err, 2);
  if (const std::string fault = options.html.empty() ? "" : fault_of_output_file(options.html); !fault.empty())
    return say_os_fault(fault + ": --html FILE", err, 1);
  try {
    return measure_all(options, benchmarks, *measurement, out, err);
  } catch (const std::system_error& error) {
    return say_os_fault(std::string("what the benchmarks share cannot be made: ") + error.what(), err, 1);
  }
}

}  // namespace corelane::tool
