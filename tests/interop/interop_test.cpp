// Tests calls between Corelane and omniORB in both directions: all types of the compiler, exceptions, oneways,
// references and locating. Each test starts its own server, and reads its reference from a pipe. Every program ends
// with the test.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "orb/giop/code_sets.h"
#include "orb/giop/headers.h"
#include "orb/giop/ior.h"
#include "orb/os/process/child_process.h"
#include "orb/rt/rt.h"
#include "tests/interop/echo_checks.h"
#include "tests/interop/value_checks.h"
#include "tests/support/bytes/wire.h"
#include "tests/support/peers/bare_wire.h"
#include "tests/support/system/temp_directory.h"

using namespace interop;
using corelane::os::ChildProcess;
using corelane::os::program_beside;
using corelane::test::wire;

namespace {

// Returns whether omniORB is missing, and reports it.
bool skipped() {
  if (CORELANE_OMNIORB) return false;
  WARN("SKIPPED: omniORB and omniidl were not there when this was configured");
  return true;
}

std::vector<std::string> omni_server() {
  return {program_beside("corelane-interop-omni-server"), "-ORBendPoint", "giop:tcp:127.0.0.1:"};
}
std::vector<std::string> corelane_server() {
  return {program_beside("corelane-interop-server"), "-ORBRuntimeLedger", "off"};
}

// A Corelane client of a server in another program.
class Client {
 public:
  explicit Client(const std::vector<std::string>& server)
      : server_(server), ior(server_.read_line().value()), exchange_ior(server_.read_line().value()) {
    char name[] = "interop";
    char ledger[] = "-ORBRuntimeLedger";
    char off[] = "off";  // so that promises of other programs on this host do not matter
    char* arguments[] = {name, ledger, off, nullptr};
    int count = 3;
    orb = CORBA::ORB_init(count, arguments);
    poa = IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
    poa->the_POAManager()->activate();
  }
  ~Client() { orb->destroy(); }

  ExchangeRef exchange() {
    register_factories(orb);
    return IDL::traits<InteropValues::Exchange>::narrow(orb->string_to_object(exchange_ior));
  }
  EchoReference echo() { return IDL::traits<Interop::Echo>::narrow(orb->string_to_object(ior)); }

 private:
  ChildProcess server_;

