// The programs of docs/tutorial.md: the page shows their code, and they do what it says.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <regex>

#include "orb/os/process/child_process.h"
#include "tests/support/modes.h"
#include "tests/support/system/temp_directory.h"

using corelane::os::ChildProcess;
using corelane::os::program_beside;
using corelane::testing::TempDirectory;

namespace {

constexpr uid_t lonely_user = 64321;  // no other process has this user

std::string contents(const std::string& path) {
  std::ifstream file(std::string(CORELANE_SOURCE) + "/" + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("the documents show the quickstart as it is built") {
  const auto [document, file] =
      GENERATE(as<std::pair<std::string, std::string>>{}, std::pair{"README.md", "plant.idl"},
               std::pair{"docs/tutorial.md", "plant.idl"}, std::pair{"docs/tutorial.md", "server.cpp"},
               std::pair{"docs/tutorial.md", "client.cpp"}, std::pair{"docs/using.md", "task.cpp"});
  const std::string code = contents("examples/quickstart/" + file);
  REQUIRE_FALSE(code.empty());
  INFO(file);
  CHECK(contents(document).find("\n" + code + "```") != std::string::npos);
}

TEST_CASE("README shows the refusal that the server logs") {
  const TempDirectory directory;
  const std::string file = directory / "greedy.toml", readme = contents("README.md");
  CHECK_THAT(readme, Catch::Contains(R"(printf '["IDL:Plant/Controller:1.0".step]\nbudget = "7500us"\n' > )"));
  std::ofstream(file) << "[\"IDL:Plant/Controller:1.0\".step]\nbudget = \"7500us\"\n";
  ChildProcess server({program_beside("corelane-quickstart-server"), "-ORBRuntimeLedger", "off", "-ORBPoolRealTime",
                       "off", "-ORBContractsFile", file},
                      {.joins_errors = true});
  std::string line;
  do line = server.read_line().value_or("the server has ended");  // bound: the server's output
  while (line.find("not admitted") == line.npos && line.find("ended") == line.npos);
  line = std::regex_replace(line, std::regex("closest is core [0-9]+"), "closest is core 0");  // it may have others
  const std::string shown = std::regex_replace(readme, std::regex("[ \n]+"), " ");
  const std::string why =
      " warning: Plant/Controller.step is not admitted and its calls are refused until there is room: a deadline would "
      "be missed on every core; closest is core 0, response 8460us (800us of it release jitter) against deadline 8ms; ";
  const std::string proposal =
      R"( in IDL or TOML period = "10580us", deadline = "8460us", budget = "7500us", jitter = "800us")";
  CHECK_THAT(line, Catch::Contains(why));
  // On a busy machine there may be no time to look for a proposal.
  CHECK_THAT(line, Catch::EndsWith(proposal) || Catch::EndsWith("there was no time to look for it"));
  CHECK_THAT(shown, Catch::Contains(why + "...; this contract would fit, ..." + proposal));
  ::kill(server.pid(), SIGTERM);
  CHECK(server.wait()->text() == "exit status 0");
}

TEST_CASE("a client's own task gets its answers or the reason why not") {
  ChildProcess server(
      {program_beside("corelane-quickstart-server"), "-ORBRuntimeLedger", "off", "-ORBPoolRealTime", "off"});
  const std::string reference = server.read_line().value_or("");
  ChildProcess task({program_beside("corelane-quickstart-task"), reference});
  CHECK(task.read_all().value() == "-2\n-4\n-6\n-8\n-10\n");
  CHECK(task.wait()->text() == "exit status 0");
}

TEST_CASE("a wrong argument of the quickstart is reported in one line") {
  struct Case {
    std::vector<std::string> words;
    std::string exit, said;
  };
  const std::string reference_of_nobody = "corbaloc::127.0.0.1:1/key";
  const Case wrong = GENERATE_COPY(
      Case{{"client"}, "exit status 2", "usage: "}, Case{{"client", "one", "two"}, "exit status 2", "usage: "},
      Case{{"client", "--help"}, "exit status 2", "usage: "}, Case{{"server", "--help"}, "exit status 2", "usage: "},
      Case{{"client", "nonsense"}, "exit status 1", "client: BAD_PARAM "},
      Case{{"client", ""}, "exit status 1", "the reference is empty: has the server printed it yet?"},
      Case{{"client", "IOR:00000000000000010000000000000000"}, "exit status 1", "names no Plant::Controller"},
      Case{{"client", reference_of_nobody}, "exit status 1", "cannot connect to 127.0.0.1:1: "},
      Case{{"server", "-ORBEndpointListen", "192.0.2.1:80", "-ORBRuntimeLedger", "off"},
           "exit status 1",
           "cannot listen on 192.0.2.1:80: "},
      Case{{"server", "-ORBPoolCors", "0"}, "exit status 1", "the nearest known is -ORBPoolCores"},
      Case{{"server", "-ORBPoolCores", "4095", "-ORBRuntimeLedger", "off", "-ORBLogLevel", "off"},
           "exit status 1",
           "COMPLETED_NO): pool.cores: core 4095 is none that this process may use ("},
      Case{{"server", "-ORBPoolCores", "4095", "-ORBEndpointListen", "127.0.0.1:0", "-ORBDispatchMode",
            "leader-followers", "-ORBLogLevel", "off"},
           "exit status 1",
           corelane::testing::has_followers
               ? "COMPLETED_NO): pool.cores: core 4095 is none that this process may use ("
               : "COMPLETED_NO): -ORBDispatchMode = leader-followers: expected manager or direct, because "
                 "this Corelane was built without ACE"},
      Case{{"server", "-ORBIoBudget", "5us", "-ORBLogLevel", "off"},
           "exit status 1",
           "COMPLETED_NO): io.budget is platform, 0us (no limit), or 10us and more"},
      Case{{"server", "-ORBIoBudget", "10us", "-ORBIoPeriod", "10s", "-ORBIoServer", "pibs", "-ORBLogLevel", "off"},
           "exit status 1",
           "COMPLETED_NO): io.budget = 10us is too small a part of io.period = 10s for io.server = pibs"},
      Case{{"server", "-ORBRuntimeDirectory", "/nowhere/x", "-ORBLogLevel", "off"},
           "exit status 1",
           "COMPLETED_NO): host ledger: /nowhere/x cannot be made"},
      Case{{"server", "2809"}, "exit status 2", "usage: "});
  std::vector<std::string> command = wrong.words;
  command[0] = program_beside("corelane-quickstart-" + command[0]);
  ChildProcess program(command, {.joins_errors = true});
  const std::string text = program.read_all().value();
  CHECK_THAT(text, Catch::Contains(wrong.said));
  CHECK(program.wait()->text() == wrong.exit);
}

TEST_CASE("a server with too few descriptors names the limit") {
  const std::string server = program_beside("corelane-quickstart-server") + " -ORBRuntimeLedger off";
  // The number that it needs depends on the machine's cores. Below seven the system cannot load it.
  for (int limit = 7;; ++limit) {  // bound: the number that is enough
    ChildProcess program({"/bin/sh", "-c", "ulimit -n " + std::to_string(limit) + "; exec " + server},
                         {.joins_errors = true});
    std::string said;
    while (const auto line = program.read_line()) {
      said += *line + "\n";
      if (line->starts_with("IOR:")) break;
    }
    if (said.find("IOR:") != said.npos) {
      CHECK(limit > 7);
      ::kill(program.pid(), SIGTERM);
      return;
    }
    INFO("limit " << limit);
    CHECK_THAT(said, Catch::Contains("server: NO_RESOURCES") && Catch::Contains("raise ulimit -n"));
    CHECK(program.wait()->text() == "exit status 1");
  }
}

TEST_CASE("a server with too few threads names the limit") {
  if (geteuid() != 0) {
    WARN("SKIPPED: a user of this test's own has no other threads, and only root can be one");
    return;
  }
  const TempDirectory directory;
  REQUIRE(chown(directory.path().c_str(), lonely_user, lonely_user) == 0);
  const std::string id = std::to_string(lonely_user);
  const std::string as_user = "setpriv --reuid=" + id + " --regid=" + id + " --clear-groups ";
  const std::string server = program_beside("corelane-quickstart-server") + " -ORBRuntimeLedger off" +
                             " -ORBRuntimeDirectory " + directory.path() + " -ORBPoolRealTime off -ORBLogLevel error";
  for (int limit = 1;; ++limit) {  // bound: the number that is enough
    ChildProcess program({"/bin/sh", "-c", "exec prlimit --nproc=" + std::to_string(limit) + " " + as_user + server},
                         {.joins_errors = true});
    const std::string said = program.read_line().value_or("");
    if (said.starts_with("IOR:")) {
      CHECK(limit > 1);
      ::kill(program.pid(), SIGTERM);
      return;
    }
    INFO("limit " << limit);
    CHECK_THAT(said, Catch::Contains("server: NO_RESOURCES") && Catch::Contains("raise ulimit -u (RLIMIT_NPROC"));
    CHECK(program.wait()->text() == "exit status 1");
  }
}

TEST_CASE("a server whose reference cannot be written ends and says so") {
  const std::string nowhere = GENERATE(as<std::string>{}, " >&-", " >/dev/full");
  ChildProcess program({"/bin/sh", "-c",
                        "exec 2>&1; exec " + program_beside("corelane-quickstart-server") +
                            " -ORBRuntimeLedger off -ORBLogLevel off" + nowhere},
                       {.joins_errors = true});
  CHECK(program.read_all().value() == "server: standard output did not take the reference\n");
  CHECK(program.wait()->text() == "exit status 1");
}

TEST_CASE("a server that is told to stop ends orderly and leaves its trace") {
  const int signal = GENERATE(SIGTERM, SIGINT);
  TempDirectory directory;
  ChildProcess server({program_beside("corelane-quickstart-server"), "-ORBRuntimeLedger", "off", "-ORBPoolRealTime",
                       "off", "-ORBRecorderDumpAtExit", "on", "-ORBRecorderDirectory", directory.path()});
  REQUIRE(server.read_line());
  ::kill(server.pid(), signal);
  CHECK(server.wait()->text() == "exit status 0");
  CHECK(directory.entries() == 1);
}

TEST_CASE("a misspelt interface of a contracts file is told while the server runs") {
  const TempDirectory directory;
  std::ofstream(directory / "c.toml") << "[\"IDL:Plant/Controler:1.0\".step]\nbudget = \"900us\"\n";
  ChildProcess server({program_beside("corelane-quickstart-server"), "-ORBRuntimeLedger", "off", "-ORBPoolRealTime",
                       "off", "-ORBContractsFile", directory / "c.toml"},
                      {.joins_errors = true});
  std::string line;
  do line = server.read_line().value_or("the server has ended");  // bound: the server's output
  while (line.find("Controler") == line.npos && line.find("ended") == line.npos);
  CHECK_THAT(line,
             Catch::EndsWith("c.toml:1:1: no object of IDL:Plant/Controler:1.0 was activated so far: its contracts "
                             "are not used; is IDL:Plant/Controller:1.0 meant?"));
  ::kill(server.pid(), SIGTERM);
  CHECK(server.wait()->text() == "exit status 0");
}

TEST_CASE("a resource of a contracts file that the server never made is told while it runs") {
  const TempDirectory directory;
  std::ofstream(directory / "c.toml") << "[\"IDL:Plant/Controller:1.0\".step]\nuses = { bus = \"10us\" }\n";
  ChildProcess server({program_beside("corelane-quickstart-server"), "-ORBRuntimeLedger", "off", "-ORBPoolRealTime",
                       "off", "-ORBContractsFile", directory / "c.toml"},
                      {.joins_errors = true});
  std::string line;
  do line = server.read_line().value_or("the server has ended");  // bound: the server's output
  while (line.find("step uses ") == line.npos && line.find("ended") == line.npos);
  CHECK_THAT(line, Catch::Contains("warning: ") &&
                       Catch::EndsWith("c.toml:2:10: IDL:Plant/Controller:1.0 step uses bus, but no "
                                       "corelane::rt::Resource of that name was made so far: unless one comes, what it "
                                       "locks is not in its contract; none was made at all"));
  ::kill(server.pid(), SIGTERM);
  CHECK(server.wait()->text() == "exit status 0");
}

TEST_CASE("a server without the log says nothing on standard error") {
  ChildProcess server({program_beside("corelane-quickstart-server"), "-ORBRuntimeLedger", "off", "-ORBPoolRealTime",
                       "off", "-ORBLogLevel", "off"},
                      {.joins_errors = true});
  REQUIRE(server.read_line().value_or("").starts_with("IOR:"));
  ::kill(server.pid(), SIGTERM);
  CHECK(server.read_all().value() == "");
}

TEST_CASE("the quickstart's client is admitted and gets its answer") {
  ChildProcess server(
      {program_beside("corelane-quickstart-server"), "-ORBRuntimeLedger", "off", "-ORBPoolRealTime", "off"});
  const std::string reference = server.read_line().value_or("");
  REQUIRE(reference.substr(0, 4) == "IOR:");
  ChildProcess client({program_beside("corelane-quickstart-client"), reference});
  CHECK(client.read_line() == "-2");
}
