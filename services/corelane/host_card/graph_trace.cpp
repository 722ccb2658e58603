#include "services/corelane/host_card/graph_trace.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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
  return filter.empty() || filter == unfiltered ? std::string() : "set_ftrace_filter is not empty";
}

// The files that reset_tracer() needs. They are static, because a signal handler may still read them at any time.
char tracer_file[PATH_MAX], filter_file[PATH_MAX], mark_file[PATH_MAX];

// Keeps a path for reset_tracer(). Returns false if it is too long.
bool keep(char (&kept)[PATH_MAX], const std::string& path) {
  if (path.size() >= sizeof kept) return false;
  std::memcpy(kept, path.c_str(), path.size() + 1);
  return true;
}

// Resets the tracer. Signal handlers may call it.
void reset_tracer() noexcept {
  constexpr int flags = O_WRONLY | O_TRUNC | O_CLOEXEC;
  if (const int tracer = ::open(tracer_file, flags); tracer >= 0) {
    (void)!::write(tracer, "nop", 3);
    ::close(tracer);
  }
  if (const int filter = ::open(filter_file, flags); filter >= 0) ::close(filter);  // O_TRUNC empties the filter
}

// Signal handler: the signal takes its default effect when the handler returns.
void reset_and_end(int signal) {
  const int before = errno;
  reset_tracer();
  (void)::unlink(mark_file);
  (void)::signal(signal, SIG_DFL);
  (void)::raise(signal);
  errno = before;
}

constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP};

// Tells whether the tracer is set as a GraphTrace sets it.
bool is_set_as_here(const std::string& folder) {
  const std::string filter = traced_text(folder + "/set_ftrace_filter");
  return traced_text(folder + "/current_tracer") == "function_graph" &&
         std::ranges::any_of(balancing_functions, [&](const char* function) { return filter == function; });
}

// Opens and locks the mark. A lock ends with its process, so a mark without a lock is of a process that was killed.
Expected<os::Fd, NotMeasured> lock_mark(const std::string& path) {
  os::Fd mark(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!mark) return NotMeasured{path + " cannot be opened: " + std::strerror(errno) + "; run as root"};
  if (::flock(mark.get(), LOCK_EX | LOCK_NB) != 0)
    return NotMeasured{"another corelane doctor traces the kernel: it has locked " + path + "; wait until it ends"};
  return mark;
}

}  // namespace

// Resets the tracer when it is destroyed, and when a signal ends the process.
class GraphTrace::Reset {
 public:
  explicit Reset(os::Fd mark) : mark_(std::move(mark)) {
    struct sigaction action {};
    action.sa_handler = reset_and_end;
    for (std::size_t i = 0; i < ending_signals.size(); ++i) {
      ::sigaction(ending_signals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) ::sigaction(ending_signals[i], &action, nullptr);
    }
  }
  Reset(const Reset&) = delete;
  Reset& operator=(const Reset&) = delete;
  ~Reset() {
    reset_tracer();
    (void)::unlink(mark_file);
    for (std::size_t i = 0; i < ending_signals.size(); ++i) ::sigaction(ending_signals[i], &before_[i], nullptr);
  }

 private:
  const os::Fd mark_;  // locked
  std::array<struct sigaction, ending_signals.size()> before_{};
};

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

Expected<GraphTrace, NotMeasured> GraphTrace::start(const std::string& folder, const std::string& mark) {
  const std::string tracers = " " + traced_text(folder + "/available_tracers") + " ";
  if (tracers == "  ") return NotMeasured{folder + " cannot be read; run as root"};
  if (tracers.find(" function_graph ") == tracers.npos)
    return NotMeasured{"the kernel has no function graph tracer (CONFIG_FUNCTION_GRAPH_TRACER)"};
  if (!keep(tracer_file, folder + "/current_tracer") || !keep(filter_file, folder + "/set_ftrace_filter") ||
      !keep(mark_file, mark))
    return NotMeasured{folder + " is too long a path"};
  const bool was_killed = ::access(mark.c_str(), F_OK) == 0;
  auto locked = lock_mark(mark);
  if (!locked) return locked.error();
  if (was_killed && is_set_as_here(folder)) reset_tracer();
  if (const std::string user = user_of_tracer(folder); !user.empty()) {
    (void)::unlink(mark_file);
    return NotMeasured{"another program traces the kernel: " + user + " in " + folder};
  }
  GraphTrace trace(folder, std::make_unique<Reset>(*std::move(locked)));
  const bool is_filtered = std::ranges::any_of(
      balancing_functions, [&](const char* function) { return set_traced(folder + "/set_ftrace_filter", function); });
  if (!is_filtered) return NotMeasured{"the kernel does not let its load balancer be traced; run as root"};
  if (!set_traced(folder + "/current_tracer", "function_graph"))
    return NotMeasured{folder + "/current_tracer cannot be set: " + std::strerror(errno)};
  return trace;
}

GraphTrace::GraphTrace(std::string folder, std::unique_ptr<Reset> reset)
    : folder_(std::move(folder)), reset_(std::move(reset)) {}
GraphTrace::GraphTrace(GraphTrace&& other) noexcept = default;
GraphTrace::~GraphTrace() = default;

std::vector<Duration> GraphTrace::calls() const { return durations_of_graph(traced_text(folder_ + "/trace")); }

}  // namespace corelane::tool
