// Clients run as other users, or see other processes, networks or files than the server. A client that can have a
// channel gets one. Any other client reports why not, and uses a socket.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "orb/os/process/child_process.h"
#include "tests/support/system/temp_directory.h"

namespace channel_surroundings_test {

using namespace corelane;
using namespace corelane::testing;

namespace {

using Words = std::vector<std::string>;

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

struct Told {
  int code = 0;
  std::string text;  // of both output streams
};

Told told_by(const Words& command) {
  os::ChildProcess process(command, {.joins_errors = true});
  const std::string text = process.read_all().value_or("");
  return {process.wait().value().code, text};
}

// A server at all kinds of endpoints, and a copy of the program `corelane` that every user may read and run.
struct Town {
  const TempDirectory directory{};
  const std::string program = directory / "corelane";
  os::ChildProcess server;
  std::string reference;

  explicit Town(const Words& options = {})
      : server(Words{os::program_beside("corelane-quickstart-server"), "-ORBRuntimeLedger", "off", "-ORBPoolRealTime",
                     "off", "-ORBLogLevel", "off", "-ORBEndpointListen",
                     "127.0.0.1:0, unix:" + directory / "socket" + ", channel:" + directory / "channel"} +
               options) {
    std::filesystem::copy_file(os::program_beside("corelane"), program);
    chmod(directory.path().c_str(), 0755);
    chmod(program.c_str(), 0755);
    reference = server.read_line().value_or("");
  }
  // The log says why there is no channel.
  Told ping(const Words& around) const {
    return told_by(around + Words{program, "ping", "--calls", "3", reference, "-ORBLogLevel", "debug"});
  }
};

const Words as_nobody{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"};

Words in_other(const Words& namespaces) { return Words{"unshare"} + namespaces + Words{"--fork", "--"}; }

bool may(const Words& around) {
  const bool yes = told_by(around + Words{"true"}).code == 0;
  if (!yes) std::cout << "SKIPPED: this system does not let this user run " << around[0] << " " << around[1] << "\n";
  return yes;
}

struct Case {
  Words around;
  int code;
  Words says;
};

}  // namespace

TEST_CASE(
    "a client in other namespaces has a channel wherever it sees the server's files and else takes TCP or says why "
    "not") {
  const auto [around, code, says] = GENERATE(values<Case>({
      {{"--pid"}, 0, {"calls over channel:"}},
      {{"--net"}, 0, {"calls over channel:"}},
      {{"--pid", "--net", "--ipc"}, 0, {"calls over channel:"}},
      {{"--mount"}, 0, {"calls over TCP", "the server is on this host and sees other files"}},
      {{"--pid", "--mount"}, 0, {"calls over TCP", "the server is on this host and sees other files"}},
      {{"--pid", "--mount", "--net"},
       1,
       {"cannot connect to 127.0.0.1:", "sees other files (another mount namespace)", "is its address reachable?"}},
  }));
  if (!may(in_other(around))) return;
  const Town town;
  const Told told = town.ping(in_other(around));
  INFO(told.text);
  CHECK(told.code == code);
  for (const std::string& words : says) CHECK(told.text.find(words) != std::string::npos);
}

TEST_CASE("a client of another user is told why it has no channel and takes a socket") {
  if (!may(as_nobody)) return;
  const auto [mode, socket] = GENERATE(table<std::string, std::string>({{"0600", "TCP"}, {"0666", "unix:"}}));
  const Town town({"-ORBEndpointUnixMode", mode, "-ORBChannelAllow", GENERATE(as<std::string>{}, "", "1")});
  const Told told = town.ping(as_nobody);
  INFO(told.text);
  CHECK(told.code == 0);
  CHECK(told.text.find("no channel to " + town.directory / "channel") != std::string::npos);
  CHECK(told.text.find("channel.allow") != std::string::npos);
  CHECK(told.text.find("calls over " + socket) != std::string::npos);
}

TEST_CASE("a client of another user that the access list names gets a channel") {
  if (!may(as_nobody)) return;
  const Town town({"-ORBChannelAllow", GENERATE(as<std::string>{}, "65534", "@65534", "anyone")});
  const Told told = town.ping(as_nobody);
  INFO(told.text);
  CHECK(told.code == 0);
  CHECK(told.text.find("calls over channel:" + town.directory / "channel") != std::string::npos);
}

}  // namespace channel_surroundings_test
