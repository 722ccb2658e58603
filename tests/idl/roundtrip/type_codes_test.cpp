// TypeCodes that a program makes at run time, compared with those of kinds.idl and values.idl, and sent in both byte
// orders.
#include <functional>

#include "kindsC.h"
#include "orb/any/make_type.h"
#include "orb/corba/orb.h"
#include "tests/support/bytes/round_trip.h"
#include "valuesC.h"

namespace type_codes_test {

using namespace corelane::test;
using corelane::ByteOrder;

namespace {

using TypeRef = CORBA::object_reference<CORBA::TypeCode>;

// The ORB that makes the TypeCodes.
class Orb {
 public:
  Orb() {
    char name[] = "types", ledger[] = "-ORBRuntimeLedger", off[] = "off";
    char* arguments[] = {name, ledger, off, nullptr};
    int count = 3;
    orb = CORBA::ORB_init(count, arguments, "types");
  }
  ~Orb() { orb->destroy(); }
  CORBA::ORB* operator->() const { return orb.get(); }

 private:
  CORBA::object_reference<CORBA::ORB> orb;
};

CORBA::Any label(std::int32_t value) { return any_of(value); }
CORBA::Any default_label() { return any_of(std::uint8_t{0}); }

std::uint32_t minor_of(const std::function<void()>& make) {
  try {
    make();
  } catch (const CORBA::BAD_PARAM& fault) {
    return fault.minor() & 0xfff;
  } catch (const CORBA::BAD_TYPECODE& fault) {
    return 1000 + (fault.minor() & 0xfff);
  }
  return 0;
}

}  // namespace

TEST_CASE("types made at run time are those of the IDL") {
  const Orb orb;
  const TypeRef point = orb->create_struct_tc("IDL:Values/Point:1.0", "Point",
                                              {{"x", CORBA::_tc_long, nullptr}, {"y", CORBA::_tc_long, nullptr}});
  CHECK(point->equal(Values::_tc_Point));
  CHECK(orb->create_value_box_tc("IDL:Values/PointBox:1.0", "PointBox", point)->equal(Values::_tc_PointBox));
  CHECK(orb->create_enum_tc("IDL:Values/Colour:1.0", "Colour", {"red", "green"})->equal(Values::_tc_Colour));
  CHECK(orb->create_interface_tc("IDL:Values/Countable:1.0", "Countable")->equal(Values::_tc_Countable));
  CHECK(orb->create_abstract_interface_tc("IDL:Values/Weighed:1.0", "Weighed")->equal(Values::_tc_Weighed));
  const TypeRef base = orb->create_value_tc("IDL:Values/Base:1.0", "Base", CORBA::VM_NONE, nullptr,
                                            {{"id", "", "", "", CORBA::_tc_long, nullptr, CORBA::PUBLIC_MEMBER}});
  CHECK(base->equal(Values::_tc_Base));
  CHECK(orb->create_value_tc("IDL:Values/Plain:1.0", "Plain", CORBA::VM_NONE, base,
                             {{"flag", "", "", "", CORBA::_tc_octet, nullptr, CORBA::PUBLIC_MEMBER}})
            ->equal(Values::_tc_Plain));
}

TEST_CASE("types made at run time without a name tell what they were made of") {
  const Orb orb;
  CHECK(orb->create_string_tc(12)->length() == 12);
  CHECK(orb->create_wstring_tc(0)->kind() == CORBA::TCKind::tk_wstring);
  const TypeRef sequence = orb->create_sequence_tc(3, CORBA::_tc_short);
  CHECK(sequence->length() == 3);
  CHECK(sequence->content_type()->kind() == CORBA::TCKind::tk_short);
  CHECK(orb->create_array_tc(4, CORBA::_tc_long)->kind() == CORBA::TCKind::tk_array);
  CHECK(orb->create_fixed_tc(10, 2)->fixed_scale() == 2);
  CHECK(orb->create_alias_tc("IDL:A:1.0", "A", sequence)->content_type()->equal(sequence));
  CHECK(orb->create_native_tc("IDL:N:1.0", "N")->kind() == CORBA::TCKind::tk_native);
  CHECK(orb->create_local_interface_tc("IDL:L:1.0", "L")->id() == "IDL:L:1.0");
}

TEST_CASE("a union made at run time has its labels, a default, and members of several labels") {
  const Orb orb;
  const TypeRef made = orb->create_union_tc("IDL:U:1.0", "U", CORBA::_tc_long,
                                            {{"a", label(1), CORBA::_tc_string, nullptr},
                                             {"a", label(2), CORBA::_tc_string, nullptr},
                                             {"b", default_label(), CORBA::_tc_double, nullptr}});
  CHECK(made->member_count() == 3);
  CHECK(made->default_index() == 2);
  std::int32_t second = 0;
  REQUIRE((made->member_label(1) >>= second));
  CHECK(second == 2);
}

TEST_CASE("a recursive type made at run time holds itself, also over the wire") {
  const Orb orb;
  const TypeRef itself = orb->create_recursive_tc("IDL:Tree:1.0");
  const TypeRef tree = orb->create_struct_tc(
      "IDL:Tree:1.0", "Tree",
      {{"value", CORBA::_tc_long, nullptr}, {"below", orb->create_sequence_tc(0, itself), nullptr}});
  CHECK(tree->member_type(1)->content_type()->equal(tree));
  CHECK(through_bytes(tree, any_order())->equal(tree));
}

// Errors.

TEST_CASE("arguments that make no type are refused with the standard's minor codes") {
  const Orb orb;
  const CORBA::StructMember x("x", CORBA::_tc_long, nullptr);
  CHECK(minor_of([&] { orb->create_struct_tc("IDL:S:1.0", "S", {{"1x", CORBA::_tc_long, nullptr}}); }) == 15);
  CHECK(minor_of([&] { orb->create_interface_tc("lala", "I"); }) == 16);
  CHECK(minor_of([&] { orb->create_struct_tc("IDL:S:1.0", "S", {x, x}); }) == 17);
  CHECK(minor_of([&] { orb->create_enum_tc("IDL:E:1.0", "E", {"a", "a"}); }) == 17);
  CHECK(minor_of([&] { orb->create_struct_tc("IDL:S:1.0", "S", {{"x", CORBA::_tc_void, nullptr}}); }) == 1002);
  CHECK(minor_of([&] { orb->create_sequence_tc(0, CORBA::_tc_null); }) == 1002);
  CHECK(minor_of([&] { orb->create_fixed_tc(10, 11); }) != 0);
  const auto union_of = [&](const TypeRef& discriminator, const CORBA::UnionMemberSeq& members) {
    return minor_of([&] { orb->create_union_tc("IDL:U:1.0", "U", discriminator, members); });
  };
  const CORBA::UnionMember one("a", label(1), CORBA::_tc_string, nullptr);
  CHECK(union_of(CORBA::_tc_long, {one, {"a", label(2), CORBA::_tc_long, nullptr}}) == 17);
  CHECK(union_of(CORBA::_tc_long, {one, {"b", label(1), CORBA::_tc_long, nullptr}}) == 18);
  CHECK(union_of(CORBA::_tc_short, {one}) == 19);
  CHECK(union_of(CORBA::_tc_double, {one}) == 20);
  CHECK_THROWS_AS(orb->create_sequence_tc(0, nullptr), CORBA::INV_OBJREF);
}

TEST_CASE("a recursive type that nothing closes cannot be sent") {
  const Orb orb;
  corelane::cdr::Writer writer;
  encode(writer, orb->create_sequence_tc(0, orb->create_recursive_tc("IDL:Tree:1.0")));
  CHECK_FALSE(writer.ok());
}

}  // namespace type_codes_test
