// values.idl: what generated value types do, and that they survive both byte orders: shared, in circles, cut down to a
// base, in chunks, in boxes and in Anys.
#include <catch2/catch.hpp>
#include <functional>
#include <random>
#include <sstream>

#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"
#include "orb/core/reference.h"
#include "tests/support/wire.h"
#include "valuesS.h"

using corelane::ByteOrder;
using corelane::cdr::Reader;
using corelane::cdr::Writer;
using Bytes = std::vector<std::byte>;

namespace {

using NodeRef = CORBA::valuetype_reference<Values::Node>;
using BaseRef = CORBA::valuetype_reference<Values::Base>;
using ValueRef = CORBA::valuetype_reference<CORBA::ValueBase>;

class Square : public IDL::traits<Values::Square>::obv_type {
 public:
  double area() override { return side() * side(); }
  std::string label() override { return "square"; }
  void label(const std::string&) override {}
};

class SquareFactory : public IDL::traits<Values::Square>::factory_type {
 public:
  CORBA::valuetype_reference<Values::Square> make(double side) override {
    auto made = CORBA::make_reference<Square>();
    made->side(side);
    return made;
  }
  ValueRef create_for_unmarshal() override { return CORBA::make_reference<Square>(); }
};

// Writes its members the other way round, and a value between them.
class Packed : public IDL::traits<Values::Packed>::obv_type {
 public:
  void marshal(CORBA::DataOutputStream::_ref_type stream) override {
    stream->write_string(text());
    stream->write_Value(inner);
    stream->write_octet_array({1, 2, 3}, 1, 2);
    stream->write_long(number());
  }
  void unmarshal(CORBA::DataInputStream::_ref_type stream) override {
    text(stream->read_string());
    inner = stream->read_Value();
    std::vector<std::uint8_t> octets;
    stream->read_octet_array(octets, 0, 2);
    number(stream->read_long());
    whole = octets == std::vector<std::uint8_t>{2, 3};
    kept = stream;
  }
  void _let_go() override { inner = nullptr; }

  ValueRef inner;
  bool whole = false;
  CORBA::DataInputStream::_ref_type kept;
};

class PackedFactory : public IDL::traits<Values::Packed>::factory_type {
 public:
  ValueRef create_for_unmarshal() override { return CORBA::make_reference<Packed>(); }
};

// One of a Described that is a value, and one that is an object.
class Note : public IDL::traits<Values::Note>::obv_type {
 public:
  explicit Note(const std::string& what = {}) { text(what); }
  std::string describe(const std::string& how) override { return how + " note " + text(); }
  std::int32_t mark() override { return 1; }
  void mark(std::int32_t) override {}
  std::int32_t weight() override { return 2; }
};

class NoteFactory : public IDL::traits<Values::Note>::factory_type {
 public:
  ValueRef create_for_unmarshal() override { return CORBA::make_reference<Note>(); }
};

class Better : public virtual CORBA::servant_traits<Values::Better>::base_type {
 public:
  std::string describe(const std::string& how) override {
    if (how.empty()) throw Values::Refused(nullptr);
    return how + " object";
  }
  std::int32_t mark() override { return mark_; }
  void mark(std::int32_t value) override { mark_ = value; }
  std::int32_t weight() override { return 3; }
  void drop() override {}
  std::string more() override { return "more"; }

 private:
  std::int32_t mark_ = 0;
};

class Service : public virtual CORBA::servant_traits<Values::Service>::base_type {
 public:
  NodeRef head() override { return head_; }
  void head(NodeRef value) override { head_ = value; }
  NodeRef swap(NodeRef a, NodeRef& b, NodeRef& c) override {
    if (!a) throw Values::Refused(CORBA::make_reference<IDL::traits<Values::Base>::obv_type>(4));
    c = b;
    b = a;
    return a;
  }
  Values::Holder hold(const Values::Holder& value, std::int32_t) override { return value; }
  CORBA::abstractbase_reference<Values::Described> pass(CORBA::abstractbase_reference<Values::Described> a,
                                                        CORBA::abstractbase_reference<Values::Described>&,
                                                        CORBA::abstractbase_reference<Values::Weighed>& c) override {
    c = IDL::traits<Values::Weighed>::narrow(a);
    return a;
  }
  CORBA::Any wrap(const CORBA::Any& value) override { return value; }

