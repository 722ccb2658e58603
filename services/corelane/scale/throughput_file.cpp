#include "services/corelane/scale/throughput_file.h"

#include <cmath>
#include <cstddef>
#include <optional>
#include <set>

#include "services/corelane/scale/comma_table.h"

namespace corelane::tool {
namespace {

constexpr double most_cores = 65'536;
constexpr double least_throughput = 1e-6, most_throughput = 1e15;  // beyond them, fits lose all digits

std::string listed(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Returns what is wrong with the choice of a benchmark; "" if nothing is.
std::string fault_of_choice(const CommaTable& table, std::optional<std::size_t> column, const std::string& benchmark) {
  if (!column)
    return benchmark.empty() ? "" : "it has no column benchmark, so --benchmark chooses nothing; leave it out";
  std::set<std::string> names;
  for (std::size_t row = 0; row < table.rows(); ++row) names.insert(table.value(row, *column));
  if (benchmark.empty() && names.size() > 1)
    return "it has several benchmarks; choose one with --benchmark: " + listed(names);
  if (!benchmark.empty() && !names.contains(benchmark))
    return "it has no benchmark " + benchmark + "; there are " + listed(names);
  return "";
}

Expected<scale::ThroughputPoint, std::string> point_in(const CommaTable& table, std::size_t row,
                                                       std::size_t cores_column, std::size_t throughput_column) {
  const auto cores = table.number(row, cores_column);
  if (!cores) return cores.error();
  if (*cores < 1 || *cores > most_cores || *cores != std::floor(*cores))
    return table.place(row) + ": " + table.value(row, cores_column) +
           " is no number of cores; write a whole number from 1 on";
  const auto throughput = table.number(row, throughput_column);
  if (!throughput) return throughput.error();
  if (*throughput > 0 && (*throughput < least_throughput || *throughput > most_throughput))
    return table.place(row) + ": the throughput " + table.value(row, throughput_column) +
           " is outside 1e-6 to 1e15 per second; give it in units of work per second";
  return scale::ThroughputPoint{static_cast<int>(*cores), *throughput};
}

}  // namespace

Expected<std::vector<scale::ThroughputPoint>, std::string> throughputs_in(std::string_view text,
                                                                          const std::string& path,
                                                                          const std::string& benchmark) {
  const auto table = CommaTable::parse(text, path);
  if (!table) return table.error();
  const auto cores = table->required_column("cores");
  if (!cores) return cores.error();
  const auto throughput = table->required_column("throughput");
  if (!throughput) return throughput.error();
  const auto name = table->column("benchmark");
  if (const std::string fault = fault_of_choice(*table, name, benchmark); !fault.empty()) return path + ": " + fault;
  std::vector<scale::ThroughputPoint> points;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    if (name && !benchmark.empty() && table->value(row, *name) != benchmark) continue;
    const auto point = point_in(*table, row, *cores, *throughput);
    if (!point) return point.error();
    points.push_back(*point);
  }
  return points;
}

}  // namespace corelane::tool
