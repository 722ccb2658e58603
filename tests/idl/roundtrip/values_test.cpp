// values.idl: what generated value types do. They survive both byte orders when they are shared, in circles, truncated
// to a base, in chunks, in boxes and in Anys.
#include "tests/idl/roundtrip/values_fixture.h"

using namespace corelane::test;
using corelane::ByteOrder;
using Bytes = std::vector<std::byte>;
using corelane::cdr::Reader;
using corelane::cdr::Writer;

TEST_CASE("a value keeps its state through both byte orders") {
  const Factories factories;
  const ByteOrder order = any_order();
  const NodeRef out = through_bytes(node("a", node("b")), order);
  CHECK(text(out) == text(node("a", node("b"))));
  CHECK(text(out) == R"(Node{name = "a", next = Node{name = "b", next = null, more = [], secret = 7}, more = [], )"
                     R"(secret = 7})");
}

TEST_CASE("null stays null") {
  const ByteOrder order = any_order();
  CHECK(through_bytes(NodeRef(), order) == nullptr);
  CHECK(bytes_of(order, NodeRef()).size() == 4);
  CHECK(text(NodeRef()) == "null");
}

TEST_CASE("a value that is sent twice in a message arrives as one") {
  const Factories factories;
  const ByteOrder order = any_order();
  const NodeRef shared = node("shared");
  NodeRef a, b;
  read_into(bytes_of(order, node("front", shared), shared), order, a, b);
  CHECK(a->next() == b);
}

TEST_CASE("a circle of values arrives as a circle") {
  const Factories factories;
  const ByteOrder order = any_order();
  const Circle sent(5);
  const Circle arrived(through_bytes(sent.first, order));
  NodeRef at = arrived.first;
  for (int i = 0; i < 5; ++i) at = at->next();
  CHECK(at == arrived.first);
  CHECK(at->next() != arrived.first);
}

TEST_CASE("a derived value arrives as what it is") {
  const Factories factories;
  const ByteOrder order = any_order();
  const auto out = IDL::traits<Values::Leaf>::narrow(through_bytes(leaf(1, leaf(2)), order));
  REQUIRE(out);
  CHECK(out->id() == 1);
  CHECK(out->text() == "text");
  CHECK(out->weight() == 0.5);
  CHECK(out->inner()->id() == 2);
  CHECK_FALSE(IDL::traits<Values::Plain>::narrow(out));
}

TEST_CASE("a truncatable value is cut down to the first base that is known") {
  const Factories factories;
  const ByteOrder order = any_order();
  const Bytes bytes = bytes_of(order, leaf(1, leaf(2)), leaf(3));
  corelane::any::unregister_factory(Values::Leaf::_id);
  BaseRef a, b;
  read_into(bytes, order, a, b);
  CHECK(text(a) == R"(Middle{id = 1, text = "text"})");
  CHECK(b->id() == 3);
  corelane::any::unregister_factory(Values::Middle::_id);
  read_into(bytes, order, a, b);
  CHECK(text(a) == "Base{id = 1}");
}

TEST_CASE("a truncated value may be referred to later") {
  const Factories factories;
  const ByteOrder order = any_order();
  const BaseRef inner = CORBA::make_reference<IDL::traits<Values::Plain>::obv_type>(5, std::uint8_t{1});
  const Bytes bytes = bytes_of(order, leaf(1, inner), inner);
  corelane::any::unregister_factory(Values::Leaf::_id);
  BaseRef a, b;
  read_into(bytes, order, a, b);
  CHECK(text(a) == R"(Middle{id = 1, text = "text"})");
  CHECK(text(b) == "Plain{id = 5, flag = 1}");
}

TEST_CASE("a value of an unknown type that may not be cut down is refused") {
  const ByteOrder order = any_order();
  const Bytes bytes = bytes_of(order, BaseRef(CORBA::make_reference<IDL::traits<Values::Plain>::obv_type>(1, 2)));
  CHECK(refusal(bytes, order) == corelane::minor::no_value_factory);
  CHECK(refusal(bytes_of(order, leaf(1)), order) == corelane::minor::no_value_factory);
}

