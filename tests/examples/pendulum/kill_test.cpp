// The demo while its processes are killed. It reports what that means, continues or ends, and leaves nothing behind.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "orb/os/process/child_process.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using Catch::Contains;

namespace {

bool lives(pid_t process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

std::set<std::string> demo_directories(const std::string& place) {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(place))
    if (entry.path().filename().string().starts_with("corelane-demo-")) found.insert(entry.path().string());
  return found;
}

// A demo that runs until it is ended, in directories of its own. Its clients wait long enough for a channel to be set
// up while this machine stalls.
class RunningDemo {
 public:
  explicit RunningDemo(int pendulums = 3)
      : program_({"env", "--default-signal=HUP", "TMPDIR=" + place_.path(), os::program_beside("corelane-pendulum"),
                  "--no-admission", "--pendulums", std::to_string(pendulums), "--length", "1000s",
                  "-ORBRuntimeDirectory", place_ / "run", "-ORBTimeoutRequest", "60s"},
                 {.joins_errors = true}) {}

  // Reads until a line contains these words and returns it; "" if none comes.
  std::string line_with(const std::string& words) {
    while (auto line = program_.read_line()) {  // bound: the demo's output
      said += *line + "\n";
      if (line->find(words) != line->npos) return *line;
    }
    return {};
  }
  // Returns the process that the line with these words names.
  pid_t process_of(const std::string& words) {
    const std::string line = line_with(words);
    const std::size_t number = line.find("process ");
    const pid_t process = number == line.npos ? 0 : static_cast<pid_t>(std::atoi(line.c_str() + number + 8));
    if (process > 0) processes.push_back(process);
    return process;
  }
  // Reads the rest of the output and returns how the demo ended.
  std::string end() {
    said += program_.read_all().value_or("");
    return program_.wait()->text();
  }
  void send(int signal) const { ::kill(program_.pid(), signal); }
  // Returns the files left in its directories after its end, except the trace of a missed deadline, which is kept for
  // the user.
  std::vector<std::string> left_behind() const {
    std::vector<std::string> left;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(place_.path()))
      if (!entry.is_directory() && entry.path().extension() != ".cltrace" &&
          !entry.path().filename().string().starts_with("ledger"))  // the ledger belongs to the host
        left.push_back(entry.path().string());
    return left;
  }

  std::string said;
  std::vector<pid_t> processes;

 private:
  const testing::TempDirectory place_;
  os::ChildProcess program_;
};

}  // namespace

TEST_CASE("if any process of the demo is killed, the demo goes on or says why it ends, and leaves nothing behind") {
  RunningDemo demo;
  const pid_t reserving = demo.process_of("corelane-reserved, process "),
              naming = demo.process_of("corelane-nameserver, process "), service = demo.process_of("control service, "),
              first = demo.process_of("pendulum 1, "), second = demo.process_of("pendulum 2, ");
  CHECK_THAT(demo.said, Contains("pendulum 1, process " + std::to_string(first) + ": admitted as task ") &&
                            Contains("; calls over channel:/") && Contains("; calls over a channel, too"));
  demo.line_with("All have been started");
  INFO(demo.said);
  CHECK_THAT(demo.said, !Contains(" info: "));  // info messages from the logs of its processes
  CHECK_THAT(demo.said, !Contains("not promised") && Contains("others may still run on those cores; --reserve host"));
  REQUIRE((reserving > 0 && naming > 0 && service > 0 && first > 0 && second > 0));

  ::kill(second, SIGKILL);
  CHECK_THAT(demo.line_with("pendulum 2 ended"), Contains("killed by signal 9") && Contains("the others go on"));
  ::kill(naming, SIGKILL);
  CHECK_THAT(demo.line_with("corelane-nameserver ended"), Contains("still call it"));
  CHECK(demo.process_of("corelane-nameserver runs again, as process ") != naming);
  CHECK_THAT(demo.said, Contains("pendulum/controller is in its store as before"));
  ::kill(reserving, SIGKILL);
  CHECK_THAT(demo.line_with("corelane-reserved ended ("), Contains("the service keeps its cores"));
  CHECK(demo.process_of("corelane-reserved runs again, as process ") != reserving);
  if (demo.said.find("no core for itself") == demo.said.npos)
    CHECK_THAT(demo.line_with("the service has asked again"), Contains(", which the demo's other processes keep off"));
  ::kill(service, SIGKILL);
  CHECK_THAT(demo.line_with("the control service ended"), Contains("so the demo ends"));
  CHECK_THAT(demo.line_with("pendulum/controller"), Contains("has left the nameserver with it"));

  CHECK(demo.end() == "exit status 1");
  INFO(demo.said);
  CHECK_THAT(demo.said, Contains("The control service ended before its time (killed by signal 9"));
  CHECK(demo.left_behind() == std::vector<std::string>{});
  for (const pid_t process : demo.processes) CHECK_FALSE(lives(process));
}

