// values.idl: what a peer may send, well-formed or not.
#include <random>

#include "orb/any/type_codec.h"
#include "tests/idl/roundtrip/values_fixture.h"
#include "tests/support/bytes/wire.h"

using namespace corelane::test;
using corelane::ByteOrder;
using Bytes = std::vector<std::byte>;
using corelane::cdr::Reader;
using corelane::cdr::Writer;

TEST_CASE("values need GIOP 1.2") {
  Writer writer;
  writer.set_wide_form(corelane::cdr::WideForm::fixed);
  encode(writer, node("a"));
  REQUIRE_FALSE(writer.ok());
  CHECK(writer.error().minor == corelane::minor::value_needs_giop_1_2);
  const Bytes bytes = bytes_of(ByteOrder::little, NodeRef());
  Reader reader(bytes, ByteOrder::little);
  reader.set_wide_form(corelane::cdr::WideForm::none);
  NodeRef out;
  CHECK_FALSE(decode(reader, out));
  CHECK(reader.minor() == corelane::minor::value_needs_giop_1_2);
}

TEST_CASE("values nested too deeply are not sent and not taken") {
  const Factories factories;
  NodeRef chain;
  for (int i = 0; i < 63; ++i) chain = node("x", chain);
  CHECK(through_bytes(chain, ByteOrder::little)->name() == "x");
  for (int i = 0; i < 2; ++i) chain = node("x", chain);
  Writer writer;
  encode(writer, chain);
  REQUIRE_FALSE(writer.ok());
  CHECK(writer.error().minor == corelane::minor::too_deep);
}

namespace {

// A value of Base (or of two types), as a peer may send it, big-endian: the tag, then the rest.
constexpr const char* base_id = "00000014 'IDL:Values/Base:1.0' 00 ";
struct Malformed {
  const char* what;
  std::string text;
  std::uint32_t minor;
};

}  // namespace

TEST_CASE("well-formed and malformed headers are told apart") {
  const Factories factories;
  using namespace corelane;
  const std::string id = base_id;
  const std::vector<Malformed> table = {
      {"one id", "7fffff02" + id + "00000001", 0},
      {"no id", "7fffff00 00000001", 0},
      {"a codebase", "7fffff03 00000004 'a:b' 00" + id + "00000001", 0},
      {"a list of ids", "7fffff06 00000001" + id + "00000001", 0},
      {"chunked", "7fffff0a" + id + "00000004 00000001 ffffffff", 0},
      {"two types, the first unknown",
       "7fffff0e 00000002 00000004 'abc' 00" + id + "00000008 00000001 00000002 ffffffff", 0},
      {"the first unknown, not chunked", "7fffff06 00000002 00000004 'abc' 00" + id + "00000001",
       minor::no_value_factory},
      {"nothing but a tag", "7fffff02", minor::truncated},
      {"a tag below", "7ffffeff 00000001", minor::bad_value_tag},
      {"a tag above", "7fffff12" + id + "00000001", minor::bad_value_tag},
      {"half a type", "7fffff04" + id + "00000001", minor::bad_value_tag},
      {"an empty list", "7fffff06 00000000 00000001", minor::bad_value_tag},
      {"a list longer than the message", "7fffff06 7fffffff" + id, minor::sequence_too_long},
      {"an unknown id", "7fffff02 00000004 'abc' 00 00000001", minor::no_value_factory},
      {"an id without end", "7fffff02 00000004 'abcd' 00000001", minor::bad_string},
      {"state missing", "7fffff02" + id, minor::truncated},
      {"an indirection to nothing", "ffffffff fffffffc", minor::bad_indirection},
      {"an indirection forward", "ffffffff 00000008", minor::bad_indirection},
      {"an indirection out of the message", "ffffffff fffff000", minor::bad_indirection},
      {"an odd indirection", "ffffffff fffffff9", minor::bad_indirection},
      {"an id that leads to nothing", "7fffff02 ffffffff fffffff8 00000001", minor::bad_indirection},
      {"a chunk longer than the message", "7fffff0a" + id + "00001000 00000001 ffffffff", minor::truncated},
      {"a chunk of less than its state", "7fffff0a" + id + "00000002 0000 0000 ffffffff", minor::truncated},
      {"a chunk of more than its state", "7fffff0a" + id + "00000008 00000001 00000002 ffffffff",
       minor::bad_value_state},
      {"a further chunk", "7fffff0a" + id + "00000004 00000001 00000004 00000002 ffffffff", minor::bad_value_state},
      {"an end of an inner level", "7fffff0a" + id + "00000004 00000001 fffffffe", minor::bad_value_tag},
      {"no end", "7fffff0a" + id + "00000004 00000001", minor::truncated},
      {"no chunk", "7fffff0a" + id + "ffffffff", minor::bad_value_tag},
      {"null in place of a chunk", "7fffff0a" + id + "00000000 00000001 ffffffff", minor::bad_value_tag},
  };
  for (const Malformed& row : table) {
    INFO(row.what);
    CHECK(refusal(test::wire(row.text), ByteOrder::big) == row.minor);
  }
}