 public:
  const std::string ior, exchange_ior;
  CORBA::object_reference<CORBA::ORB> orb;
  CORBA::object_reference<PortableServer::POA> poa;
};

// Runs one check of the omniORB client against a Corelane server.
void check_with_omni_client(const std::string& check, const std::vector<std::string>& options = {}) {
  ChildProcess server(corelane_server());
  const std::string echo = server.read_line().value(), exchange = server.read_line().value();
  const bool is_of_values = check.starts_with("value") || check.starts_with("abstract");
  const std::string& ior = is_of_values ? exchange : echo;
  // The client has a time limit, so it does not outlive a test that was stopped.
  std::vector<std::string> command = {program_beside("corelane-interop-omni-client"), ior, check,
                                      "-ORBclientCallTimeOutPeriod", "60000"};
  command.insert(command.end(), options.begin(), options.end());
  ChildProcess client(command);
  CHECK(client.wait()->text() == "exit status 0");
  server.end_input();
  CHECK(server.wait()->text() == "exit status 0");
}

corelane::giop::IiopProfile profile_of(const std::string& ior) {
  const auto parsed = corelane::giop::parse_ior(ior);
  REQUIRE(parsed);
  REQUIRE_FALSE(parsed->profiles.empty());
  const auto profile = corelane::giop::parse_iiop(parsed->profiles.front());
  REQUIRE(profile);
  return *profile;
}

std::string corbaloc_of(const std::string& ior) {
  const auto profile = profile_of(ior);
  std::string text = "corbaloc:iiop:1.2@" + profile.address.host + ":" + std::to_string(profile.address.port) + "/";
  for (const std::byte byte : profile.object_key) {
    char escaped[4];
    std::snprintf(escaped, sizeof escaped, "%%%02x", std::to_integer<unsigned>(byte));
    text += escaped;
  }
  return text;
}

// Sends bytes to a server and receives its answer, without an ORB.
class RawClient {
 public:
  explicit RawClient(const corelane::giop::IiopAddress& address) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(address.port);
    REQUIRE(::inet_pton(AF_INET, address.host.c_str(), &name.sin_addr) == 1);
    REQUIRE(::connect(socket_, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
  }
  ~RawClient() { ::close(socket_); }

  void send(const std::vector<std::byte>& bytes) {
    REQUIRE(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
  }
  // Returns one GIOP message, header and body.
  std::vector<std::byte> receive() {
    std::vector<std::byte> message(12);
    read_to(message, 0);
    const bool little = (message[6] & std::byte{1}) != std::byte{0};
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i)
      size |= std::to_integer<std::size_t>(message[little ? 8 + i : 11 - i]) << (8 * i);
    message.resize(12 + size);
    read_to(message, 12);
    return message;
  }

 private:
  void read_to(std::vector<std::byte>& message, std::size_t from) {
    while (from < message.size()) {  // bound: the message's size
      const ssize_t count = ::recv(socket_, message.data() + from, message.size() - from, 0);
      REQUIRE(count > 0);
      from += static_cast<std::size_t>(count);
    }
  }

  int socket_;
};

void append_big(std::vector<std::byte>& out, std::size_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::byte>(value >> shift));
}

// Returns swap_long(1, 2) as an ORB on a big-endian machine sends it with GIOP 1.2.
std::vector<std::byte> big_endian_request(const std::vector<std::byte>& key) {
  std::vector<std::byte> body = wire("00000005 03 000000 0000 0000");  // id, reply wanted, KeyAddr
  append_big(body, key.size());
  body.insert(body.end(), key.begin(), key.end());
  while (body.size() % 4 != 0) body.push_back(std::byte{0});
  for (const std::byte byte : wire("0000000a 'swap_long' 00")) body.push_back(byte);
  while (body.size() % 4 != 0) body.push_back(std::byte{0});
  append_big(body, 0);  // service contexts
  while ((body.size() + 12) % 8 != 0) body.push_back(std::byte{0});
  append_big(body, 1);
  append_big(body, 2);
  std::vector<std::byte> message = wire("'GIOP' 0102 00 00");
  append_big(message, body.size());
  message.insert(message.end(), body.begin(), body.end());
  return message;
}

// Returns the three longs at the end of a reply, in either byte order.
std::vector<int> last_longs(const std::vector<std::byte>& reply) {
  const bool little = (reply[6] & std::byte{1}) != std::byte{0};
  std::vector<int> out;
  for (std::size_t at = reply.size() - 12; at < reply.size(); at += 4)
    out.push_back(std::to_integer<int>(reply[little ? at : at + 3]));
  return out;
}

}  // namespace

// A Corelane client of an omniORB server.

TEST_CASE("omniORB server: numbers and enumerators pass in all three directions") {
  if (skipped()) return;
  Client client(omni_server());
  check_numbers(client.echo());
}

TEST_CASE("omniORB server: strings pass in all three directions") {
  if (skipped()) return;
  Client client(omni_server());
  check_strings(client.echo());
}

TEST_CASE("omniORB server: structures pass in all three directions") {
  if (skipped()) return;
  Client client(omni_server());
  check_structures(client.echo());
}

TEST_CASE("omniORB server: sequences pass in all three directions") {
  if (skipped()) return;
  Client client(omni_server());
  check_sequences(client.echo());
}

TEST_CASE("omniORB server: arrays, unions, wide text, fixed point, TypeCodes and Anys pass") {
  if (skipped()) return;
  Client client(omni_server());
  check_kinds(client.echo());
  check_anys(client.echo());
}

TEST_CASE("omniORB server: large arguments and fragmented results pass") {
  if (skipped()) return;
  Client client(omni_server());
  check_large(client.echo());
}

