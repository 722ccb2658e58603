// values.idl: values that the program never sees are freed, in particular circles.
#include <memory>
#include <stdexcept>

#include "orb/core/client/async_invocation.h"
#include "orb/core/requests/server_request.h"
#include "tests/idl/roundtrip/values_fixture.h"

namespace values_reclaim_test {

using namespace corelane::test;
using corelane::cdr::Reader;
using corelane::cdr::Writer;
using corelane::core::ServerRequest;
namespace minor = corelane::minor;

namespace {

// The number of living nodes.
int alive = 0;

class CountedNode final : public IDL::traits<Values::Node>::obv_type {
 public:
  CountedNode() { ++alive; }
  ~CountedNode() override { --alive; }
};

class CountingFactory final : public Values::Node_init {
 public:
  ValueRef create_for_unmarshal() override { return CORBA::make_reference<CountedNode>(); }
};

// A custom value that throws an exception while it is read.
class Thrower final : public IDL::traits<Values::Packed>::obv_type {
 public:
  void marshal(CORBA::DataOutputStream::_ref_type stream) override { stream->write_octet(1); }
  void unmarshal(CORBA::DataInputStream::_ref_type) override { throw std::runtime_error("unreadable"); }
};
class ThrowerFactory final : public IDL::traits<Values::Packed>::factory_type {
 public:
  ValueRef create_for_unmarshal() override { return CORBA::make_reference<Thrower>(); }
};

// All factories. Those of nodes count, and those of custom values are replaced.
struct Counting {
  template <typename Factory>
  static void replace() {
    add_factory<Factory>();
  }
  Counting() { replace<CountingFactory>(); }
  const Factories factories{};
  const int before = alive;
  bool all_gone() const { return alive == before; }
};

// Writes a circle of three nodes, then calls `more`.
template <typename More>
Writer circle_and(More more) {
  const Circle circle(3);
  Writer writer;
  encode(writer, circle.first);
  more(writer);
  REQUIRE(writer.ok());
  return writer;
}

void eight_bytes(Writer& writer) { writer.write(std::uint64_t{0}); }
void no_more(Writer&) {}

}  // namespace

TEST_CASE("arguments with bytes too many leave no circle behind") {
  const Counting counting;
  for (int i = 0; i < 2; ++i) {
    const Writer arguments = circle_and(eight_bytes);
    Writer results;
    {
      Reader reader(arguments.bytes());
      ServerRequest request(reader, results);
      NodeRef node;
      CHECK_THROWS_AS(request.unmarshal(node), CORBA::MARSHAL);
      CHECK(alive > counting.before);
    }
    CHECK(counting.all_gone());
  }
}

TEST_CASE("arguments behind which another is malformed, or whose class throws, leave no circle behind") {
  const Counting counting;
  const bool throws = GENERATE(false, true);
  if (throws) add_factory<ThrowerFactory>();
  const Writer arguments = circle_and([&](Writer& writer) {
    if (throws) return encode(writer, CORBA::valuetype_reference<Values::Packed>(CORBA::make_reference<Thrower>()));
    writer.write(std::uint32_t{0x7fff'ff02});
  });
  Writer results;
  {
    Reader reader(arguments.bytes());
    ServerRequest request(reader, results);
    NodeRef node;
    CORBA::valuetype_reference<Values::Packed> packed;
    CHECK_THROWS_AS(request.unmarshal(node, packed), std::exception);
  }
  CHECK(counting.all_gone());
}

TEST_CASE("arguments that the servant sees stay whole when their message is gone") {
  const Counting counting;
  NodeRef node;
  {
    const Writer arguments = circle_and(no_more);
    Writer results;
    Reader reader(arguments.bytes());
    ServerRequest request(reader, results);
    request.unmarshal(node);
  }
  const Circle circle(node);
  CHECK(node->next()->next()->next() == node);
  CHECK(alive == counting.before + 3);
}

TEST_CASE("a reply that cannot be read leaves no circle behind") {
  const Counting counting;
  {
    const Writer results = circle_and(no_more);
    Reader reader(results.bytes());
    corelane::core::AsyncReply reply(reader, nullptr);
    NodeRef node, missing;
    CHECK_FALSE(reply.unmarshal(node, missing));
  }
  CHECK(counting.all_gone());
}

TEST_CASE("an exception that cannot be read leaves no circle behind, and one that is thrown keeps its own") {
  const Counting counting;
  add_factory<Values::Base_init>();
  const auto entry = corelane::core::raises<Values::Refused>();
  const Writer bad = circle_and(no_more);
  {
    Reader reader(bad.bytes());
    entry.raise(reader);  // a node is not a Base
    CHECK(reader.minor() == minor::wrong_value_type);
  }
  CHECK(counting.all_gone());
  Writer good;
  encode(good, leaf(3));
  Reader reader(good.bytes());
  try {
    entry.raise(reader);
    FAIL("it was not thrown");
  } catch (const Values::Refused& refused) {
    CHECK(refused.why()->id() == 3);
  }
}

TEST_CASE("a failed extraction from an Any leaves no circle behind, and the Any is as it was") {
  const Counting counting;
  {
    const Circle circle(3);
    CORBA::Any any;
    any <<= circle.first;
    Writer writer;
    encode(writer, any);
    Reader reader(writer.bytes());
    CORBA::Any received;
    REQUIRE(decode(reader, received));
    BaseRef other;
    CHECK_FALSE((received >>= other));
    CHECK(counting.all_gone());
    NodeRef node;
    REQUIRE((received >>= node));
    const Circle found(node);
    CHECK(node->next()->next()->next() == node);
    // The circle that the program inserted belongs to the program.
    CHECK_FALSE((any >>= other));
    CHECK(circle.first->next()->next()->next() == circle.first);
  }
  CHECK(counting.all_gone());
}

TEST_CASE("a custom value that is passed on in an Any leaves no circle behind") {
  const Counting counting;
  Writer out;
  {
    const Circle circle(3);
    const auto packed = CORBA::make_reference<Packed>();
    packed->inner = circle.first;
    CORBA::Any any;
    any <<= CORBA::valuetype_reference<Values::Packed>(packed);
    Writer writer;
    encode(writer, any);
    Reader reader(writer.bytes());
    CORBA::Any received;
    REQUIRE(decode(reader, received));
    encode(out, received);
    encode(out, received);
    REQUIRE(out.ok());
    out.forget();
  }
  CHECK(counting.all_gone());
}

TEST_CASE("a custom value of an Any that the rest of the message refers to stays whole") {
  const Counting counting;
  add_factory<PackedFactory>();
  Writer writer;
  {
    const Circle circle(3);
    const auto packed = CORBA::make_reference<Packed>();
    packed->inner = circle.first;
    CORBA::Any any;
    any <<= CORBA::valuetype_reference<Values::Packed>(packed);
    encode(writer, any);
    encode(writer, CORBA::valuetype_reference<Values::Packed>(packed));
    REQUIRE(writer.ok());
  }
  CORBA::valuetype_reference<Values::Packed> packed;
  {
    Reader reader(writer.bytes());
    CORBA::Any any;
    REQUIRE(decode(reader, any));
    REQUIRE(decode(reader, packed));
  }
  const auto held = std::dynamic_pointer_cast<Packed>(packed.shared());
  REQUIRE(held);
  REQUIRE(held->inner);
  const Circle circle(IDL::traits<Values::Node>::narrow(held->inner));
  CHECK(circle.first->next()->next()->next() == circle.first);
  held->inner = nullptr;
}

}  // namespace values_reclaim_test
