// Tests vsock endpoints as text and in references, and listening. The suite of byte streams runs over vsock, too
// (conformance_test.cpp).
#include "orb/transport/vsock/vsock.h"

#include <catch2/catch.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "orb/base/minor.h"
#include "orb/transport/socket_transport.h"
#include "orb/transport/transport_kind.h"
#include "tests/support/stream_harness.h"
#include "tests/support/system/captured_errors.h"
#include "tests/support/system/vsock.h"

namespace vsock_test {

using namespace corelane;
using namespace corelane::testing;
using transport::Endpoint;
using transport::parse_endpoint;

namespace {

const transport::TransportKind& vsock() {
  const transport::TransportKind* const kind = find_named(transport::transport_kinds(), "vsock");
  REQUIRE(kind != nullptr);
  return *kind;
}

// Returns the endpoints that a process reads from the reference of a server at this endpoint.
std::vector<Endpoint> read_from(const std::string& endpoint, const transport::HostView& server,
                                const transport::HostView& client) {
  giop::IiopProfile profile;
  vsock().write(parse_endpoint(endpoint).value(), server, profile);
  transport::Reachable found;
  vsock().read(profile, client, found);
  return found.endpoints;
}

const transport::HostView machine{.boot_id = "b00t"}, other{.boot_id = "b001"}, unknown{};

}  // namespace

TEST_CASE("a vsock endpoint is a CID and a port") {
  const Endpoint endpoint = parse_endpoint("vsock:3:5000").value();
  CHECK(endpoint.kind == &vsock());
  CHECK(endpoint.host == "vsock:3");
  CHECK(endpoint.path == "5000");
  const auto address = transport::vsock_address(endpoint);
  REQUIRE(address);
  CHECK(address->cid == 3);
  CHECK(address->port == 5000);
  CHECK(transport::vsock_endpoint(*address) == endpoint);
}

TEST_CASE("a vsock endpoint is written as it is read") {
  const std::string text =
      GENERATE(as<std::string>{}, "vsock:", "vsock::5000", "vsock:1:0", "vsock:4294967294:4294967294");
  CHECK(to_string(parse_endpoint(text).value()) == text);
}

TEST_CASE("a machine reads the vsock endpoints of its host and of its guests from references") {
  CHECK(read_from("vsock:2:5000", machine, other) == std::vector{parse_endpoint("vsock:2:5000").value()});
  CHECK(read_from("vsock:3:5000", machine, unknown) == std::vector{parse_endpoint("vsock:3:5000").value()});
}

TEST_CASE("only a process of the server's machine uses its loopback") {
  CHECK(read_from("vsock:1:5000", machine, machine).size() == 1);
  CHECK(read_from("vsock:1:5000", machine, other).empty());
  CHECK(read_from("vsock:1:5000", unknown, unknown).empty());
}

TEST_CASE("a vsock connection is counted under its CID and reads and sends") {
  if (const auto why = why_no_vsock()) {
    std::cout << "SKIPPED: " << *why << "\n";
    return;
  }
  const auto reactor = std::move(*transport::Reactor::start());
  transport::SocketTransport sockets(*reactor);
  Mailbox<ConnectionPtr> accepted;
  auto listener = sockets.listen(parse_endpoint("vsock:1:0").value(), [&](ConnectionPtr made) { accepted.put(made); });
  REQUIRE(listener);
  CHECK((*listener)->endpoint().host == "vsock:1");
  CHECK_FALSE((*listener)->endpoint().path.empty());
  const auto caller = sockets.connect((*listener)->endpoint(), patience());
  REQUIRE(caller);
  const ConnectionPtr called = accepted.take();
  CHECK((*caller)->peer() == (*listener)->endpoint());
  CHECK(called->peer().host == "vsock:1");
  CHECK_FALSE(called->credentials());
  REQUIRE(send(*caller, "over vsock"));
  CHECK(read(called, 10) == "over vsock");
  (*listener)->stop();
  reactor->stop();
}

// Edges.

TEST_CASE("an endpoint whose CID is not known is not named in references") {
  giop::IiopProfile profile;
  for (const char* text : {"vsock:", "vsock::5000", "vsock:3:0"})
    vsock().write(parse_endpoint(text).value(), machine, profile);
  CHECK(profile.components.empty());
}

// Error paths.

TEST_CASE("a text that is no vsock endpoint is refused") {
  const std::string text = GENERATE(as<std::string>{}, "vsock:3", "vsock:3:", "vsock:x:1", "vsock:1:x", "vsock:1:2:3",
                                    "vsock:4294967295:1", "vsock:1:4294967295", "vsock:-1:1", "vsock: 1:1");
  CHECK_FALSE(parse_endpoint(text));
  const auto fault = transport::parse_endpoints(text);
  REQUIRE_FALSE(fault);
  CHECK_THAT(fault.error().text, Catch::Contains("such as vsock:2:5000"));
}

TEST_CASE("vsock connects only to a CID and a port") {
  const auto reactor = std::move(*transport::Reactor::start());
  transport::VsockTransport transport(*reactor);
  for (const Endpoint& endpoint :
       {parse_endpoint("vsock:").value(), parse_endpoint("vsock:2:0").value(), parse_endpoint("127.0.0.1:1").value(),
        Endpoint{.host = "3", .kind = &vsock(), .path = "1"}}) {
    const auto result = transport.connect(endpoint, patience());
    REQUIRE_FALSE(result);
    CHECK(result.error().minor == minor::bad_address);
  }
  reactor->stop();
}

TEST_CASE("each reason why vsock cannot listen has a remedy of its own") {
  using Catch::Contains;
  const auto remedy = [](std::uint32_t code) { return std::string(transport::listening_remedy(Error{.minor = code})); };
  CHECK_THAT(remedy(minor::address_in_use), Contains("taken") && Contains("ss -lp --vsock"));
  CHECK_THAT(remedy(minor::listen_denied), Contains("CAP_NET_BIND_SERVICE"));
  CHECK_THAT(remedy(minor::address_not_here), Contains("CID") && !Contains("kernel"));
  CHECK_THAT(remedy(minor::no_descriptor), Contains("ulimit -n"));
  CHECK_THAT(remedy(minor::bad_address), Contains("the kernel must have vsock"));
}

TEST_CASE("listening at the CID of another machine is refused") {
  const CapturedErrors log;
  const auto reactor = std::move(*transport::Reactor::start());
  transport::VsockTransport transport(*reactor);
  const auto result = transport.listen(parse_endpoint("vsock:4000000000:0").value(), [](ConnectionPtr) {});
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == ErrorKind::bad_param);
  CHECK_THAT(log.text(), Catch::Contains("cannot listen at vsock:4000000000:0: the CID must be that of this machine"));
  reactor->stop();
}

}  // namespace vsock_test
