#include "services/corelane/host_card/graph_trace.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "orb/os/fd.h"
#include "orb/os/files/small_file.h"

namespace corelane::tool {
namespace {

constexpr const char* balancing_functions[] = {"sched_balance_rq", "load_balance"};  // since Linux 6.10, and before
constexpr std::string_view unfiltered = "#### all functions enabled ####";

// Reads a file of tracefs, which reports the size 0; without the white space at its end.
std::string traced_text(const std::string& path) {
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  text.erase(text.find_last_not_of(" \n\t") + 1);
  return text;
}

// Replaces the setting in a file of tracefs. Returns false with errno if the kernel refuses.
bool set_traced(const std::string& path, std::string_view text) {
  const os::Fd file(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  return file && os::write_all(file.get(), text);
}

// Parses "0.983" as microseconds with three decimals.
Duration parse_microseconds(std::string_view text) {
  std::int64_t nanoseconds = 0;
  const std::size_t point = text.find('.');
  std::string digits(text.substr(0, point));
  std::string decimals(point == text.npos ? std::string_view() : text.substr(point + 1));
  decimals.resize(3, '0');
  digits += decimals;
  std::from_chars(digits.data(), digits.data() + digits.size(), nanoseconds);
  return Duration{nanoseconds};
}

// Returns why another program needs the tracer; "" if none does.
std::string user_of_tracer(const std::string& folder) {
  const std::string tracer = traced_text(folder + "/current_tracer");
  if (tracer != "nop") return "current_tracer is " + tracer;
  const std::string filter = traced_text(folder + "/set_ftrace_filter");
  return filter == unfiltered ? std::string() : "set_ftrace_filter is not empty";
}

void reset_tracer(const std::string& folder) {
  set_traced(folder + "/current_tracer", "nop");
  set_traced(folder + "/set_ftrace_filter", "");
}

}  // namespace

std::vector<Duration> durations_of_graph(std::string_view trace) {
  constexpr std::string_view unit = " us ";
  std::vector<Duration> durations;
  while (!trace.empty()) {  // bound: the text
    const std::size_t end = std::min(trace.find('\n'), trace.size());
    const std::string_view line = trace.substr(0, end);
    trace.remove_prefix(std::min(end + 1, trace.size()));
    const std::size_t number_end = line.find(unit);
    if (line.starts_with('#') || number_end == line.npos) continue;
    const std::size_t before = line.substr(0, number_end).find_last_not_of("0123456789.");
    const std::size_t begin = before == line.npos ? 0 : before + 1;
    if (begin == number_end) continue;
    durations.push_back(parse_microseconds(line.substr(begin, number_end - begin)));
  }
  return durations;
}

eval::BalancerCost balancer_cost_of(int tasks, int percent, Duration watched, const std::vector<Duration>& calls) {
  eval::BalancerCost cost{.tasks = tasks, .percent = percent, .watched = watched};
  if (calls.empty()) return cost;
  cost.calls = static_cast<std::int64_t>(calls.size());
  cost.min = *std::ranges::min_element(calls);
  cost.max = *std::ranges::max_element(calls);
  for (const Duration call : calls) cost.total += call;
  cost.mean = cost.total / cost.calls;
  return cost;
}

std::string tracefs_folder() {
  for (const char* const folder : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"})
    if (::access((std::string(folder) + "/current_tracer").c_str(), F_OK) == 0) return folder;
  return {};
}

Expected<GraphTrace, NotMeasured> GraphTrace::start(const std::string& folder) {
  const std::string tracers = " " + traced_text(folder + "/available_tracers") + " ";
  if (tracers == "  ") return NotMeasured{folder + " cannot be read; run as root"};
  if (tracers.find(" function_graph ") == tracers.npos)
    return NotMeasured{"the kernel has no function graph tracer (CONFIG_FUNCTION_GRAPH_TRACER)"};
  if (const std::string user = user_of_tracer(folder); !user.empty())
    return NotMeasured{"another program traces the kernel: " + user + " in " + folder};
  const bool is_filtered = std::ranges::any_of(
      balancing_functions, [&](const char* function) { return set_traced(folder + "/set_ftrace_filter", function); });
  if (!is_filtered) return NotMeasured{"the kernel does not let its load balancer be traced; run as root"};
  GraphTrace trace(folder);
  if (!set_traced(folder + "/current_tracer", "function_graph"))
    return NotMeasured{folder + "/current_tracer cannot be set: " + std::strerror(errno)};
  return trace;
}

GraphTrace::GraphTrace(GraphTrace&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}

GraphTrace::~GraphTrace() {
  if (!folder_.empty()) reset_tracer(folder_);
}

std::vector<Duration> GraphTrace::calls() const { return durations_of_graph(traced_text(folder_ + "/trace")); }

}  // namespace corelane::tool
