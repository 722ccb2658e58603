// Generated stubs and skeletons: interop.idl between Corelane and Corelane, within one process and over TCP.
#include <catch2/catch.hpp>

#include "orb/cdr/codec.h"
#include "orb/os/process/child_process.h"
#include "tests/interop/echo_checks.h"

namespace roundtrip_test {

using namespace interop;
using corelane::ByteOrder;
using corelane::os::ChildProcess;
using corelane::os::program_beside;

namespace {

// An ORB, and a server of interop.idl: a servant in this process, or another program.
class Client {
 public:
  Client() {
    char name[] = "roundtrip";
    char ledger[] = "-ORBRuntimeLedger";
    char off[] = "off";  // ignores promises of other programs on this host
    char* arguments[] = {name, ledger, off, nullptr};
    int count = 3;
    orb_ = CORBA::ORB_init(count, arguments);
    poa = IDL::traits<PortableServer::POA>::narrow(orb_->resolve_initial_references("RootPOA"));
    poa->the_POAManager()->activate();
  }
  ~Client() { orb_->destroy(); }

  EchoReference collocated() {
    servant_ = CORBA::make_reference<EchoServant>();
    return IDL::traits<Interop::Echo>::narrow(poa->servant_to_reference(servant_));
  }
  EchoReference remote() {
    return IDL::traits<Interop::Echo>::narrow(orb_->string_to_object(server_.read_line().value()));
  }
  EchoReference of_kind(const std::string& kind) { return kind == "collocated" ? collocated() : remote(); }

  CORBA::object_reference<PortableServer::POA> poa;

 private:
  CORBA::object_reference<CORBA::ORB> orb_;
  CORBA::servant_reference<EchoServant> servant_;
  ChildProcess server_{{program_beside("corelane-interop-server"), "-ORBRuntimeLedger", "off"}};
};

std::string kind() { return GENERATE(as<std::string>{}, "collocated", "over TCP"); }

}  // namespace

TEST_CASE("numbers and enumerators pass in all three directions") {
  Client client;
  check_numbers(client.of_kind(kind()));
}

TEST_CASE("strings pass in all three directions") {
  Client client;
  check_strings(client.of_kind(kind()));
}

TEST_CASE("structures pass in all three directions") {
  Client client;
  check_structures(client.of_kind(kind()));
}

TEST_CASE("sequences pass in all three directions") {
  Client client;
  check_sequences(client.of_kind(kind()));
}

TEST_CASE("arrays, unions, wide text, fixed point, TypeCodes and Anys pass in all three directions") {
  Client client;
  const EchoReference echo = client.of_kind(kind());
  check_kinds(echo);
  check_anys(echo);
}

TEST_CASE("large arguments and results pass") {
  Client client;
  check_large(client.of_kind(kind()));
}

TEST_CASE("references pass in every position") {
  Client client;
  check_references(client.of_kind(kind()));
}

TEST_CASE("inherited operations and attributes work through any base") {
  Client client;
  check_inheritance(client.of_kind(kind()));
}

TEST_CASE("a server calls back through a reference that it was given") {
  Client client;
  check_callbacks(client.of_kind(kind()), client.poa);
}

TEST_CASE("user exceptions arrive with their members") {
  Client client;
  check_user_exceptions(client.of_kind(kind()));
}

TEST_CASE("system exceptions arrive with minor code and completion status") {
  Client client;
  check_system_exceptions(client.of_kind(kind()));
}

TEST_CASE("oneway calls arrive in order") {
  Client client;
  check_oneways(client.of_kind(kind()));
}

namespace {

// A class without bases.
struct Tally {
  std::int32_t calls() { return count_; }
  void count() { ++count_; }
  std::int32_t count_ = 0;
};

}  // namespace

TEST_CASE("a tie hands calls to an object that is no servant") {
  Client client;
  const auto tally = std::make_shared<Tally>();
  const auto servant = CORBA::make_reference<CORBA::servant_traits<Interop::Counter>::tie_type<Tally>>(tally);
  const auto counter = IDL::traits<Interop::Counter>::narrow(client.poa->servant_to_reference(servant));
  counter->count();
  counter->count();
  CHECK(counter->calls() == 2);
  CHECK(servant->_tied_object() == tally);
}

// The codec of generated types, without an ORB.

namespace {

ByteOrder any_order() { return GENERATE(ByteOrder::little, ByteOrder::big); }

template <typename T>
T through_bytes(const T& value, ByteOrder order) {
  corelane::cdr::Writer writer(order);
  encode(writer, value);
  REQUIRE(writer.ok());
  corelane::cdr::Reader reader(writer.bytes(), order);
  T out;
  REQUIRE(decode(reader, out));
  CHECK(reader.remaining() == 0);
  return out;
}

}  // namespace

TEST_CASE("a structure of every basic type survives both byte orders") {
  const ByteOrder order = any_order();
  CHECK(same(through_bytes(basics(5), order), basics(5)));
}

TEST_CASE("a recursive structure survives both byte orders") {
  const ByteOrder order = any_order();
  const Interop::Tree tree = through_bytes(Interop::Tree("root", {Interop::Tree("leaf", {})}), order);
  REQUIRE(tree.children().size() == 1);
  CHECK(tree.children()[0].name() == "leaf");
}

TEST_CASE("an exception's members survive both byte orders") {
  const ByteOrder order = any_order();
  const auto refused = through_bytes(Interop::Refused("why", 3, Interop::Color::green), order);
  CHECK(refused.why() == "why");
  CHECK(refused.code() == 3);
  CHECK(refused.tint() == Interop::Color::green);
}

// Errors.

TEST_CASE("an enumerator out of range is refused") {
  corelane::cdr::Writer writer;
  writer.write(std::uint32_t{3});
  corelane::cdr::Reader reader(writer.bytes());
  Interop::Color color{};
  CHECK_FALSE(decode(reader, color));
  CHECK(reader.error().kind == corelane::ErrorKind::marshal);
}

TEST_CASE("a structure cut short at any byte is refused") {
  corelane::cdr::Writer writer;
  encode(writer, basics(1));
  for (std::size_t length = 0; length < writer.size(); ++length) {
    corelane::cdr::Reader reader(writer.bytes().first(length));
    Interop::Basics out;
    CHECK_FALSE(decode(reader, out));
  }
}

TEST_CASE("a tree deeper than the reader's limit is refused") {
  Interop::Tree tree("leaf", {});
  for (int i = 0; i < 100; ++i) tree = Interop::Tree("node", {tree});
  corelane::cdr::Writer writer;
  encode(writer, tree);
  corelane::cdr::Reader reader(writer.bytes());
  Interop::Tree out;
  CHECK_FALSE(decode(reader, out));
}

}  // namespace roundtrip_test
