// What IDL may use from CORBA through <orb.idl>, with a server: policies, value boxes, and objects that are only passed
// on.
#include "orb/corba/orb_servants.h"
#include "tests/idl/roundtrip/values_fixture.h"

using namespace corelane::test;

namespace {

using PolicyRef = CORBA::object_reference<CORBA::Policy>;

class SeventhPolicy : public virtual CORBA::servant_traits<CORBA::Policy>::base_type {
 public:
  CORBA::PolicyType policy_type() override { return 7; }
  PolicyRef copy() override { return _this(); }
  void destroy() override { throw CORBA::NO_PERMISSION(); }
};

class PlainDefinition : public virtual CORBA::servant_traits<CORBA::InterfaceDef>::base_type {};

class NearPolicy : public virtual CORBA::Policy, public virtual CORBA::LocalObject {
 public:
  CORBA::PolicyType policy_type() override { return 8; }
  PolicyRef copy() override { return nullptr; }
  void destroy() override {}
};

template <typename T>
T through_bytes_of(Server& server, const T& value) {
  const corelane::ByteOrder order = any_order();
  const auto bytes = bytes_of(order, value);
  corelane::core::ReferenceEnvironment environment(server.orb.shared());
  corelane::cdr::Reader reader(bytes, order, 0, &environment);
  T read;
  REQUIRE(decode(reader, read));
  return read;
}

}  // namespace

TEST_CASE("a policy is an object like others, remote or local") {
  Server server;
  const PolicyRef policy = server.activate<CORBA::Policy, SeventhPolicy>();
  CHECK(policy->policy_type() == 7);
  CHECK(policy->copy()->_is_equivalent(policy));
  CHECK_THROWS_AS(policy->destroy(), CORBA::NO_PERMISSION);
  CHECK(IDL::traits<CORBA::Policy>::narrow(policy)->policy_type() == 7);
  const PolicyRef near = CORBA::make_reference<NearPolicy>();
  CHECK(near->policy_type() == 8);
  const CORBA::PolicyList read = through_bytes_of(server, CORBA::PolicyList{policy, nullptr});
  CHECK(read.at(0)->policy_type() == 7);
  CHECK_FALSE(read.at(1));
}

TEST_CASE("the value boxes of CORBA travel, alone and in an Any") {
  Server server;
  const auto text = CORBA::make_reference<CORBA::StringValue>("caf\xc3\xa9");
  const auto wide = CORBA::make_reference<CORBA::WStringValue>(L"\u20ac");
  CHECK(through_bytes_of(server, text)->_value() == "caf\xc3\xa9");
  CHECK(through_bytes_of(server, wide)->_value() == L"\u20ac");
  CORBA::Any any;
  any <<= text;
  CORBA::valuetype_reference<CORBA::StringValue> out;
  REQUIRE((any >>= out));
  CHECK(out->_value() == "caf\xc3\xa9");
  CHECK(any.type()->equal(CORBA::_tc_StringValue));
}

TEST_CASE("a reference to an interface's definition can be passed on") {
  Server server;
  const auto definition = server.activate<CORBA::InterfaceDef, PlainDefinition>();
  const auto read = through_bytes_of(server, definition);
  CHECK(read->_is_equivalent(definition));
  CHECK(read->_is_a("IDL:omg.org/CORBA/InterfaceDef:1.0"));
}
