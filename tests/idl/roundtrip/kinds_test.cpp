// kinds.idl: what generated types of every kind do, and that they survive both byte orders.
#include "kindsC.h"
#include "orb/base/minor.h"
#include "orb/corba/any.h"
#include "orb/corba/orb.h"
#include "orb/corba/print.h"
#include "tests/support/bytes/round_trip.h"

namespace kinds_test {

using corelane::ByteOrder;
using namespace corelane::test;

namespace {

// Puts the value into an Any, sends it over the wire, and extracts it again.
template <typename T>
T through_any(const T& value, ByteOrder order) {
  CORBA::Any any;
  any <<= value;
  const CORBA::Any there = through_bytes(any, order);
  T out{};
  REQUIRE((there >>= out));
  return out;
}

Kinds::Everything everything() {
  Kinds::Everything e;
  e.vec({1, -2, 3});
  e.grid()[1][2] = "last";
  e.few_({7, 8});
  e.text_("12345");
  e.wide(L"\u4e2d");
  e.c(L'\U0001f600');
  e.ws(L"wide");
  e.ld(0.1L);
  e.i8(-8);
  e.u8(200);
  e.i16(-16);
  e.u16(16);
  e.i32(-32);
  e.u32(32);
  e.i64(-64);
  e.u64(64);
  e.nested({std::vector<std::int16_t>{1, 2}, std::vector<std::int16_t>{}});
  e.price_(IDL::Fixed<9, 2>("-1234.56"));
  e.sparse_(Kinds::Sparse::seven);
  e.anything() <<= Kinds::Colour::blue;
  e.tc(Kinds::_tc_Tree);
  return e;
}

constexpr const char* everything_text =
    "Everything{vec = [1, -2, 3], grid = [[\"\", \"\", \"\"], [\"\", \"\", \"last\"]], few_ = [7, 8], text_ = "
    "\"12345\", "
    "wide = \"\\u4e2d\", c = '\\U0001f600', ws = \"wide\", ld = 0.1, i8 = 248, u8 = 200, i16 = -16, u16 = 16, i32 = "
    "-32, "
    "u32 = 32, i64 = -64, u64 = 64, nested = [[1, 2], []], price_ = -1234.56, sparse_ = seven, anything = any(blue), "
    "tc = TypeCode(IDL:Kinds/Tree:1.0)}";

Kinds::Tree leaf(std::int32_t value) {
  Kinds::Tree tree;
  tree.leaf(value);
  return tree;
}

Kinds::Tree branch(std::vector<Kinds::Tree> children) {
  Kinds::Tree tree;
  tree.children(std::move(children));
  return tree;
}

}  // namespace

TEST_CASE("a structure of every kind of member survives both byte orders and an Any") {
  const ByteOrder order = any_order();
  CHECK(text(through_bytes(everything(), order)) == everything_text);
  CHECK(text(through_any(everything(), order)) == everything_text);
}

TEST_CASE("constants of wide, long and fixed types have their value") {
  CHECK(Kinds::motto == L"caf\u00e9 \"x\"");
  CHECK(Kinds::letter == L'z');
  CHECK(Kinds::tenth == 0.1L);
  CHECK(Kinds::most.to_string() == "12.5");
}

// Unions.

TEST_CASE("a new union holds its default member, or none where there may be none, or its first") {
  const Kinds::ByDefault by_default;
  CHECK(by_default._d() == 0);
  CHECK(by_default.rest()[1][1] == Kinds::Gear::middle);
  const Kinds::ByDefaultLabel by_label;
  CHECK(by_label._d() == Kinds::Colour::green);
  CHECK(by_label.rest() == Kinds::Gear::middle);
  const Kinds::ByNone by_none;
  CHECK(by_none._d() == 2);
  CHECK_THROWS_AS(by_none.first(), CORBA::BAD_PARAM);
  CHECK_THROWS_AS(by_none.second(), CORBA::BAD_PARAM);
  const Kinds::ByFirst by_first;
  CHECK(by_first._d());
  CHECK(by_first.first() == 0);
  const ByteOrder order = any_order();
  CHECK(through_bytes(by_default, order).rest()[0][1] == Kinds::Gear::middle);
  CHECK(through_bytes(by_none, order)._d() == 2);
  CHECK(through_any(by_first, order).first() == 0);
}

TEST_CASE("a new value of an enumeration is its default literal, in arrays, too") {
  const Kinds::Gearbox box;
  CHECK(box.now() == Kinds::Gear::middle);
  for (const Kinds::Gear gear : box.row()) CHECK(gear == Kinds::Gear::middle);
  for (const auto& row : box.block())
    for (const Kinds::Gear gear : row) CHECK(gear == Kinds::Gear::middle);
}

TEST_CASE("a union holds what was set last") {
  Kinds::Choice choice;
  CHECK(choice._d() == Kinds::Colour::red);
  CHECK(choice.number() == 0);
  choice.word("x");
  CHECK(choice._d() == Kinds::Colour::green);
  choice.word("y", Kinds::Colour::blue);
  CHECK(choice._d() == Kinds::Colour::blue);
  CHECK(choice.word() == "y");
}

TEST_CASE("a union's discriminator moves only within its member") {
  Kinds::Choice choice;
  choice.word("x");
  choice._d(Kinds::Colour::blue);
  CHECK(choice.word() == "x");
  CHECK_THROWS_AS(choice._d(Kinds::Colour::red), CORBA::BAD_PARAM);
  CHECK_THROWS_AS(choice.number(), CORBA::BAD_PARAM);
  CHECK_THROWS_AS(choice.word("z", Kinds::Colour::red), CORBA::BAD_PARAM);
  CHECK(choice.word() == "x");
}

TEST_CASE("a union without a member for every discriminator can be empty") {
  Kinds::Flag flag;
  flag._default();
  CHECK_FALSE(flag._d());
  CHECK_THROWS_AS(flag.yes(), CORBA::BAD_PARAM);
  CHECK(text(through_bytes(flag, any_order())) == "Flag{false}");
}

TEST_CASE("a union's default member takes any discriminator that no label has") {
  Kinds::Broad broad;
  CHECK(broad._d() == 0);
  broad.rest({1, 2, 3}, 77);
  CHECK(broad._d() == 77);
  CHECK_THROWS_AS(broad.rest({1, 2, 3}, -5), CORBA::BAD_PARAM);
  broad.rest({4, 5, 6});
  CHECK(Kinds::Broad::_member(broad._d()) == 2);
}

TEST_CASE("unions of every discriminator survive both byte orders and an Any") {
  const ByteOrder order = any_order();
  Kinds::Broad broad;
  broad.rest({1, 2, 3}, -77);
  CHECK(text(through_any(broad, order)) == "Broad{-77: rest = [1, 2, 3]}");
  broad.list({9}, -5);
  CHECK(text(through_bytes(broad, order)) == "Broad{-5: list = [9]}");
  Kinds::Sign sign;
  sign.quote(Kinds::Colour::green);
  CHECK(text(through_any(sign, order)) == "Sign{'\\'': quote = green}");
  Kinds::WideSign wide;
  wide.inner(Kinds::Choice());
  wide.inner().word("x");
  CHECK(text(through_any(wide, order)) == "WideSign{'x': inner = Choice{green: word = \"x\"}}");
  CHECK(text(through_any(branch({leaf(1), branch({leaf(2)})}), order)) ==
        "Tree{1: children = [Tree{2: leaf = 1}, Tree{1: children = [Tree{2: leaf = 2}]}]}");
}

TEST_CASE("unions swap and copy with their member") {
  Kinds::Tree a = leaf(1), b = branch({});
  swap(a, b);
  CHECK(a._d() == 1);
  CHECK(b.leaf() == 1);
  const Kinds::Tree copy = b;
  b.leaf(2);
  CHECK(copy.leaf() == 1);
}

// Structures.

TEST_CASE("a derived structure has its base's members first") {
  const Kinds::Derived derived(7, "seven");
  const Kinds::Base& base = derived;
  CHECK(base.a() == 7);
  CHECK(text(through_any(derived, any_order())) == "Derived{a = 7, b = \"seven\"}");
  Kinds::Derived other;
  swap(other, const_cast<Kinds::Derived&>(derived));
  CHECK(other.a() == 7);
  CHECK(other.b() == "seven");
}

TEST_CASE("members begin with their default") {
  const Kinds::WithDefaults value;
  CHECK(text(value) == "WithDefaults{five = 5, name = \"x\", tint = blue}");
  CHECK(text(Kinds::Everything().sparse_()) == "two");
}

TEST_CASE("plain structures and those without members survive") {
  Kinds::Plain plain{5, {}};
  plain.names_[0][1] = "n";
  CHECK(through_bytes(plain, any_order()).names_[0][1] == "n");
  CHECK(text(through_bytes(Kinds::Empty(), any_order())) == "Empty{}");
  CHECK(Kinds::Outer(Kinds::Outer::Inner::out_).inner_() == Kinds::Outer::Inner::out_);
}

TEST_CASE("sequences of structures without bytes survive up to their limit") {
  static constexpr std::size_t most = corelane::cdr::Reader::max_empty_elements;
  const std::size_t count = GENERATE_REF(std::size_t{1}, std::size_t{5}, std::size_t{most / 2});  // of two sequences
  Kinds::Lists lists;
  lists.some().resize(count);
  lists.more().resize(count);
  const Kinds::Lists there = through_bytes(lists, any_order());
  CHECK(there.some().size() == count);
  CHECK(there.more().size() == count);
  Kinds::Lists one;
  one.some().resize(most);
  CHECK(through_any(one, any_order()).some().size() == most);
}

TEST_CASE("a longer sequence of structures without bytes is refused with the limit that it exceeds") {
  using List = std::vector<Kinds::Empties>;
  const auto bytes = bytes_of(ByteOrder::little, List(corelane::cdr::Reader::max_empty_elements + 1));
  corelane::cdr::Reader reader(bytes, ByteOrder::little);
  List out;
  CHECK_FALSE(decode(reader, out));
  CHECK(reader.minor() == corelane::minor::too_many_empty);
  CHECK_THAT(std::string(corelane::minor::text(reader.error())), Catch::Contains("more than 65,536 values"));
}

// Bitmasks and bitsets.

TEST_CASE("bitmasks combine and keep their bits") {
  Kinds::Rights rights = Kinds::Rights::readable | Kinds::Rights::owned;
  CHECK(static_cast<std::uint32_t>(rights) == 33);
  rights &= ~Kinds::Rights::readable;
  CHECK(rights == Kinds::Rights::owned);
  CHECK(through_any(rights, any_order()) == rights);
  CHECK(static_cast<int>(~Kinds::Small::lone) == 254);
}

TEST_CASE("a bitset's fields are windows on one number") {
  Kinds::MoreFields fields;
  fields.low(5);
  fields.flag_(true);
  fields.signed_(-3);
  fields.high(1000);
  CHECK(fields._bits == (5U | 1U << 3 | 13U << 4 | 1000U << 8));
  const Kinds::MoreFields out = through_bytes(fields, any_order());
  CHECK(out.low() == 5);
  CHECK(out.flag_());
  CHECK(out.signed_() == -3);
  CHECK(out.high() == 1000);
  fields.low(8);  // more than 3 bits
  CHECK(fields.low() == 0);
}

TEST_CASE("a bit that the type lacks is refused") {
  corelane::cdr::Writer writer;
  writer.write(std::uint32_t{1} << 20);
  corelane::cdr::Reader reader(writer.bytes());
  Kinds::MoreFields out;
  CHECK_FALSE(decode(reader, out));
}

// Bounds.

TEST_CASE("a bound is checked when it is broken and the value stays as it was") {
  Kinds::Few few = {1, 2, 3};
  few.push_back(4);
  CHECK_THROWS_AS(few.push_back(5), CORBA::BAD_PARAM);
  CHECK_THROWS_AS(few.emplace_back(5), CORBA::BAD_PARAM);
  CHECK_THROWS_AS(few.resize(5), CORBA::BAD_PARAM);
  CHECK_THROWS_AS(few.insert(few.begin(), 0), CORBA::BAD_PARAM);
  CHECK_THROWS_AS(few.assign(5, 0), CORBA::BAD_PARAM);
  CHECK_THROWS_AS(few = std::vector<std::int32_t>(5), CORBA::BAD_PARAM);
  CHECK_THROWS_AS(Kinds::Few(5, 0), CORBA::BAD_PARAM);
  CHECK(few == Kinds::Few{1, 2, 3, 4});
}

TEST_CASE("a bounded string may be filled and not more") {
  Kinds::Text short_text = "1234";
  short_text += '5';
  CHECK_THROWS_AS(short_text += '6', CORBA::BAD_PARAM);
  CHECK_THROWS_AS(short_text.append("6"), CORBA::BAD_PARAM);
  CHECK_THROWS_AS(short_text.replace(0, 1, "ab"), CORBA::BAD_PARAM);
  CHECK_THROWS_AS(short_text = "123456", CORBA::BAD_PARAM);
  CHECK(short_text == "12345");
  const std::string& unbounded = short_text;
  CHECK(unbounded.size() == 5);
}

TEST_CASE("a bound is told by the traits of the type") {
  static_assert(IDL::traits<Kinds::Few>::is_bounded::value && IDL::traits<Kinds::Few>::bound::value == 4);
  static_assert(IDL::traits<Kinds::Text>::bound::value == 5);
  static_assert(!IDL::traits<std::string>::is_bounded::value);
  static_assert(IDL::traits<Kinds::Names>::dimensions::value == 2);
  CHECK(Kinds::Few::max_size() == 4);
}

TEST_CASE("a value that is longer than its bound on the wire is refused") {
  corelane::cdr::Writer writer;
  encode(writer, std::vector<std::int32_t>{1, 2, 3, 4, 5});
  corelane::cdr::Reader reader(writer.bytes());
  Kinds::Few few;
  CHECK_FALSE(decode(reader, few));
  CHECK(reader.minor() == corelane::minor::bound_exceeded);
}

// TypeCodes and Any.

TEST_CASE("generated TypeCodes say what the IDL says") {
  CHECK(Kinds::_tc_Everything->member_count() == 21);
  CHECK(Kinds::_tc_Everything->member_name(1) == "grid");
  CHECK(Kinds::_tc_Names->content_type()->length() == 2);
  CHECK(Kinds::_tc_Broad->default_index() == 2);
  std::int64_t label = 0;
  REQUIRE((Kinds::_tc_Broad->member_label(1) >>= label));
  CHECK(label == -5);
  CHECK(Kinds::_tc_Price->content_type()->fixed_digits() == 9);
  CHECK(Kinds::_tc_Bad->kind() == CORBA::TCKind::tk_except);
  CHECK(Kinds::_tc_Outer->member_type(0)->equal(Kinds::Outer::_tc_Inner));
  CHECK_THROWS_AS(Kinds::_tc_Price->member_count(), CORBA::TypeCode::BadKind);
  CHECK_THROWS_AS(Kinds::_tc_Base->member_name(1), CORBA::TypeCode::Bounds);
}

TEST_CASE("a recursive TypeCode survives both byte orders") {
  const CORBA::object_reference<CORBA::TypeCode> tree = Kinds::_tc_Tree;
  const auto out = through_bytes(tree, any_order());
  CHECK(out->equal(tree));
  CHECK(out->equivalent(out->member_type(0)->content_type()));
}

TEST_CASE("an Any knows its type and takes an equivalent one") {
  CORBA::Any any;
  CHECK(any.type()->kind() == CORBA::TCKind::tk_null);
  any <<= Kinds::Vector{1, 2, 3};
  any.type(Kinds::_tc_Vector);
  CHECK(any.type()->name() == "Vector");
  CHECK_THROWS_AS(any.type(CORBA::_tc_long), CORBA::BAD_TYPECODE);
  any <<= "text";
  std::string out;
  REQUIRE((any >>= out));
  CHECK(out == "text");
}

TEST_CASE("an exception passes in an Any with its members") {
  Kinds::Choice choice;
  choice.word("why");
  const Kinds::Bad out = through_any(Kinds::Bad(choice), any_order());
  CHECK(out.choice_().word() == "why");
  CHECK(text(out) == "Bad{choice_ = Choice{green: word = \"why\"}}");
}

TEST_CASE("an Any takes an exception through its base") {
  Kinds::Choice choice;
  choice.word("why");
  const Kinds::Bad bad(choice);
  const CORBA::UserException& base = bad;
  CORBA::Any any;
  any <<= base;
  CHECK(any.type()->name() == "Bad");
  for (const CORBA::Any& from : {any, through_bytes(any, any_order())}) {
    Kinds::Bad out;
    REQUIRE((from >>= out));
    CHECK(out.choice_().word() == "why");
  }
  CHECK_THROWS_AS(any <<= static_cast<const CORBA::UserException&>(CORBA::ORB::InvalidName("x")), CORBA::BAD_PARAM);
}

TEST_CASE("an Any holds system exceptions") {
  const CORBA::TIMEOUT timeout(7, CORBA::COMPLETED_MAYBE);
  CORBA::Any any;
  any <<= static_cast<const CORBA::SystemException&>(timeout);
  CHECK(text(any) == "any(TIMEOUT{minor = 7, completed = COMPLETED_MAYBE})");
  for (const CORBA::Any& from : {any, through_bytes(any, any_order())}) {
    CORBA::TIMEOUT out;
    REQUIRE((from >>= out));
    CHECK(out.minor() == 7);
    CHECK(out.completed() == CORBA::COMPLETED_MAYBE);
    CORBA::MARSHAL other(9);
    CHECK_FALSE((from >>= other));
    CHECK(other.minor() == 9);
  }
}

TEST_CASE("sequences print through their traits") {
  const std::vector<Kinds::Colour> colours = {Kinds::Colour::red, Kinds::Colour::blue};
  CHECK(text(IDL::traits<std::vector<Kinds::Colour>>::write(colours)) == "[red, blue]");
}

// Local interfaces.

namespace {

class HereImpl : public virtual IDL::traits<Kinds::Here>::base_type {
 public:
  std::int32_t use(void*, CORBA::Any& any) override { return any <<= size_, size_; }
  std::int32_t size() override { return size_; }
  void size(std::int32_t value) override { size_ = value; }

