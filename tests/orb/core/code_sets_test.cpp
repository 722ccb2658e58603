// Tests text beyond ASCII: a server with clients that use other code sets, and a client with servers that do.
#include "orb/giop/code_sets.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/minor.h"
#include "orb/core/client/reference.h"
#include "orb/giop/corbaloc.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/giop/headers.h"
#include "tests/support/peers/acceptor.h"
#include "tests/support/peers/bare_client.h"
#include "tests/support/peers/bare_server.h"
#include "tests/support/probe_servant.h"

namespace core_code_sets_test {

using namespace corelane;
using namespace corelane::testing;
using giop::CodeSetChoice;
namespace code_set = giop::code_set;

namespace {

// The letter e with an acute accent in both code sets, and a character that ISO 8859-1 lacks.
const std::string e_utf_8 = "caf\xc3\xa9", e_iso = "caf\xe9", euro = "\xe2\x82\xac 5";
constexpr std::uint32_t ebcdic = 0x10020025;

// A server, and a client of it that writes the bytes of its messages itself.
struct BareCalls : BareClient {
  Wire wire{wires, endpoint};
  std::uint32_t id = 0;

  giop::Parsed<giop::ReplyHeader> call(std::string_view operation, const std::optional<CodeSetChoice>& names,
                                       const std::optional<std::string>& argument,
                                       giop::Version version = giop::giop_1_2) {
    const auto bytes = giop::encode_code_sets(names.value_or(CodeSetChoice{}));
    const giop::ServiceContext contexts[] = {{giop::context::code_sets, bytes}};
    begin_request(writer, ++id, key, operation, version, native_order,
                  names ? std::span<const giop::ServiceContext>(contexts) : std::span<const giop::ServiceContext>());
    if (argument) writer.write_string(*argument);
    REQUIRE(wire.send(writer));
    message_ = wire.next();
    REQUIRE(message_);
    auto reply = giop::parse_reply(*message_, {});
    REQUIRE(reply);
    return *reply;
  }
  // Returns the answer of echo(), byte for byte.
  std::string echo(const std::optional<CodeSetChoice>& names, const std::string& text,
                   giop::Version version = giop::giop_1_2) {
    auto reply = call("echo", names, text, version);
    REQUIRE(reply.header.status == giop::ReplyStatus::no_exception);
    std::string_view back;
    REQUIRE(reply.body.read_string(back));
    return std::string(back);
  }
  Error failure(std::string_view operation, const std::optional<CodeSetChoice>& names,
                const std::optional<std::string>& argument) {
    auto reply = call(operation, names, argument);
    REQUIRE(reply.header.status == giop::ReplyStatus::system_exception);
    return *giop::decode_system_exception(reply.body);
  }
  // Returns the name as the servant stores it.
  std::string name() { return server.servant->name(); }
  void set_name(const std::optional<CodeSetChoice>& names, const std::string& text) {
    REQUIRE(call("_set_name", names, text).header.status == giop::ReplyStatus::no_exception);
  }

