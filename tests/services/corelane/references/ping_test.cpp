#include "services/corelane/references/ping.h"

#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "orb/os/clock.h"
#include "orb/os/process/child_process.h"
#include "orb/os/socket_path.h"
#include "services/corelane/references/calling_orb.h"
#include "tests/support/peers/stop_process.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;
using tool::PingOptions;

namespace {

struct PingOutcome {
  int status;
  std::string out, err;
};

PingOutcome ping(const PingOptions& options) {
  std::ostringstream out, err;
  const int status = tool::ping(options, out, err);
  return {status, out.str(), err.str()};
}

}  // namespace

TEST_CASE("ping says which transport it took and why and how long calls took") {
  const TempDirectory directory;
  const std::string socket = "unix:" + (directory / "s"), channel = "channel:" + (directory / "c");
  const int way = GENERATE(0, 1, 2);
  const std::string listen = way == 0 ? "127.0.0.1:0" : way == 1 ? socket : socket + ", " + channel;
  const std::string here = ": the server is on this host";
  const std::string words = way == 0   ? "calls over TCP to 127.0.0.1:"
                            : way == 1 ? "calls over " + socket + here
                                       : "calls over " + channel + here;
  ProbeServer server({"-ORBEndpointListen", listen});
  const PingOutcome outcome = ping({.reference = server.ior(), .calls = 20});
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.out, Catch::Contains(words) && Catch::Contains("20 calls:") && Catch::Contains("p99.9 "));
  CHECK(outcome.err.empty());
}

TEST_CASE("a command whose ORB may not be ended where it stands ends all the same") {
  struct Commanding : ProbeServant {
    void ping() override { const tool::CallingOrb inside_request("commanding", {}); }
  };
  ProbeServer server;
  const auto servant = CORBA::make_reference<Commanding>();
  const auto object = server.orb.root()->servant_to_reference(servant);
  TestOrb client;
  CHECK_NOTHROW(probe_of(client, server.orb->object_to_string(object))->ping());
  const tool::CallingOrb outside("commanding", {});
}

TEST_CASE("ping gives programs its way in words of their own and its figures in nanoseconds") {
  const TempDirectory directory;
  const auto [transport, kind] =
      GENERATE(table<std::string, std::string>({{"tcp", "127.0.0.1:0"}, {"unix", "unix:"}, {"channel", "channel:"}}));
  ProbeServer server({"-ORBEndpointListen", transport == "tcp" ? kind : kind + directory / "s"});
  const PingOutcome outcome = ping({.reference = server.ior(), .calls = 5, .format = tool::Format::json});
  const auto json = nlohmann::json::parse(outcome.out);
  CHECK(json["transport"] == transport);
  CHECK(json["endpoint"] == to_string(server.orb->endpoints().front()));
  CHECK(json["why"] == (transport == "tcp"    ? "the reference names no Unix socket and no channel"
                        : transport == "unix" ? "the server is on this host, and the reference names no channel"
                                              : "the server is on this host"));
  CHECK(json["type"] == "IDL:Probing/Probe:1.0");
  CHECK(json["calls"] == 5);
  CHECK(json["p50_ns"] <= json["max_ns"]);
  CHECK(json["p50_ns"] > 0);
}

TEST_CASE("ping names a server that is stopped, and what lets it go on, without a wait") {
  const TempDirectory place;
  const std::string socket = place / "s";
  os::ChildProcess server({os::program_beside("corelane-nameserver"), "-ORBRuntimeDirectory", place.path(),
                           "-ORBNamingStore", "memory", "-ORBNamingSocket", socket, "-ORBEndpointListen",
                           "unix:" + socket, "-ORBLogLevel", "off"});
  REQUIRE(server.read_line(os::now() + std::chrono::minutes{1}));
  const std::string pid = std::to_string(server.pid());
  REQUIRE(stop_process(server.pid()));
  const PingOutcome outcome = ping({.reference = "corbaloc::/NameService",
                                    .calls = 1,
                                    .options = {"-ORBNamingSocket", socket, "-ORBTimeoutRequest", "0s"}});
  CHECK(outcome.status == 1);
  CHECK(outcome.err == "corelane ping: process " + pid + " listens at " + socket + ", but it is stopped: kill -CONT " +
                           pid + " lets it go on\n");
  REQUIRE(::kill(server.pid(), SIGCONT) == 0);
}

TEST_CASE("ping does not send its user to ping") {
  const Quiet quiet;
  const TempDirectory place;
  auto path = os::SocketPath::claim(place / "mute.sock");
  REQUIRE(path);
  const auto mute = path->listen(0600);
  REQUIRE(mute);
  const PingOutcome outcome = ping({.reference = "corbaloc::/NameService",
                                    .calls = 1,
                                    .options = {"-ORBNamingSocket", path->path(), "-ORBTimeoutRequest", "20ms"}});
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.err, Catch::Contains("nothing has ever come from") && !Catch::Contains("tells whether") &&
                              Catch::EndsWith("; is the server stopped, or busy? --timeout waits longer\n"));
}

TEST_CASE("ping says that no server answers or that the object does not exist") {
  const Quiet quiet;
  std::string reference;
  {
    ProbeServer server;
    reference = server.ior();
    server.orb.root()->deactivate_object(server.orb.root()->servant_to_id(server.servant));
    const PingOutcome outcome = ping({.reference = reference, .calls = 1});
    CHECK(outcome.status == 1);
    CHECK_THAT(outcome.err, Catch::Contains("no such object"));
  }
  CHECK(ping({.reference = reference, .calls = 1}).status == 1);
  CHECK(ping({.reference = "nonsense", .calls = 1}).status == 1);
  const PingOutcome named = ping({.reference = "corbaname::127.0.0.1:1#x", .calls = 1});
  CHECK(named.status == 1);
  CHECK_THAT(named.err, Catch::Contains("; start corelane-nameserver where none runs; corelane ns status says "));
}