 private:
  std::int32_t size_ = 3;
};

}  // namespace

TEST_CASE("a local object is called like any other and does not leave its process") {
  const CORBA::object_reference<Kinds::Here> here(std::make_shared<HereImpl>());
  here->size(4);
  CORBA::Any any;
  CHECK(here->use(nullptr, any) == 4);
  CHECK(IDL::traits<Kinds::Here>::narrow(here) == here);
  CHECK(here->_this() == here);
  corelane::cdr::Writer writer;
  encode(writer, here);
  CHECK_FALSE(writer.ok());
}

TEST_CASE("an Any hands a local object on, and does not leave its process then") {
  const CORBA::object_reference<Kinds::Here> here(std::make_shared<HereImpl>());
  CORBA::Any any;
  any <<= here;
  CORBA::object_reference<Kinds::Here> out;
  REQUIRE((any >>= out));
  CHECK(out == here);
  CHECK(any.type()->kind() == CORBA::TCKind::tk_local_interface);
  CORBA::object_reference<Kinds::Nearby> another;
  CHECK_FALSE((any >>= another));
  corelane::cdr::Writer writer;
  encode(writer, any);
  CHECK_FALSE(writer.ok());
}

// Fixed-point numbers.

TEST_CASE("fixed-point arithmetic has the digits that IDL gives it") {
  const IDL::Fixed<5, 2> a("123.45");
  const IDL::Fixed<3, 1> b(1.5);
  CHECK((a + b).to_string() == "124.95");
  CHECK((a * b).to_string() == "185.175");
  CHECK((a - b).fixed_digits() == 6);
  CHECK((a / b) == IDL::Fixed<4, 1>("82.3"));
  CHECK(a > b);
  CHECK(-a == IDL::Fixed<5, 2>("-123.45"));
  CHECK(a.round(1).to_string() == "123.50");
  IDL::Fixed<5, 2> c = a;
  c += b;
  CHECK(++c == IDL::Fixed<5, 2>("125.95"));
  CHECK_THROWS_AS((IDL::Fixed<3, 1>(100)), CORBA::DATA_CONVERSION);
  CHECK_THROWS_AS(a / (IDL::Fixed<1, 0>()), CORBA::DATA_CONVERSION);
}

TEST_CASE("the intersection of two bitmasks is a condition and a bitmask") {
  using Kinds::Rights;
  const Rights both = Rights::readable | Rights::owned;
  const bool readable = both & Rights::readable ? true : false, writable = both & Rights::writable ? true : false;
  CHECK(readable);
  CHECK_FALSE(writable);
  const Rights common = both & Rights::owned;
  CHECK(common == Rights::owned);
  CHECK(((both & Rights::owned) | Rights::writable) == (Rights::owned | Rights::writable));
}

TEST_CASE("traits tell the bits of enumerations and bitmasks, and the digits of fixed") {
  CHECK(IDL::traits<Kinds::Sparse>::bit_bound::value == 8);
  CHECK(IDL::traits<Kinds::Colour>::bit_bound::value == 32);
  CHECK(IDL::traits<Kinds::Odd>::bit_bound::value == 5);
  CHECK(IDL::traits<IDL::Fixed<9, 2>>::digits() == 9);
  CHECK(IDL::traits<IDL::Fixed<9, 2>>::scale() == 2);
}

TEST_CASE("bitsets are equal when all their fields are") {
  Kinds::MoreFields a, b;
  a.high(3);
  CHECK(a != b);
  b.high(3);
  CHECK(a == b);
}

TEST_CASE("a derived structure can be made of its base") {
  Kinds::Base base;
  const Kinds::Derived derived{base, "b"};
  CHECK(derived.b() == "b");
}

}  // namespace kinds_test
