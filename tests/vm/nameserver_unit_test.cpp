// corelane-nameserver, run by systemd with its unit: machine.py --systemd.
#include <signal.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "tests/vm/unit.h"

using corelane::testing::output_of;
using corelane::testing::Unit;

namespace {

// Returns the output of `corelane ns` and its exit status: "0" alone if it succeeds without output. Retries while no
// nameserver runs: a daemon that systemd has just started may not listen yet.
std::string ns(const std::string& words) {
  const corelane::Time latest = corelane::os::now() + std::chrono::minutes{2};
  std::string said;
  do said = output_of("./corelane ns " + words + " 2>&1; echo $?");
  while (said.find("no nameserver runs") != std::string::npos && corelane::os::now() < latest);
  return said;
}

}  // namespace

TEST_CASE("nameserver: systemd starts it, and again with its names after kill -9, and stops it", "[.systemd]") {
  REQUIRE(std::filesystem::exists("/run/systemd/system"));
  const Unit unit("corelane-nameserver.service");
  REQUIRE(output_of("systemctl start corelane-nameserver 2>&1") == "");
  CHECK(ns("bind --parents plant/controller corbaloc::host/thing") == "0");
  CHECK(ns("resolve plant/controller").find("IOR:") == 0);
  CHECK(ns("status").find("sqlite /var/lib/corelane/names.db") != std::string::npos);
  struct stat socket {};
  REQUIRE(stat("/run/corelane/nameserver.sock", &socket) == 0);
  CHECK((socket.st_mode & 0777) == 0666);  // writable for every user of the host
  const int first = unit.pid();
  REQUIRE(first != 0);
  CHECK(output_of("grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/" + std::to_string(first) +
                  "/status | tr -s '\\t\\n' '  '") ==
        "CapEff: 0000000000000000 CapBnd: 0000000000000000 NoNewPrivs: 1 ");

  kill(first, SIGKILL);
  REQUIRE(unit.another_starts(first));
  CHECK(ns("list --recursive") == "plant/\nplant/controller\n0");

  CHECK(output_of("systemctl stop corelane-nameserver 2>&1") == "");
  CHECK(unit.property("Result") == "success");
  CHECK(unit.pid() == 0);
  CHECK(std::filesystem::exists("/var/lib/corelane/names.db"));
  REQUIRE(output_of("systemctl start corelane-nameserver 2>&1") == "");
  CHECK(ns("resolve plant/controller").find("IOR:") == 0);
}