// The last chunk of the first value is padded, as omniORB does.
TEST_CASE("a string may stand in several chunks, and an end tag may end several values") {
  const Factories factories;
  const std::string middle = "00000016 'IDL:Values/Middle:1.0' 00 0000";
  const std::string leaf_id = "00000014 'IDL:Values/Leaf:1.0' 00";
  const Bytes split =
      corelane::test::wire("7fffff0a" + middle + "0000000b 00000001 00000006 'abc' 00 00000004 'de' 00 00 ffffffff");
  BaseRef out;
  Reader in(split, ByteOrder::big);
  REQUIRE(decode(in, out));
  CHECK(text(out) == R"(Middle{id = 1, text = "abcde"})");
  const Bytes nested =
      corelane::test::wire("7fffff0a" + leaf_id + "00000018 00000001 00000002 'a' 00 0000 00000000 0000000000000000" +
                           "7fffff0a" + base_id + "00000004 00000005 ffffffff");
  Reader again(nested, ByteOrder::big);
  const bool taken = decode(again, out);
  INFO(again.minor());
  REQUIRE(taken);
  CHECK(text(out) == R"(Leaf{id = 1, text = "a", weight = 0, inner = Base{id = 5}})");
}

TEST_CASE("spoilt values are taken or refused, and what is taken can be sent on") {
  const Factories factories;
  const ByteOrder order = any_order();
  const BaseRef shared = leaf(2, leaf(3));
  const Circle circle(3);
  const auto packed = CORBA::make_reference<Packed>();
  packed->inner = shared;
  const Values::Holder holder(circle.first, CORBA::make_reference<Values::TextBox>("x"), ValueRef(packed),
                              {shared, leaf(1, shared), nullptr});
  const Bytes whole = bytes_of(order, holder, any_of(holder));
  std::minstd_rand random(4711);
  int taken = 0;
  for (int round = 0; round < 4'000; ++round) {
    Bytes wire = whole;
    for (std::size_t hits = random() % 3 + 1; hits > 0; --hits) {
      static constexpr unsigned char likely[] = {0, 1, 2, 4, 8, 0xff, 0xfe, 0x7f, 0x0a, 0x0e, 0x06, 29, 30};
      const auto pick = static_cast<unsigned>(random());
      wire[random() % wire.size()] = std::byte(pick % 2 == 0 ? likely[pick / 2 % sizeof likely] : pick / 2 % 256);
    }
    if (random() % 4 == 0) wire.resize(random() % wire.size());
    Reader reader(wire, order);
    Values::Holder out;
    CORBA::Any any;
    const bool values = decode(reader, out);
    // The owner of a circle breaks it, also if a later part of the message was refused.
    NodeRef at = out.first();
    const bool anys = values && decode(reader, any);
    if (anys) {
      ++taken;
      Writer writer(ByteOrder::big, 3);
      encode(writer, out);
      encode(writer, any);
      std::ostringstream printed;
      printed << out << any;
      Values::Holder again;
      if (any >>= again)
        for (NodeRef each = again.first(), next; each; each = next) next = each->next(), each->_let_go();
    }
    for (NodeRef next; at; at = next) next = at->next(), at->_let_go();
  }
  CHECK(taken > 20);
}

// JacORB writes such TypeCodes.
TEST_CASE("a derived value in an Any is whole where its TypeCode does not name the base") {
  const Factories factories;
  const ByteOrder order = any_order();
  corelane::any::TypeDesc baseless = *corelane::any::desc_of<CORBA::valuetype_reference<Values::Plain>>;
  REQUIRE(baseless.content != nullptr);
  baseless.content = nullptr;
  const auto plain = CORBA::make_reference<IDL::traits<Values::Plain>::obv_type>(7, std::uint8_t{9});
  Writer writer(order);
  encode(writer, corelane::any::TypeCode(baseless));
  encode(writer, CORBA::valuetype_reference<Values::Plain>(plain));
  encode(writer, std::string("behind"));
  REQUIRE(writer.ok());
  Reader reader(writer.bytes(), order);
  CORBA::Any any;
  std::string behind;
  REQUIRE(decode(reader, any));
  REQUIRE(decode(reader, behind));
  CHECK(behind == "behind");
  CORBA::valuetype_reference<Values::Plain> out;
  REQUIRE((any >>= out));
  CHECK(out->id() == 7);
  CHECK(out->flag() == 9);
}