TEST_CASE("a value of another type than the declared one is refused") {
  const Factories factories;
  const ByteOrder order = any_order();
  CHECK(refusal(bytes_of(order, node("no base")), order) == corelane::minor::wrong_value_type);
}

TEST_CASE("boxes need no factory and keep what they hold") {
  const ByteOrder order = any_order();
  CHECK(through_bytes(CORBA::make_reference<Values::TextBox>("boxed"), order)->_value() == "boxed");
  const auto numbers = CORBA::make_reference<Values::NumbersBox>(std::vector<std::int32_t>{1, 2, 3});
  CHECK(through_bytes(numbers, order)->_value() == numbers->_value());
  CHECK(through_bytes(CORBA::make_reference<Values::PointBox>(Values::Point(1, 2)), order)->_value().y() == 2);
  CHECK(through_bytes(CORBA::make_reference<Values::ColourBox>(Values::Colour::green), order)->_value() ==
        Values::Colour::green);
  CHECK(text(numbers) == "NumbersBox{[1, 2, 3]}");
  numbers->_value({4});
  CHECK(numbers->_value().size() == 1);
}

TEST_CASE("a value with operations is made by its factory and found behind its abstract base") {
  const Factories factories;
  const ByteOrder order = any_order();
  CORBA::valuetype_reference<Values::Shape> shape = SquareFactory().make(3);
  CHECK(through_bytes(shape, order)->area() == 9);
}

TEST_CASE("a custom value writes and reads itself") {
  const Factories factories;
  const ByteOrder order = any_order();
  const auto packed = CORBA::make_reference<Packed>();
  packed->number(5);
  packed->text("custom");
  packed->inner = node("inside");
  CORBA::valuetype_reference<Values::Packed> sent = packed;
  const auto out = IDL::traits<Packed>::narrow(through_bytes(sent, order));
  REQUIRE(out);
  CHECK(out->number() == 5);
  CHECK(out->text() == "custom");
  CHECK(out->whole);
  CHECK(text(out->inner) == text(node("inside")));
  CHECK_THROWS_AS(out->kept->read_long(), CORBA::BAD_INV_ORDER);
}

TEST_CASE("structures, unions and sequences hold values") {
  const Factories factories;
  const ByteOrder order = any_order();
  const NodeRef shared = node("shared");
  const Values::Holder holder(shared, CORBA::make_reference<Values::TextBox>("box"), shared, {leaf(1), nullptr});
  const Values::Holder out = through_bytes(holder, order);
  CHECK(out.anything() == ValueRef(out.first()));
  CHECK(text(out) ==
        R"(Holder{first = Node{name = "shared", next = null, more = [], secret = 7}, box = TextBox{"box"}, )"
        R"(anything = (as before), bases = [Leaf{id = 1, text = "text", weight = 0.5, inner = null}, null]})");
  Values::Choice choice;
  choice.base_(leaf(4));
  CHECK(through_bytes(choice, order).base_()->id() == 4);
}

TEST_CASE("values travel in Anys with their own type") {
  const Factories factories;
  const ByteOrder order = any_order();
  const CORBA::Any sent = any_of(leaf(1, leaf(2)));
  CHECK(sent.type()->id() == Values::Leaf::_id);
  const CORBA::Any arrived = through_bytes(sent, order);
  CHECK(text(arrived) == text(sent));
  BaseRef base;
  CHECK((arrived >>= base));
  CHECK(text(base) == text(leaf(1, leaf(2))));
  CORBA::valuetype_reference<Values::Leaf> exact;
  CHECK((sent >>= exact));
  NodeRef other;
  CHECK_FALSE((arrived >>= other));
}

