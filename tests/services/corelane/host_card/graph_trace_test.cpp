#include "services/corelane/host_card/graph_trace.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/system/temp_directory.h"

namespace graph_trace_test {

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;
using corelane::testing::TempDirectory;

namespace {

// A directory with the files of tracefs that a GraphTrace uses.
class Tracefs {
 public:
  explicit Tracefs(const std::string& tracers = "function_graph function nop\n") {
    write("available_tracers", tracers);
    write("current_tracer", "nop\n");
    write("set_ftrace_filter", "#### all functions enabled ####\n");
    write("trace", "# tracer: function_graph\n 1)   0.983 us    |  sched_balance_rq();\n");
  }
  void write(const std::string& file, const std::string& text) const { std::ofstream(place_ / file) << text; }
  std::string read(const std::string& file) const {
    std::ifstream stream(place_ / file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::string fault() const {
    const auto trace = start();
    return trace ? "" : trace.error().why;
  }
  std::string mark() const { return place_ / "mark"; }
  Expected<GraphTrace, NotMeasured> start() const { return GraphTrace::start(place_.path(), mark()); }
  bool is_reset() const {
    return read("current_tracer") == "nop" && read("set_ftrace_filter").empty() && !std::filesystem::exists(mark());
  }

 private:
  TempDirectory place_;
};

}  // namespace

TEST_CASE("the durations of a function graph are read, also those that the kernel marks as long") {
  constexpr const char* trace =
      "# tracer: function_graph\n"
      "#\n"
      "# CPU  DURATION                  FUNCTION CALLS\n"
      "# |     |   |                     |   |   |   |\n"
      " 1)   0.983 us    |  sched_balance_rq();\n"
      " 0) + 10.500 us   |  sched_balance_rq();\n"
      " ------------------------------------------\n"
      " 0)   <idle>-0    =>  corelan-712 \n"
      " 0)               |  sched_balance_rq() {\n"
      " 0) ! 102.1 us    |  }\n"
      " 1) # 1204.000 us |  sched_balance_rq();";
  CHECK(durations_of_graph(trace) == std::vector<Duration>{983ns, 10'500ns, 102'100ns, 1204us});
  CHECK(durations_of_graph("").empty());
  CHECK(durations_of_graph(" us |\n").empty());
}

TEST_CASE("what the load balancer costs is summed up as the source does it") {
  const auto cost = balancer_cost_of(10, 60, 5min, {405ns, 983ns, 1899ns});
  CHECK(cost == eval::BalancerCost{.tasks = 10,
                                   .percent = 60,
                                   .watched = 5min,
                                   .calls = 3,
                                   .min = 405ns,
                                   .mean = 1095ns,
                                   .max = 1899ns,
                                   .total = 3287ns});
  CHECK(balancer_cost_of(10, 60, 5min, {}).calls == 0);
}

TEST_CASE("a trace sets the tracer of one function, and resets it at its end") {
  const Tracefs tracefs;
  {
    const auto trace = tracefs.start();
    REQUIRE(trace);
    CHECK(tracefs.read("set_ftrace_filter") == "sched_balance_rq");
    CHECK(tracefs.read("current_tracer") == "function_graph");
    CHECK(trace->calls() == std::vector<Duration>{983ns});
  }
  CHECK(tracefs.is_reset());
}

TEST_CASE("a signal that ends the process resets the tracer first") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    CAPTURE(signal);
    const Tracefs tracefs;
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      (void)::signal(signal, SIG_DFL);  // the test may run with signals ignored
      const auto trace = tracefs.start();
      if (trace && tracefs.read("current_tracer") == "function_graph") (void)::raise(signal);
      ::_exit(1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal);
    CHECK(tracefs.is_reset());
  }
}

TEST_CASE("the next trace resets the tracer that a killed process left on, and no other") {
  const Tracefs tracefs;
  tracefs.write("current_tracer", "function_graph\n");
  tracefs.write("set_ftrace_filter", "sched_balance_rq\n");
  CHECK_THAT(tracefs.fault(), Catch::StartsWith("another program traces the kernel"));  // nothing marks it as ours
  CHECK(tracefs.read("current_tracer") == "function_graph\n");
  tracefs.write("mark", "");
  CHECK(tracefs.fault().empty());
  CHECK(tracefs.is_reset());
  tracefs.write("mark", "");
  tracefs.write("current_tracer", "function\n");  // a program that started later
  CHECK_THAT(tracefs.fault(), Catch::StartsWith("another program traces the kernel: current_tracer is function"));
  CHECK(tracefs.read("current_tracer") == "function\n");
}

TEST_CASE("a trace waits for no other corelane doctor, and leaves its tracer on") {
  const Tracefs tracefs;
  const auto first = tracefs.start();
  REQUIRE(first);
  CHECK_THAT(tracefs.fault(), Catch::StartsWith("another corelane doctor traces the kernel: it has locked "));
  CHECK(tracefs.read("current_tracer") == "function_graph");
}

TEST_CASE("a trace that cannot be made says why, and leaves the tracer as it is") {
  CHECK(Tracefs("function nop\n").fault() == "the kernel has no function graph tracer (CONFIG_FUNCTION_GRAPH_TRACER)");
  CHECK_THAT(Tracefs("").fault(), Catch::EndsWith(" cannot be read; run as root"));
  const Tracefs used;
  used.write("current_tracer", "function\n");
  CHECK_THAT(used.fault(), Catch::StartsWith("another program traces the kernel: current_tracer is function"));
  CHECK(used.read("current_tracer") == "function\n");
  const Tracefs filtered;
  filtered.write("set_ftrace_filter", "vfs_read\n");
  CHECK_THAT(filtered.fault(), Catch::Contains("set_ftrace_filter is not empty"));
  CHECK(filtered.read("set_ftrace_filter") == "vfs_read\n");
}

}  // namespace graph_trace_test
