// One pendulum's process: how it answers the conductor's words.
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "examples/pendulum/messages.h"
#include "orb/os/process/child_process.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::pendulum;

namespace {

// A control service and one pendulum that it has admitted.
class Admitted {
 public:
  Admitted() {
    const auto ready = message_of<ServerReady>(service_.read_line().value());
    pendulum_.emplace(
        os::ChildProcess(with_directory({os::program_beside("corelane-pendulum"), "swing", "--reference",
                                         ready.reference, "--period", "20ms", "--deadline", "20ms", "--budget", "1ms",
                                         "--jitter", "0s", "--effort", "1us", "--length", "1", "--seed", "1"})));
    REQUIRE(message_of<ClientAnswer>(pendulum_->read_line().value()).admitted);
  }

  // Sends these lines at once and returns the report.
  ClientReport report_after(const std::string& lines) {
    pendulum_->write_line(lines);
    return message_of<ClientReport>(pendulum_->read_line().value());
  }
  std::string end() { return pendulum_->wait()->text(); }

 private:
  std::vector<std::string> with_directory(std::vector<std::string> command) const {
    command.insert(command.end(), {"-ORBRuntimeDirectory", place_ / "run"});
    return command;
  }

  const testing::TempDirectory place_;
  os::ChildProcess service_{with_directory({os::program_beside("corelane-pendulum"), "serve", "--no-admission"})};
  std::optional<os::ChildProcess> pendulum_;
};

}  // namespace

TEST_CASE("a pendulum that finds go and stop in its input at once ends") {
  Admitted pendulum;
  CHECK(pendulum.report_after("go\nstop").stands);
  CHECK(pendulum.end() == "exit status 0");
}

TEST_CASE("a pendulum that is told to stop before it was started reports no call") {
  Admitted pendulum;
  CHECK(pendulum.report_after("stop").calls == 0);
  CHECK(pendulum.end() == "exit status 0");
}
