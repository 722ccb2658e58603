// declared.idl and apart.idl: an interface and a value type that one file declares and another defines.
#include "apartS.h"
#include "declaredS.h"
#include "tests/idl/roundtrip/values_fixture.h"

using namespace corelane::test;

namespace {

using LoadRef = CORBA::valuetype_reference<Apart::Load>;
using OtherRef = CORBA::object_reference<Apart::Other>;

class SeventhOther : public virtual CORBA::servant_traits<Apart::Other>::base_type {
 public:
  std::int32_t id() override { return 7; }
};

class ApartUser : public virtual CORBA::servant_traits<Apart::User>::base_type {
 public:
  OtherRef pass(OtherRef other, LoadRef& load, Apart::Pair& pair) override {
    load->n(load->n() + other->id());
    pair = Apart::Pair(other, {nullptr, other}, {load});
    return other;
  }
  LoadRef kept() override { return kept_; }
  void kept(LoadRef value) override { kept_ = value; }

 private:
  LoadRef kept_;
};

LoadRef load(std::int32_t n, LoadRef next = nullptr) {
  return CORBA::make_reference<IDL::traits<Apart::Load>::obv_type>(n, next);
}

}  // namespace

TEST_CASE("what one file declares and another defines is of its own type in both") {
  Server server;
  const auto factory = CORBA::make_reference<Apart::Load_init>();
  server.orb->register_value_factory(factory->_obv_repository_id(), factory);
  const auto user = server.activate<Apart::User, ApartUser>();
  const auto other = server.activate<Apart::Other, SeventhOther>();

  LoadRef inout = load(1, load(2));
  Apart::Pair out;
  CHECK(user->pass(other, inout, out)->id() == 7);
  CHECK(inout->n() == 8);
  CHECK(inout->next()->n() == 2);
  CHECK(out.rest().at(1)->id() == 7);
  user->kept(load(3));
  CHECK(user->kept()->n() == 3);

  const corelane::ByteOrder order = any_order();
  const auto bytes = bytes_of(order, out);
  corelane::core::ReferenceEnvironment environment(server.orb.shared());
  corelane::cdr::Reader reader(bytes, order, 0, &environment);
  Apart::Pair read;
  REQUIRE(decode(reader, read));
  CHECK(read.first()->id() == 7);
  CHECK(read.rest().at(0) == nullptr);
  CHECK(read.all().at(0)->n() == 8);
  server.orb->unregister_value_factory(factory->_obv_repository_id());
}

TEST_CASE("the TypeCode of what is only declared has its id") {
  const auto first = CORBA::object_reference<CORBA::TypeCode>(Apart::_tc_Pair)->member_type(0);
  CHECK(first->equal(Apart::_tc_Other));
}