TEST_CASE("omniORB server: is called over its Unix socket where it has no other") {
  if (skipped()) return;
  const corelane::testing::TempDirectory directory;
  Client client(
      {program_beside("corelane-interop-omni-server"), "-ORBendPoint", "giop:unix:" + directory / "echo.sock"});
  CHECK(profile_of(client.ior).address.port == 0);
  check_numbers(client.echo());
  check_strings(client.echo());
}

TEST_CASE("omniORB server: references pass in every position") {
  if (skipped()) return;
  Client client(omni_server());
  check_references(client.echo());
}

TEST_CASE("omniORB server: inherited operations and attributes work through any base") {
  if (skipped()) return;
  Client client(omni_server());
  check_inheritance(client.echo());
}

TEST_CASE("omniORB server: calls back a Corelane object that it was given") {
  if (skipped()) return;
  Client client(omni_server());
  check_callbacks(client.echo(), client.poa);
}

TEST_CASE("omniORB server: user exceptions arrive with their members") {
  if (skipped()) return;
  Client client(omni_server());
  check_user_exceptions(client.echo());
}

TEST_CASE("omniORB server: system exceptions arrive with minor code and completion status") {
  if (skipped()) return;
  Client client(omni_server());
  check_system_exceptions(client.echo());
}

TEST_CASE("omniORB server: oneway calls arrive in order") {
  if (skipped()) return;
  Client client(omni_server());
  check_oneways(client.echo());
}

TEST_CASE("omniORB server: is reached by corbaloc") {
  if (skipped()) return;
  Client client(omni_server());
  const auto echo = IDL::traits<Interop::Echo>::narrow(client.orb->string_to_object(corbaloc_of(client.ior)));
  REQUIRE(echo);
  check_numbers(echo);
}

TEST_CASE("omniORB server: speaks GIOP 1.0 and 1.1 with us where it has no newer") {
  if (skipped()) return;
  const std::string version = GENERATE(as<std::string>{}, "1.0", "1.1");
  auto command = omni_server();
  command.insert(command.end(), {"-ORBmaxGIOPVersion", version});
  Client client(command);
  check_numbers(client.echo());
  check_structures(client.echo());
  check_user_exceptions(client.echo());
}

TEST_CASE("omniORB server: text above 0x7f arrives as the same characters, and single characters do") {
  if (skipped()) return;
  Client client(omni_server());  // its own code set is ISO 8859-1
  check_latin_text(client.echo(), "e9ff");
  check_latin_chars(client.echo());
  CHECK_THROWS_AS(client.echo()->spell(euro_text), CORBA::DATA_CONVERSION);
  CHECK(client.echo()->spell("plain") == "706c61696e");
}

TEST_CASE("omniORB server: by corbaloc text is ISO 8859-1") {
  if (skipped()) return;
  Client client(omni_server());
  const auto echo = IDL::traits<Interop::Echo>::narrow(client.orb->string_to_object(corbaloc_of(client.ior)));
  check_latin_text(echo, "e9ff");
  check_latin_chars(echo);
  CHECK_THROWS_AS(echo->spell(euro_text), CORBA::DATA_CONVERSION);
  CHECK_THROWS_AS(send_wide_text(echo), CORBA::INV_OBJREF);
}

TEST_CASE("omniORB server: one of UTF-8 gets every character") {
  if (skipped()) return;
  auto command = omni_server();
  command.insert(command.end(), {"-ORBnativeCharCodeSet", "UTF-8"});
  Client client(command);
  check_latin_text(client.echo(), "c3a9c3bf");
  CHECK(client.echo()->spell(euro_text) == "e282ac");
  check_swap<std::string>(client.echo(), &Interop::Echo::swap_string, euro_text, latin_text + euro_text);
  CHECK_THROWS_AS(client.echo()->spell("\xe9"), CORBA::DATA_CONVERSION);
}