 private:
  std::optional<giop::Message> message_;
};

constexpr CodeSetChoice utf_8{code_set::utf_8, code_set::utf_16}, iso{code_set::iso_8859_1, code_set::none};

// What a fake server received in one request.
struct Received {
  std::optional<CodeSetChoice> names;
  std::string text;
};

// Answers one call of echo() with the given bytes.
Received answer_echo(Wire& wire, const std::string& with) {
  const auto message = wire.next();
  REQUIRE(message);
  auto request = giop::parse_request(*message, {});
  REQUIRE(request);
  Received received;
  if (const auto context = request->header.contexts.find(giop::context::code_sets))
    received.names = *giop::decode_code_sets(*context);
  std::string_view text;
  REQUIRE(request->body.read_string(text));
  received.text = text;
  cdr::Writer writer;
  begin_reply_to(*message, writer);
  writer.write_string(with);
  REQUIRE(wire.send(writer));
  return received;
}

// Returns a reference to a fake server that offers the given code sets.
giop::Ior reference_to(const Acceptor& acceptor, const giop::CodeSetInfo& sets) {
  const giop::IiopProfile profile{
      giop::giop_1_2, {"127.0.0.1", acceptor.endpoint().port}, {std::byte{'k'}}, {giop::make_code_sets(sets)}};
  return {.type_id = "", .profiles = {giop::make_profile(profile)}};
}

}  // namespace

TEST_CASE("a client that names no code set has its text taken as ISO 8859-1, in every version") {
  const auto version = GENERATE(giop::giop_1_0, giop::giop_1_1, giop::giop_1_2);
  BareCalls calls;
  CHECK(calls.echo(std::nullopt, e_iso, version) == e_iso);
  calls.set_name(std::nullopt, e_iso);
  CHECK(calls.name() == e_utf_8);
}

TEST_CASE("a client's code set holds for the requests of its connection and for no other's") {
  BareCalls calls;
  calls.set_name(utf_8, e_utf_8);
  CHECK(calls.name() == e_utf_8);
  CHECK(calls.echo(std::nullopt, euro) == euro);
  CHECK(calls.echo(iso, e_iso) == e_iso);
  calls.set_name(std::nullopt, e_iso);
  CHECK(calls.name() == e_utf_8);
  Wire other(calls.wires, calls.endpoint);
  calls.wire.close();
  std::swap(calls.wire, other);
  calls.echo(utf_8, euro);
  CHECK(calls.echo(std::nullopt, e_utf_8) == e_utf_8);
}

TEST_CASE("text that the client's code set lacks is DATA_CONVERSION, and the operation ran") {
  BareCalls calls;
  calls.server.servant->name(euro);
  CHECK(calls.failure("_get_name", iso, std::nullopt) ==
        Error{ErrorKind::data_conversion, Completion::yes, minor::omg | 1});
  calls.server.servant->name(e_iso);  // the servant itself sets invalid text
  CHECK(calls.failure("_get_name", utf_8, std::nullopt) ==
        Error{ErrorKind::data_conversion, Completion::yes, minor::not_utf_8});
  CHECK(calls.echo(utf_8, euro) == euro);
}

TEST_CASE("bytes that are no UTF-8, and a code set that was not offered, never reach a servant") {
  BareCalls calls;
  CHECK(calls.failure("_set_name", utf_8, e_iso) ==
        Error{ErrorKind::data_conversion, Completion::no, minor::not_utf_8});
  for (const std::uint32_t set : {ebcdic, code_set::utf_16, code_set::none})
    CHECK(calls.failure("_set_name", CodeSetChoice{set, code_set::none}, "plain") ==
          Error{ErrorKind::codeset_incompatible, Completion::no, minor::omg | 2});
  CHECK(calls.name() == "probe");
  CHECK(calls.echo(std::nullopt, euro) == euro);  // the code sets that were named before still hold
}

TEST_CASE("two of us speak UTF-8, over every transport") {
  const std::string kind = GENERATE(as<std::string>{}, "127.0.0.1:0", "unix:", "channel:");
  ProbeServer server({"-ORBEndpointListen", kind});
  TestOrb client;
  const auto probe = probe_of(client, server.ior());
  for (const std::string& text : {e_utf_8, euro, std::string(100'000, 'x') + euro}) CHECK(probe->echo(text) == text);
  probe->name(euro);
  CHECK(server.servant->name() == euro);
  CHECK_THROWS_AS(probe->echo(e_iso), CORBA::DATA_CONVERSION);
  CHECK(probe->add(1, 2) == 3);
}

TEST_CASE("through a corbaloc address text is ISO 8859-1") {
  const std::string version = GENERATE("1.0", "1.1", "1.2");
  Acceptor acceptor;
  TestOrb client;
  const auto probe = unchecked_probe(client, acceptor.corbaloc(version));
  Received received;
  std::jthread server([&] {
    Wire wire = acceptor.next();
    received = answer_echo(wire, e_iso);
    (void)wire.next();
  });
  try {
    probe->echo(euro);
    FAIL("it was sent");
  } catch (const CORBA::DATA_CONVERSION& refusal) {
    CHECK(refusal.completed() == CORBA::COMPLETED_NO);
    CHECK_THAT(std::string(refusal.what()), Catch::Contains("ISO 8859-1"));
  }
  CHECK(probe->echo(e_utf_8) == e_utf_8);
  client->destroy();
  server.join();
  CHECK(received.text == e_iso);
  CHECK_FALSE(received.names);
}

TEST_CASE("through a corbaloc address one of us gets every character once it has answered") {
  const giop::Version version = GENERATE(giop::giop_1_0, giop::giop_1_1, giop::giop_1_2);
  ProbeServer server;
  const auto& address = *server.reference->_reference()->address();
  const std::string key(reinterpret_cast<const char*>(address.object_key.data()), address.object_key.size());
  const std::string corbaloc = giop::to_string(
      giop::Corbaloc{.addresses = {{version, {"127.0.0.1", server.orb->endpoints().front().port}}}, .object_key = key});
  TestOrb client;
  const auto first = unchecked_probe(client, corbaloc);
  // The request is not sent, so the server's code sets are still unknown.
  CHECK_THROWS_AS(first->echo(euro), CORBA::DATA_CONVERSION);
  CHECK(first->echo(e_utf_8) == e_utf_8);
  CHECK(first->echo(euro) == euro);
  const auto narrowed = probe_of(client, corbaloc);  // narrowing makes a call
  for (int i = 0; i < 2; ++i) CHECK(narrowed->echo(euro) == euro);
  narrowed->name(euro);
  CHECK(server.servant->name() == euro);
  std::string from_thread;
  std::thread([&] { from_thread = narrowed->echo(euro); }).join();  // over that thread's own connection
  CHECK(from_thread == euro);
}

TEST_CASE("a server says which ORB it is to those alone that ask, with results and exceptions") {
  const auto version = GENERATE(giop::giop_1_0, giop::giop_1_2);
  BareCalls calls;
  const auto orb = giop::encode_orb();
  const giop::ServiceContext asks[] = {{giop::context::orb, orb}};
  for (const bool is_asked : {false, true})
    for (const char* operation : {"ping", "_is_a", "no_such_operation"}) {
      begin_request(calls.writer, 7, calls.key, operation, version, native_order,
                    is_asked ? std::span<const giop::ServiceContext>(asks) : std::span<const giop::ServiceContext>());
      if (operation[1] == 'i') calls.writer.write_string(operation);
      REQUIRE(calls.wire.send(calls.writer));
      const auto message = calls.wire.next();
      REQUIRE(message);
      const auto reply = giop::parse_reply(*message, {});
      REQUIRE(reply);
      CHECK(reply->header.contexts.find(giop::context::orb).has_value() == is_asked);
    }
}

TEST_CASE("a server of ISO 8859-1 gets that, named until it has answered") {
  Acceptor acceptor;
  TestOrb client;
  const giop::CodeSetInfo latin{{code_set::iso_8859_1, {}}, {}};
  const auto probe = unchecked_probe(client, giop::to_string(reference_to(acceptor, latin)));
  std::vector<Received> received;
  std::jthread server([&] {
    Wire wire = acceptor.next();
    for (int i = 0; i < 2; ++i) received.push_back(answer_echo(wire, e_iso));
    (void)wire.next();
  });
  for (int i = 0; i < 2; ++i) CHECK(probe->echo(e_utf_8) == e_utf_8);
  CHECK_THROWS_AS(probe->echo(euro), CORBA::DATA_CONVERSION);
  client->destroy();
  server.join();
  REQUIRE(received.size() == 2);
  CHECK(received[0].names == iso);
  CHECK_FALSE(received[1].names);
  CHECK(received[0].text == e_iso);
  CHECK(received[1].text == e_iso);
}

TEST_CASE("a reference with code sets names them also after a corbaloc one used the connection") {
  ProbeServer server;
  TestOrb client;
  const auto& address = *server.reference->_reference()->address();
  const std::string key(reinterpret_cast<const char*>(address.object_key.data()), address.object_key.size());
  const std::string corbaloc = giop::to_string(giop::Corbaloc{
      .addresses = {{giop::giop_1_2, {"127.0.0.1", server.orb->endpoints().front().port}}}, .object_key = key});
  const auto bare = unchecked_probe(client, corbaloc);
  CHECK(bare->echo(e_utf_8) == e_utf_8);
  const auto whole = probe_of(client, server.ior());
  CHECK(whole->echo(euro) == euro);
  CHECK(bare->echo(e_utf_8) == e_utf_8);
  bare->name(e_utf_8);
  CHECK(server.servant->name() == e_utf_8);
}

TEST_CASE("arguments that were written for one server are right for the one that they are forwarded to") {
  const std::string version = GENERATE("1.0", "1.1", "1.2");
  ProbeServer server;
  Acceptor acceptor;
  TestOrb client;
  const auto probe = unchecked_probe(client, acceptor.corbaloc(version));
  std::jthread agent([&] {
    Wire wire = acceptor.next();
    const auto request = wire.next();
    REQUIRE(request);
    forward(wire, *request, server.reference->_reference()->ior());
  });
  probe->name(e_utf_8);
  agent.join();
  CHECK(server.servant->name() == e_utf_8);
  CHECK(probe->echo(euro) == euro);
}

TEST_CASE("a oneway call's text is in the code set of its connection") {
  BareCalls calls;
  giop::RequestHeader header{
      .request_id = 99, .response_flags = giop::response::none, .target = {}, .operation = "note", .contexts = {}};
  header.target.object_key = calls.key;
  giop::begin_request(calls.writer, header);
  calls.writer.write_string(e_iso);
  REQUIRE(calls.wire.send(calls.writer));
  while (calls.server.servant->notes().empty()) std::this_thread::yield();
  CHECK(calls.server.servant->notes().front() == e_utf_8);
}

}  // namespace core_code_sets_test
