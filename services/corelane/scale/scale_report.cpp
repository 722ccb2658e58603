#include "services/corelane/scale/scale_report.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/text/counted.h"
#include "orb/base/text/one_line.h"
#include "orb/os/files/small_file.h"
#include "orb/scale/function_scalability.h"
#include "orb/sched/trace/trace_file.h"
#include "services/corelane/output/json_text.h"
#include "services/corelane/output/text.h"
#include "services/corelane/scale/comma_table.h"
#include "services/corelane/scale/stage_profile.h"

namespace corelane::tool {
namespace {

using Json = nlohmann::ordered_json;
using scale::FunctionScalability;
using scale::FunctionTime;

constexpr std::size_t longest_profile = 1 << 30;  // bytes
constexpr std::string_view trace_beginning = "CORELANE";
constexpr double most_work = 1e18, longest_time_of_function = 1e30;

using Profile = Expected<std::vector<FunctionTime>, std::string>;  // or a message

// Replaces what would control a terminal, and bytes that are no UTF-8, by question marks.
std::string shown_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {  // bound: the text
    const Utf8Character next = utf8_character(text);
    result += next.size == 1 && next.code >= 0x80 ? "?" : plain(text.substr(0, next.size));
    text.remove_prefix(next.size);
  }
  return result;
}

Profile stages_in(std::string_view bytes, const std::string& path) {
  const auto trace = sched::parse_trace(std::as_bytes(std::span(bytes)));
  if (!trace) return path + ": " + trace.error().text;
  return stage_profile(*trace);
}

Profile functions_in(std::string_view text, const std::string& path) {
  const auto table = CommaTable::parse(text, path);
  if (!table) return table.error();
  const auto function = table->required_column("function");
  if (!function) return function.error();
  const auto time = table->required_column("time");
  if (!time) return time.error();
  std::vector<FunctionTime> times;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const auto value = table->number(row, *time);
    if (!value) return value.error();
    if (*value < 0 || *value > longest_time_of_function)
      return table->place(row) + ": the time " + table->value(row, *time) +
             " is outside 0 to 1e30; measure the profile again";
    times.push_back({table->value(row, *function), *value});
  }
  return times;
}

// Returns the times for a unit of work.
Profile profile_in(const std::string& path, double work) {
  const auto text = os::read_small_file(path, longest_profile);
  if (!text) return text.error().text;
  auto profile = text->starts_with(trace_beginning) ? stages_in(*text, path) : functions_in(*text, path);
  if (profile)
    for (FunctionTime& entry : *profile) entry.time /= work;
  return profile;
}

void print_functions(const std::vector<FunctionScalability>& functions, std::size_t shown, std::ostream& out) {
  out << "         value    weight         one core       many cores  function\n";
  for (std::size_t i = 0; i < shown; ++i) {
    const FunctionScalability& each = functions[i];
    out << format("%14.6g %7.1f %% %16.6g %16.6g  ", each.value, 100 * each.weight, each.one, each.many)
        << shown_text(each.function) << "\n";
  }
  if (shown < functions.size())
    out << "and " << counted(functions.size() - shown, "function") << " more; --most 0 shows all\n";
}

void print_functions_csv(const std::vector<FunctionScalability>& functions, std::size_t shown, std::ostream& out) {
  out << "value,weight,one,many,function\n";
  for (std::size_t i = 0; i < shown; ++i) {
    const FunctionScalability& each = functions[i];
    out << format("%.9g,%.6g,%.9g,%.9g,", each.value, each.weight, each.one, each.many) << shown_text(each.function)
        << "\n";
  }
}

Json json_of(const std::vector<FunctionScalability>& functions, std::size_t shown) {
  Json json = Json::array();
  for (std::size_t i = 0; i < shown; ++i) {
    const FunctionScalability& each = functions[i];
    json.push_back({{"function", each.function},
                    {"value", each.value},
                    {"weight", each.weight},
                    {"one", each.one},
                    {"many", each.many}});
  }
  return json;
}

int say_report_fault(const std::string& text, std::ostream& err) {
  err << "corelane scale report: " << shown_text(text) << "\n";
  return 2;
}

}  // namespace

int scale_report(const ScaleReportOptions& options, std::ostream& out, std::ostream& err) {
  const auto is_work = [](double work) { return work > 0 && work <= most_work; };  // false for NaN
  if (!is_work(options.work_one) || !is_work(options.work_many))
    return say_report_fault("--work-one and --work-many need a number above 0, at most 1e18", err);
  const auto one = profile_in(options.one, options.work_one);
  if (!one) return say_report_fault(one.error(), err);
  const auto many = profile_in(options.many, options.work_many);
  if (!many) return say_report_fault(many.error(), err);
  const auto functions = scale::function_scalability(*one, *many);
  const std::size_t shown =
      options.most == 0 ? functions.size() : std::min(functions.size(), static_cast<std::size_t>(options.most));
  switch (options.format) {
    case CurveFormat::table:
      print_functions(functions, shown, out);
      break;
    case CurveFormat::csv:
      print_functions_csv(functions, shown, out);
      break;
    case CurveFormat::json:
      out << json_lines(json_of(functions, shown));
      break;
  }
  return 0;
}

}  // namespace corelane::tool