TEST_CASE("a demo that was killed leaves a directory that the next one removes, and one that runs keeps its own") {
  const testing::TempDirectory place;
  const auto demo_in = [&] {
    return os::ChildProcess(
        {"env", "TMPDIR=" + place.path(), os::program_beside("corelane-pendulum"), "--no-admission", "--reserve", "off",
         "--pendulums", "1", "--length", "1000s", "-ORBRuntimeDirectory", place / "run"},
        {.joins_errors = true});
  };
  const auto started = [](os::ChildProcess& demo) {
    while (const auto line = demo.read_line())  // bound: the demo's output
      if (line->starts_with("All have been started")) return true;
    return false;
  };
  const auto directories = [&] { return demo_directories(place.path()); };
  os::ChildProcess killed = demo_in();
  REQUIRE(started(killed));
  const auto first = directories();
  REQUIRE(first.size() == 1);
  os::ChildProcess second = demo_in();
  REQUIRE(started(second));
  const auto both = directories();
  REQUIRE(both.size() == 2);
  ::kill(killed.pid(), SIGKILL);
  killed.wait();
  os::ChildProcess third = demo_in();
  REQUIRE(started(third));
  CHECK(directories().size() == 2);
  CHECK(directories().count(*first.begin()) == 0);
  for (os::ChildProcess* const demo : {&second, &third}) {
    ::kill(demo->pid(), SIGINT);
    demo->read_all();
    demo->wait();
  }
  CHECK(directories().empty());
}

TEST_CASE("a demo that is interrupted, or whose terminal closes, ends with its table and leaves nothing behind") {
  const auto signals = GENERATE(values<std::vector<int>>({{SIGINT}, {SIGHUP, SIGHUP}}));  // from kernel and shell
  RunningDemo demo;
  const pid_t reserving = demo.process_of("corelane-reserved, process ");
  demo.line_with("All have been started");
  for (const int signal : signals) demo.send(signal);
  CHECK(demo.end() == "exit status 0");
  INFO(demo.said);
  CHECK_THAT(demo.said,
             Contains("3 pendulums asked for a task of the control service: 3 admitted") && Contains("over C  late"));
  CHECK(reserving > 0);
  CHECK(demo.left_behind() == std::vector<std::string>{});
}

TEST_CASE("a demo that is interrupted while its pendulums arrive waits for none of them") {
  RunningDemo demo(40);
  const pid_t first = demo.process_of("pendulum 1, ");
  demo.send(SIGINT);
  CHECK(demo.end() == "exit status 1");
  INFO(demo.said);
  CHECK(first > 0);
  CHECK_THAT(demo.said, Contains("The demo was ended before its pendulums were started") && !Contains("it hangs"));
  CHECK(demo.left_behind() == std::vector<std::string>{});
}

TEST_CASE("a demo whose output has no reader any more ends, says so and leaves nothing behind") {
  const std::string sink = GENERATE(as<std::string>{}, "> /dev/full", "| head -n 1");
  const testing::TempDirectory place;
  os::ChildProcess shell(
      {"env", "--default-signal=PIPE", "TMPDIR=" + place.path(), "sh", "-c",
       "{ \"$0\" \"$@\"; echo \"status $?\" >&2; } " + sink, os::program_beside("corelane-pendulum"), "--no-admission",
       "--pendulums", "1", "--length", "1000s", "-ORBRuntimeDirectory", place / "run"},
      {.joins_errors = true});
  const std::string said = shell.read_all().value();
  shell.wait();
  CHECK_THAT(said, Contains("corelane-pendulum: standard output did not take everything") && Contains("status 1\n"));
  CHECK(demo_directories(place.path()).empty());
}
