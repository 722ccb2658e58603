// The daemon, run by systemd with its units: machine.py --systemd.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "orb/core/reservation/reservation_wire.h"
#include "orb/os/clock.h"
#include "orb/os/machine/core_list.h"
#include "services/reserved/backends/process_table.h"
#include "tests/vm/machine_picture.h"
#include "tests/vm/unit.h"

using namespace corelane;
using corelane::testing::output_of;
using corelane::testing::Unit;
using namespace std::chrono_literals;

namespace {

constexpr const char* activated_socket = "/run/corelane/reserved.sock";

const Unit daemon_unit("corelane-reserved.service");
std::string property(const std::string& name) { return daemon_unit.property(name); }
int daemon_pid() { return daemon_unit.pid(); }

std::string status_field(int pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name + ":\t")) return line.substr(name.size() + 2);
  return {};
}

// Asks for a core for this process until there is an answer: systemd may be about to start the next daemon.
std::string core_from_daemon() {
  const Time latest = os::now() + 2min;
  while (os::now() < latest) {
    auto wire = core::ReservationWire::connect(activated_socket);
    core::ReservationWire::Answer answer;
    if (wire && wire->ask_for(1, {}) && wire->poll(answer, 1min) == core::ReservationWire::State::answered)
      return answer.held ? os::core_list_text(answer.held->cores) : answer.why;
  }
  return "no answer";
}
std::string cores_of_this() {
  return os::core_list_text(reserved::HostProcesses().affinity(getpid()).value_or(std::vector<CoreId>{}));
}

bool another_starts(int former) { return daemon_unit.another_starts(former); }

}  // namespace

TEST_CASE("systemd: the daemon starts when it is asked, watched and with its capabilities, and puts the host back",
          "[.systemd]") {
  REQUIRE(std::filesystem::exists("/run/systemd/system"));
  REQUIRE(output_of("systemctl start corelane-reserved.socket 2>&1") == "");
  CHECK(daemon_pid() == 0);
  const auto before = testing::MachinePicture::taken();
  CHECK(core_from_daemon() == "3");
  CHECK(cores_of_this() == "3");
  const int first = daemon_pid();
  REQUIRE(first != 0);
  CHECK(status_field(first, "CapEff") == "0000000000880002");  // SYS_NICE, SYS_PTRACE, DAC_OVERRIDE
  CHECK(status_field(first, "CapBnd") == "0000000000880002");
  CHECK(status_field(first, "NoNewPrivs") == "1");
  CHECK(status_field(first, "Seccomp") == "2");
  CHECK_THAT(property("StatusText"), Catch::Contains("corelane-reserved: cgroup-v"));
  std::cout << property("StatusText") << std::endl;

  kill(first, SIGSTOP);  // the watchdog must notice it
  REQUIRE(another_starts(first));
  CHECK(core_from_daemon() == "3");
  const int second = daemon_pid();
  kill(second, SIGKILL);
  REQUIRE(another_starts(second));
  const int third = daemon_pid();
  // systemd switches controllers on and off when a unit starts that needs some.
  std::ofstream("/run/systemd/system/other.service")
      << "[Unit]\nDefaultDependencies=no\n[Service]\nCPUWeight=50\nMemoryMax=64M\nExecStart=/bin/sleep 1000\n";
  CHECK(output_of("systemctl daemon-reload 2>&1; systemctl start other.service 2>&1") == "");
  CHECK(core_from_daemon() == "3");
  CHECK(cores_of_this() == "3");
  CHECK(daemon_pid() == third);  // it survived that

  CHECK(output_of("systemctl stop other.service 2>&1") == "");
  CHECK(output_of("systemctl stop corelane-reserved.socket corelane-reserved.service 2>&1") == "");
  CHECK(property("Result") == "success");
  CHECK(cores_of_this() == "0-3");
  CHECK(before.difference(testing::MachinePicture::taken()) == "");
}