 private:
  NodeRef head_;
};

// An ORB of its own, with servants.
class Server {
 public:
  Server() {
    char name[] = "values", ledger[] = "-ORBRuntimeLedger", off[] = "off";
    char* arguments[] = {name, ledger, off, nullptr};
    int count = 3;
    orb = CORBA::ORB_init(count, arguments, "values");
    poa = IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
    poa->the_POAManager()->activate();
  }
  ~Server() { orb->destroy(); }

  template <typename Interface, typename Servant>
  CORBA::object_reference<Interface> activate() {
    return IDL::traits<Interface>::narrow(poa->id_to_reference(poa->activate_object(CORBA::make_reference<Servant>())));
  }

  CORBA::object_reference<CORBA::ORB> orb;
  CORBA::object_reference<PortableServer::POA> poa;
};

template <typename Factory>
void add_factory() {
  const auto factory = CORBA::make_reference<Factory>();
  corelane::any::register_factory(factory->_obv_repository_id(), factory.shared());
}

// All factories, as long as it lives.
struct Factories {
  Factories() {
    add_factory<Values::Node_init>();
    add_factory<Values::Base_init>();
    add_factory<Values::Middle_init>();
    add_factory<Values::Leaf_init>();
    add_factory<Values::Plain_init>();
    add_factory<SquareFactory>();
    add_factory<PackedFactory>();
    add_factory<NoteFactory>();
  }
  ~Factories() {
    for (const char* id : {Values::Node::_id, Values::Base::_id, Values::Middle::_id, Values::Leaf::_id,
                           Values::Plain::_id, Values::Square::_id, Values::Packed::_id, Values::Note::_id})
      corelane::any::unregister_factory(id);
  }
};

NodeRef node(const std::string& name, NodeRef next = nullptr) {
  return CORBA::make_reference<IDL::traits<Values::Node>::obv_type>(name, next, Values::Nodes{}, 7);
}

BaseRef leaf(std::int32_t id, BaseRef inner = nullptr) {
  return CORBA::make_reference<IDL::traits<Values::Leaf>::obv_type>(id, "text", 0.5, inner);
}

ByteOrder any_order() { return GENERATE(ByteOrder::little, ByteOrder::big); }

template <typename... T>
Bytes bytes_of(ByteOrder order, const T&... values) {
  Writer writer(order);
  (encode(writer, values), ...);
  REQUIRE(writer.ok());
  return writer.to_vector();
}

template <typename... T>
void read_into(const Bytes& bytes, ByteOrder order, T&... values) {
  Reader reader(bytes, order);
  REQUIRE((decode(reader, values) && ...));
  CHECK(reader.remaining() == 0);
}

template <typename T>
T through_bytes(const T& value, ByteOrder order) {
  T out{};
  read_into(bytes_of(order, value), order, out);
  return out;
}

template <typename T>
CORBA::Any any_of(const T& value) {
  CORBA::Any any;
  any <<= value;
  return any;
}

template <typename T>
std::string text(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

// A circle of `count` nodes, which its owner breaks.
class Circle {
 public:
  explicit Circle(int count) : first(node("first")) {
    NodeRef last = first;
    for (int i = 1; i < count; ++i) {
      const NodeRef added = node("more");
      last->next(added);
      last = added;
    }
    last->next(first);
  }
  explicit Circle(NodeRef of) : first(std::move(of)) {}
  ~Circle() {
    if (first) first->next(nullptr);
  }
  NodeRef first;
};

std::uint32_t refusal(const Bytes& bytes, ByteOrder order) {
  Reader reader(bytes, order);
  BaseRef out;
  return decode(reader, out) ? 0 : reader.minor();
}

}  // namespace

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

TEST_CASE("what was cut off may be referred to later") {
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
  writer.write(std::uint8_t{1});  // another alignment
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

// Error paths.

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

// A value of Base (or of two types) as a peer may send it, big-endian: `tag`, then the rest.
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

// The last chunk of the first is filled up, as omniORB does.
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
    // What a circle holds together its owner breaks, also where the message was refused behind it.
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
