// What a server reports at its start and what it does, with the system's privileges and without them.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "orb/os/privileges.h"
#include "orb/os/process/child_process.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;

namespace {

using Words = std::vector<std::string>;

// The quickstart's server, started with the words of `before`; runs as long as this object lives.
class Server {
 public:
  explicit Server(Words before) : process_(command(std::move(before)), {.joins_errors = true}) {
    while (!started) {  // bound: its output
      const auto line = process_.read_line();
      if (!line) return;
      started = line->starts_with("IOR:");
      said += *line + "\n";
    }
  }
  int times(const std::string& words) const {
    int count = 0;
    for (std::size_t at = said.find(words); at != said.npos; at = said.find(words, at + 1)) ++count;
    return count;
  }
  // Returns VmLck of /proc/<pid>/status, in KiB.
  long locked_memory() const {
    std::ifstream status("/proc/" + std::to_string(process_.pid()) + "/status");
    for (std::string word; status >> word;)
      if (long size = 0; word == "VmLck:" && status >> size) return size;
    return -1;
  }

  bool started = false;
  std::string said;

 private:
  static Words command(Words words) {
    words.insert(words.end(), {os::program_beside("corelane-quickstart-server"), "-ORBRuntimeLedger", "off"});
    return words;
  }
  os::ChildProcess process_;
};

// The words that start a program with these limits. A root process gives up its capabilities.
Words with_limits(const std::string& rtprio, const std::string& memlock) {
  Words words{"prlimit", "--rtprio=" + rtprio, "--memlock=" + memlock};
  if (geteuid() == 0) words.insert(words.end(), {"setpriv", "--bounding-set=-sys_nice,-ipc_lock"});
  return words;
}

}  // namespace

TEST_CASE("a server locks its memory or says that it could not") {
  const Server server({});
  REQUIRE(server.started);
  const bool locked = server.locked_memory() > 0;
  CHECK(locked == os::privileges().memlock);
  CHECK(locked == (server.times("Memory locking is missing") == 0));
}

TEST_CASE("a server without privileges serves and says once what each costs and how to mend it") {
  const Server server(with_limits("0", "65536"));
  INFO(server.said);
  if (!server.started) WARN("SKIPPED: this system lets nobody give up privileges: " + server.said);
  if (!server.started) return;
  CHECK(server.times("SCHED_FIFO is missing") == 1);
  CHECK(server.times("Memory locking is missing") == 1);
  CHECK(server.times("Mend it: ") == 2);
}

TEST_CASE("a reader that may not run above the tasks is a warning with its remedy") {
  const Server server(with_limits("49", "65536"));
  INFO(server.said);
  if (!server.started) WARN("SKIPPED: this system does not grant priorities up to 49 alone: " + server.said);
  if (!server.started) return;
  CHECK(server.times("io.priority = 50 was refused") == 1);
  CHECK(server.times("SCHED_FIFO is missing") == 0);
}

TEST_CASE("a server that an error ends leaves nothing in the runtime directory") {
  const testing::TempDirectory directory;
  const std::string server = os::program_beside("corelane-quickstart-server") +
                             " -ORBRuntimeLedger off -ORBPoolRealTime off -ORBRuntimeDirectory " + directory.path();
  // Its reference cannot be written: it ends in the middle of main, with its ORB.
  os::ChildProcess ending({"sh", "-c", server + " 2>&1 >/dev/full"});
  CHECK_THAT(ending.read_all().value(), Catch::Contains("server: standard output did not take the reference"));
  CHECK_FALSE(ending.wait()->ok());
  CHECK(directory.entries() == 0);
}