TEST_CASE("boxes, custom values, circles and structures with values travel in Anys") {
  const Factories factories;
  const ByteOrder order = any_order();
  CORBA::valuetype_reference<Values::TextBox> box;
  CHECK((through_bytes(any_of(CORBA::make_reference<Values::TextBox>("x")), order) >>= box));
  CHECK(box->_value() == "x");

  const auto packed = CORBA::make_reference<Packed>();
  packed->text("custom");
  CORBA::valuetype_reference<Values::Packed> custom;
  CHECK((through_bytes(any_of(CORBA::valuetype_reference<Values::Packed>(packed)), order) >>= custom));
  CHECK(custom->text() == "custom");

  const Circle circle(3);
  NodeRef first;
  CHECK((through_bytes(any_of(circle.first), order) >>= first));
  const Circle arrived(first);
  CHECK(first->next()->next()->next() == first);

  Values::Holder holder;
  CHECK((through_bytes(any_of(Values::Holder(node("n"), nullptr, nullptr, {leaf(1)})), order) >>= holder));
  CHECK(holder.bases().front()->id() == 1);
}

TEST_CASE("an Any is whole without the message that it came in") {
  const Factories factories;
  const ByteOrder order = any_order();
  const BaseRef shared = leaf(1);
  BaseRef first;
  CORBA::Any any;
  read_into(bytes_of(order, shared, any_of(shared)), order, first, any);
  BaseRef out;
  REQUIRE((through_bytes(any, order) >>= out));
  CHECK(text(out) == text(shared));
}

TEST_CASE("an Any with values passes through a chunked value") {
  const Factories factories;
  const ByteOrder order = any_order();
  const BaseRef holder = leaf(1, leaf(2));
  Writer writer(order);
  writer.write(std::uint8_t{1});  // changes the alignment
  encode(writer, any_of(holder));
  Reader reader(writer.bytes(), order);
  std::uint8_t first = 0;
  CORBA::Any any;
  REQUIRE((decode(reader, first) && decode(reader, any)));
  CHECK(text(through_bytes(any, order)) == text(any_of(holder)));
}

TEST_CASE("a copy is deep and keeps what is shared") {
  const Circle circle(3);
  const ValueRef copied = circle.first->_copy_value();
  const Circle copy(IDL::traits<Values::Node>::narrow(copied));
  CHECK(copy.first != circle.first);
  CHECK(copy.first->next() != circle.first->next());
  CHECK(copy.first->next()->next()->next() == copy.first);
  const ValueRef square = SquareFactory().make(2);
  CHECK_THROWS_AS(square->_copy_value(), CORBA::NO_IMPLEMENT);  // only its program can make one
  const Factories factories;
  CHECK(IDL::traits<Values::Square>::narrow(square->_copy_value())->side() == 2);
}

TEST_CASE("weak references end with the value") {
  NodeRef strong = node("a");
  const IDL::traits<Values::Node>::weak_ref_type weak = strong.weak_reference();
  CHECK(weak.lock() == strong);
  strong = nullptr;
  CHECK(weak.expired());
  CHECK_THROWS_AS(strong->name(), CORBA::INV_OBJREF);
}

TEST_CASE("the TypeCode of a value tells its state, visibility, base and modifier") {
  CHECK(Values::_tc_Node->kind() == CORBA::TCKind::tk_value);
  CHECK(Values::_tc_Node->member_visibility(0) == 1);
  CHECK(Values::_tc_Node->member_visibility(3) == 0);
  CHECK(Values::_tc_Node->member_type(1)->id() == Values::Node::_id);
  CHECK(Values::_tc_Leaf->type_modifier() == 3);
  CHECK(Values::_tc_Packed->type_modifier() == 1);
  CHECK(Values::_tc_Shape->type_modifier() == 2);
  CHECK(Values::_tc_Leaf->concrete_base_type()->id() == Values::Middle::_id);
  CHECK(Values::_tc_TextBox->kind() == CORBA::TCKind::tk_value_box);
  CHECK(Values::_tc_TextBox->content_type()->kind() == CORBA::TCKind::tk_string);
}

// Abstract interfaces.
