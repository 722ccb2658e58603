// declared.idl and apart.idl: an interface and a value type that one file declares and another defines.
#include "apartS.h"
#include "declaredS.h"
#include "tests/idl/roundtrip/values_fixture.h"

using namespace corelane::test;

namespace {

using LoadRef = CORBA::valuetype_reference<Apart::Load>;
using OtherRef = CORBA::object_reference<Apart::Other>;
using EitherRef = CORBA::abstractbase_reference<Apart::Either>;

class SizedLoad : public virtual IDL::traits<Apart::Load>::obv_type {
 public:
  SizedLoad() = default;
  SizedLoad(std::int32_t n, const LoadRef& next) : IDL::traits<Apart::Load>::obv_type(n, next) {}
  std::int32_t size() override { return n(); }
};

class SizedLoads : public virtual Apart::Load_init {
 public:
  CORBA::valuetype_reference<CORBA::ValueBase> create_for_unmarshal() override {
    return CORBA::make_reference<SizedLoad>();
  }
};

class SeventhOther : public virtual CORBA::servant_traits<Apart::Other>::base_type {
 public:
  std::int32_t size() override { return 70; }
  std::int32_t id() override { return 7; }
};

class ApartUser : public virtual CORBA::servant_traits<Apart::User>::base_type {
 public:
  OtherRef pass(OtherRef other, LoadRef& load, Apart::Pair& pair) override {
    load->n(load->n() + other->id());
    pair = Apart::Pair(other, {nullptr, other}, {load}, load);
    return other;
  }
  LoadRef kept() override { return kept_; }
  void kept(LoadRef value) override { kept_ = value; }
  EitherRef swap_ends(Apart::Mixed& mixed) override {
    std::swap(mixed.one(), mixed.more().front());
    return mixed.one();
  }

 private:
  LoadRef kept_;
};

LoadRef load(std::int32_t n, LoadRef next = nullptr) { return CORBA::make_reference<SizedLoad>(n, next); }

}  // namespace

TEST_CASE("a type that one file declares and another defines is the same type in both") {
  Server server;
  const auto factory = CORBA::make_reference<SizedLoads>();
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
  CHECK(read.last() == read.all().at(0));
  server.orb->unregister_value_factory(factory->_obv_repository_id());
}

TEST_CASE("an abstract interface that another file defines is passed as an object and as a value") {
  Server server;
  const auto factory = CORBA::make_reference<SizedLoads>();
  server.orb->register_value_factory(factory->_obv_repository_id(), factory);
  const auto user = server.activate<Apart::User, ApartUser>();
  const OtherRef other = server.activate<Apart::Other, SeventhOther>();

  Apart::Mixed mixed(other, {EitherRef(load(5)), nullptr});
  const EitherRef first = user->swap_ends(mixed);
  CHECK(first->size() == 5);
  CHECK(mixed.one()->size() == 5);
  CHECK(mixed.more().at(0)->size() == 70);
  CHECK_FALSE(mixed.more().at(1));
  server.orb->unregister_value_factory(factory->_obv_repository_id());
}

TEST_CASE("a local interface that another file defines is of its own type in both") {
  class Here : public virtual IDL::traits<Apart::Close>::base_type {
    std::int32_t distance() override { return 3; }
  };
  class Kept : public virtual IDL::traits<Apart::Keeper>::base_type {
    Apart::Near keep(const Apart::Closes& all) override { return Apart::Near(all.at(0), all); }
  };
  const auto here = CORBA::make_reference<Here>();
  const auto keeper = CORBA::make_reference<Kept>();
  CHECK(keeper->_this()->keep({here}).one()->distance() == 3);
}

TEST_CASE("the TypeCode of what is only declared has its id") {
  const auto first = CORBA::object_reference<CORBA::TypeCode>(Apart::_tc_Pair)->member_type(0);
  CHECK(first->equal(Apart::_tc_Other));
  const auto either = CORBA::object_reference<CORBA::TypeCode>(Apart::_tc_Mixed)->member_type(0);
  CHECK(either->equal(Apart::_tc_Either));
}