TEST_CASE("Corelane server: text above 0x7f arrives as the same characters, by corbaloc too") {
  Client client(corelane_server());
  check_latin_text(client.echo(), "c3a9c3bf");
  check_latin_chars(client.echo());
  CHECK(client.echo()->spell(euro_text) == "e282ac");
  const std::string& ior = client.ior;
  // The reference belongs to a separate ORB, so that no other reference has named code sets on the connection.
  char name[] = "interop-corbaloc", ledger[] = "-ORBRuntimeLedger", off[] = "off";
  char* arguments[] = {name, ledger, off, nullptr};
  int count = 3;
  const auto other = CORBA::ORB_init(count, arguments, "corbaloc");
  const auto echo = IDL::traits<Interop::Echo>::narrow(other->string_to_object(corbaloc_of(ior)));
  check_latin_text(echo, "c3a9c3bf");
  CHECK(echo->spell(euro_text) == "e282ac");
  CHECK(send_wide_text(echo) == 4);
  check_kinds(echo);
  other->destroy();
}

TEST_CASE("wide text from a client that has named no code set for it is BAD_PARAM, and else what it is") {
  const bool with_omniorb = GENERATE(false, true);
  if (with_omniorb && skipped()) return;
  ChildProcess server(with_omniorb ? omni_server() : corelane_server());
  const auto profile = profile_of(server.read_line().value());
  namespace giop = corelane::giop;
  corelane::testing::Wires wires;
  corelane::testing::Wire wire(wires, {profile.address.host, profile.address.port});
  const auto chosen = giop::encode_code_sets({giop::code_set::utf_8, giop::code_set::utf_16});
  const giop::ServiceContext names[] = {{giop::context::code_sets, chosen}};
  corelane::cdr::Writer writer;
  for (const bool is_named : {false, true, true}) {
    corelane::testing::begin_request(
        writer, 1, profile.object_key, "length_of", giop::giop_1_2, corelane::native_order,
        is_named ? std::span<const giop::ServiceContext>(names) : std::span<const giop::ServiceContext>());
    encode(writer, std::wstring(L"wide"));
    REQUIRE(wire.send(writer));
    const auto message = wire.next();
    REQUIRE(message);
    auto reply = giop::parse_reply(*message, {});
    REQUIRE(reply);
    if (is_named) {
      std::uint32_t length = 0;
      REQUIRE(reply->header.status == giop::ReplyStatus::no_exception);
      REQUIRE(reply->body.read(length));
      CHECK(length == 4);
    } else {
      REQUIRE(reply->header.status == giop::ReplyStatus::system_exception);
      const auto error = giop::decode_system_exception(reply->body);
      CHECK(error->kind == corelane::ErrorKind::bad_param);
      CHECK(error->minor == (corelane::minor::omg | 23));
    }
  }
}

// An omniORB client of a Corelane server. When it narrows, it sends a LocateRequest first.

TEST_CASE("omniORB client: every check of interop.idl holds against a Corelane server") {
  if (skipped()) return;
  const std::string check = GENERATE(as<std::string>{}, "numbers", "strings", "structures", "sequences", "references",
                                     "inheritance", "callbacks", "user_exceptions", "system_exceptions", "oneways");
  CAPTURE(check);
  check_with_omni_client(check);
}

TEST_CASE("omniORB client: arrays, unions, wide text, fixed point, TypeCodes and Anys pass") {
  if (skipped()) return;
  check_with_omni_client("kinds");
}

TEST_CASE("omniORB client: fragmented requests and large replies pass") {
  if (skipped()) return;
  check_with_omni_client("large");
}

TEST_CASE("omniORB client: GIOP 1.0 and 1.1 calls are answered in their version") {
  if (skipped()) return;
  const std::string version = GENERATE(as<std::string>{}, "1.0", "1.1");
  for (const std::string check : {"numbers", "structures", "user_exceptions", "references"})
    check_with_omni_client(check, {"-ORBmaxGIOPVersion", version});
}

