// values.idl: abstract interfaces, and calls within a process, which copy values.
#include <functional>

#include "tests/idl/roundtrip/values_fixture.h"

using namespace corelane::test;
using corelane::ByteOrder;
using corelane::cdr::Reader;
using Bytes = std::vector<std::byte>;

TEST_CASE("an abstract interface is passed as a value, or nil") {
  const Factories factories;
  const ByteOrder order = any_order();
  const CORBA::abstractbase_reference<Values::Described> sent = CORBA::make_reference<Note>("x");
  const auto out = through_bytes(sent, order);
  CHECK(out->describe("a") == "a note x");
  CHECK(out->_to_object() == nullptr);
  CHECK(IDL::traits<Values::Note>::narrow(out->_to_value())->text() == "x");
  CHECK(IDL::traits<Values::Weighed>::narrow(out)->weight() == 2);
  CHECK(text(out) == R"(Note{text = "x"})");
  CHECK(through_bytes(CORBA::abstractbase_reference<Values::Described>(), order) == nullptr);
  const CORBA::Any any = through_bytes(any_of(sent), order);
  CORBA::abstractbase_reference<Values::Described> from_any;
  REQUIRE((any >>= from_any));
  CHECK(from_any->describe("b") == "b note x");
  CHECK(any.type()->kind() == CORBA::TCKind::tk_abstract_interface);
}

TEST_CASE("an abstract interface is passed as a reference") {
  Server server;
  const ByteOrder order = any_order();
  const auto better = server.activate<Values::Better, Better>();
  const CORBA::abstractbase_reference<Values::Described> sent = better;
  const Bytes bytes = bytes_of(order, sent);
  corelane::core::ReferenceEnvironment environment(server.orb.shared());
  Reader reader(bytes, order, 0, &environment);
  CORBA::abstractbase_reference<Values::Described> out;
  REQUIRE(decode(reader, out));
  CHECK(out->describe("an") == "an object");
  CHECK_THROWS_AS(out->describe(""), Values::Refused);
  out->mark(5);
  CHECK(better->mark() == 5);
  CHECK(out->_to_value() == nullptr);
  CHECK(IDL::traits<Values::Weighed>::narrow(out)->weight() == 3);
  CHECK(IDL::traits<Values::Better>::narrow(out->_to_object())->more() == "more");
  CHECK(text(out) == "object(IDL:Values/Better:1.0)");
}

TEST_CASE("a value that a collocated call cannot copy is refused, and the operation may have run") {
  const Factories factories;
  Server server;
  const auto service = server.activate<Values::Service, Service>();
  NodeRef sent = node("sent");
  for (int i = 0; i < Reader::max_depth; ++i) {
    const NodeRef before = node("before");
    before->next(sent);
    sent = before;
  }
  try {
    service->head(sent);
    FAIL("nothing was thrown");
  } catch (const CORBA::IMP_LIMIT& refused) {
    CHECK(refused.minor() == corelane::minor::too_deep);
    CHECK(refused.completed() == CORBA::COMPLETED_MAYBE);
    CHECK_THAT(std::string(refused.what()), !Catch::Contains("a call that the servant made"));
  }
}

TEST_CASE("in a collocated call values are passed by value") {
  const Factories factories;
  Server server;
  const auto service = server.activate<Values::Service, Service>();
  NodeRef sent = node("sent"), b = node("b"), c;
  const NodeRef result = service->swap(sent, b, c);
  CHECK(result->name() == "sent");
  CHECK(result != sent);
  CHECK(b != sent);
  CHECK(c->name() == "b");
  service->head(sent);
  sent->name("changed");
  CHECK(service->head()->name() == "sent");
  CHECK(service->head() != service->head());
  CHECK(service->hold(Values::Holder(sent, nullptr, nullptr, {leaf(1)}), 1).bases().front()->id() == 1);
  try {
    service->swap(nullptr, b, c);
    FAIL("nothing was thrown");
  } catch (const Values::Refused& refused) {
    CHECK(refused.why()->id() == 4);
  }
  const auto better = server.activate<Values::Better, Better>();
  CORBA::abstractbase_reference<Values::Described> other;
  CORBA::abstractbase_reference<Values::Weighed> weighed;
  CHECK(service->pass(better, other, weighed)->describe("an") == "an object");
  CHECK(weighed->weight() == 3);
}

namespace {

class CountedServant : public virtual IDL::traits<Values::Counted>::obv_type,
                       public virtual CORBA::servant_traits<Values::Counted>::base_type {
 public:
  std::int32_t count() override { return start(start() + 1), start(); }
};

}  // namespace

TEST_CASE("a value that supports an interface can be its servant, too") {
  Server server;
  const CountedServant::_ref_type counted = CORBA::make_reference<CountedServant>();
  const CORBA::valuetype_reference<Values::Counted> value = counted;
  const CORBA::object_reference<Values::Countable> object = counted->_this();
  value->start(4);
  CHECK(object->count() == 5);
  CHECK(value->count() == 6);
  CHECK(counted->_this()->_is_equivalent(object));
  CHECK(value->_repository_id() == "IDL:Values/Counted:1.0");
  CHECK_THROWS_AS(value->_copy_value(), CORBA::NO_IMPLEMENT);  // it has no factory
  const CORBA::object_traits<Values::Countable>::ref_type same = object;
  const CORBA::valuetype_traits<Values::Counted>::ref_type same_value = value;
  CHECK((same == object && same_value == value));
}

// Errors.