TEST_CASE("omniORB client: reaches a Corelane object by corbaloc") {
  if (skipped()) return;
  ChildProcess server(corelane_server());
  ChildProcess client({program_beside("corelane-interop-omni-client"), corbaloc_of(server.read_line().value()),
                       "numbers", "-ORBclientCallTimeOutPeriod", "60000"});
  CHECK(client.wait()->text() == "exit status 0");
}

TEST_CASE("omniORB client: text above 0x7f arrives as the same characters") {
  if (skipped()) return;
  check_with_omni_client("latin text");
  check_with_omni_client("every text", {"-ORBnativeCharCodeSet", "UTF-8"});
  for (const std::string version : {"1.0", "1.1"})
    check_with_omni_client("latin text", {"-ORBmaxGIOPVersion", version});
}

TEST_CASE("omniORB client: by corbaloc text and single characters are ISO 8859-1") {
  if (skipped()) return;
  for (const std::string check : {"latin text", "latin chars"}) {
    ChildProcess server(corelane_server());
    ChildProcess client({program_beside("corelane-interop-omni-client"), corbaloc_of(server.read_line().value()), check,
                         "-ORBclientCallTimeOutPeriod", "60000"});
    CHECK(client.wait()->text() == "exit status 0");
  }
}

// omniORB chooses UTF-8, because our server offers it and omniORB can convert it. UTF-8 has no single byte for such a
// character, so omniORB refuses it before it sends. docs/wire.md says what to do.
TEST_CASE("omniORB client: a single character above 0x7f is refused by omniORB itself") {
  if (skipped()) return;
  check_with_omni_client("refused char");
}

// omniORB's tools, and messages in the other byte order.

TEST_CASE("omniORB catior reads the reference of a Corelane object") {
  if (skipped()) return;
  ChildProcess server(corelane_server());
  ChildProcess catior({"catior", server.read_line().value()});
  const std::string text = catior.read_all().value();
  CHECK_THAT(text, Catch::Contains("IDL:Interop/Echo:1.0"));
  CHECK_THAT(text, Catch::Contains("IIOP 1.2 127.0.0.1"));
}

TEST_CASE("omniORB and Corelane answer the same recorded big-endian request alike") {
  if (skipped()) return;
  ChildProcess server(GENERATE(0, 1) == 0 ? omni_server() : corelane_server());
  const auto profile = profile_of(server.read_line().value());
  RawClient client(profile.address);
  client.send(big_endian_request(profile.object_key));
  const std::vector<std::byte> reply = client.receive();
  CHECK(reply[7] == std::byte{1});  // Reply
  CHECK(last_longs(reply) == std::vector<int>{1, 1, 2});
}

TEST_CASE("a server of omniORB admits no tasks and the client is told that it is another ORB") {
  if (skipped()) return;
  Client client(omni_server());
  try {
    (void)corelane::rt::admit(client.echo(), {.operation = "ping",
                                              .contract = corelane::make_contract(corelane::Duration{10'000'000},
                                                                                  corelane::Duration{1'000'000})});
    FAIL("it was admitted");
  } catch (const CORBA::BAD_OPERATION& refused) {
    CHECK_THAT(std::string(refused.detail()), Catch::Contains("another ORB's and admits no tasks"));
  }
}

// Value types and abstract interfaces.

namespace {

void check_values(Client client) {
  check_sharing(client.exchange());
  check_circles(client.exchange());
  check_truncation(client.exchange());
  check_boxes(client.exchange());
  check_values_in_anys(client.exchange());
  check_abstract(client.exchange(), client.poa);
}

}  // namespace

TEST_CASE("Corelane server: values and abstract interfaces pass") { check_values(Client(corelane_server())); }

TEST_CASE("omniORB server: values and abstract interfaces pass") {
  if (skipped()) return;
  check_values(Client(omni_server()));
}

TEST_CASE("omniORB client: values and abstract interfaces pass") {
  if (skipped()) return;
  const std::string check = GENERATE("value sharing", "value circles", "value truncation", "value boxes", "value anys",
                                     "abstract interfaces");
  INFO(check);
  check_with_omni_client(check);
}
