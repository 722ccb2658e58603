// external.idl: types that contain themselves through @external survive both byte orders and an Any.
#include <type_traits>

#include "externalS.h"
#include "orb/base/minor.h"
#include "orb/corba/any.h"
#include "orb/corba/print.h"
#include "tests/idl/roundtrip/values_fixture.h"
#include "tests/support/bytes/round_trip.h"

using corelane::ByteOrder;
using namespace corelane::test;

namespace {

Boxed::Id plain_id(std::int32_t x) {
  Boxed::Id id;
  id.x(x, 9);
  return id;
}
Boxed::Id seq_of(std::int32_t n, Boxed::Id element) {
  Boxed::Id id;
  id.seq(Boxed::Pair(n, std::move(element)));
  return id;
}
Boxed::Id three_deep() { return seq_of(1, seq_of(2, seq_of(3, plain_id(4)))); }

constexpr const char* three_deep_text =
    "Id{1: seq = Pair{n = 1, element = Id{1: seq = Pair{n = 2, element = Id{1: seq = Pair{n = 3, element = "
    "Id{9: x = 4}}}}}}}";

Boxed::Node list_of(int nodes) {
  Boxed::Node list(nodes, {});
  for (int v = nodes - 1; v > 0; --v) list = Boxed::Node(v, std::move(list));
  return list;
}

// Returns the minor code of the decoding error; 0 if decoding succeeds.
template <typename T>
std::uint32_t minor_of(T value, const std::vector<std::byte>& bytes) {
  corelane::cdr::Reader reader(bytes);
  return decode(reader, value) ? 0 : reader.minor();
}

class BoxedService : public virtual CORBA::servant_traits<Boxed::Service>::base_type {
 public:
  Boxed::Id echo(const Boxed::Id& value) override {
    if (value._d() == 9) throw Boxed::Lost(Boxed::Tree("lost", {}));
    return value;
  }
};

// Encodes the discriminators of `depth` nested unions, and the innermost member.
std::vector<std::byte> nested_unions(int depth) {
  corelane::cdr::Writer writer;
  for (int i = 0; i < depth; ++i) writer.write(std::uint8_t{2});
  writer.write(std::uint8_t{9});
  writer.write(std::int32_t{7});
  return writer.to_vector();
}

}  // namespace

TEST_CASE("a union that holds itself survives both byte orders and an Any") {
  const ByteOrder order = any_order();
  const Boxed::Id id = three_deep();
  CHECK(text(id) == three_deep_text);
  CHECK(text(through_bytes(id, order)) == three_deep_text);
  Boxed::Id out;
  REQUIRE((through_bytes(any_of(id), order) >>= out));
  CHECK(text(out) == three_deep_text);
}

TEST_CASE("an external member is encoded as its value alone") {
  const ByteOrder order = any_order();
  CHECK(bytes_of(order, Boxed::Pair(5, plain_id(6))) ==
        bytes_of(order, std::int32_t{5}, std::uint8_t{9}, std::int32_t{6}));
}

TEST_CASE("external members are passed, returned and raised by calls in the process and over TCP") {
  Server server;
  char name[] = "external", off[] = "off", ledger[] = "-ORBRuntimeLedger";
  char* arguments[] = {name, ledger, off, nullptr};
  int count = 3;
  const auto client = CORBA::ORB_init(count, arguments, "external");
  auto service = server.activate<Boxed::Service, BoxedService>();
  const bool is_local = GENERATE(true, false);
  if (!is_local)
    service = IDL::traits<Boxed::Service>::narrow(client->string_to_object(server.orb->object_to_string(service)));
  CHECK(text(service->echo(three_deep())) == three_deep_text);
  try {
    service->echo(plain_id(1));
    FAIL("nothing was raised");
  } catch (const Boxed::Lost& lost) {
    CHECK(lost.top()->name() == "lost");
  }
  Boxed::Id empty;
  empty.itself({});
  if (!is_local) CHECK_THROWS_AS(service->echo(empty), CORBA::BAD_PARAM);
  client->destroy();
}

TEST_CASE("the TypeCode of a type that holds itself survives both byte orders") {
  const ByteOrder order = any_order();
  const CORBA::Any any = through_bytes(any_of(three_deep()), order);
  CHECK(any.type()->equal(Boxed::_tc_Id));
  CHECK(through_bytes(any_of(list_of(2)), order).type()->equal(Boxed::_tc_Node));
}

TEST_CASE("an optional external member is encoded as a sequence of at most one") {
  const ByteOrder order = any_order();
  CHECK(bytes_of(order, list_of(2)) == bytes_of(order, 1, 1, 2, 0));
  CHECK(text(through_bytes(list_of(3), order)) == "Node{v = 1, next = [Node{v = 2, next = [Node{v = 3, next = []}]}]}");
  Boxed::Node out;
  REQUIRE((through_bytes(any_of(list_of(3)), order) >>= out));
  CHECK(out.next()->next()->v() == 3);
  CHECK_FALSE(out.next()->next()->next());
  // Decoding replaces the previous content.
  read_into(bytes_of(order, list_of(1)), order, out);
  CHECK_FALSE(out.next());
}

TEST_CASE("external members of exceptions, public structs and arrays survive both byte orders") {
  const ByteOrder order = any_order();
  Boxed::Tree tree("root", {});
  tree.below().push_back({Boxed::Tree("leaf", {})});
  CHECK(text(through_bytes(tree, order)) ==
        R"(Tree{name = "root", below = [Open{top = Tree{name = "leaf", below = []}}]})");
  CHECK(through_bytes(Boxed::Lost(tree), order).top()->below().front().top->name() == "leaf");
  Boxed::Twins twins;
  twins.both() = {Boxed::Twin(1, {}), Boxed::Twin(2, {})};
  CHECK(through_bytes(Boxed::Twin(0, twins), order).below()->both()[1]->v() == 2);
  Boxed::Service::Inner inner(Boxed::Service::Inner({}, 2), 1);
  CHECK(through_bytes(inner, order).next()->v() == 2);
}

TEST_CASE("arrays of external members, and members of derived structs, survive both byte orders") {
  const ByteOrder order = any_order();
  Boxed::Fork fork({}, 1);
  fork.prongs(std::array<IDL::external<Boxed::Fork>, 2>{Boxed::Fork({}, 2), Boxed::Fork({}, 3)});
  CHECK(text(through_bytes(fork, order)) ==
        "Fork{prongs = [[Fork{prongs = [], v = 2}, Fork{prongs = [], v = 3}]], v = 1}");
  Boxed::Cross cross, arm;
  arm.x(list_of(1), 7);
  cross.arms({arm, arm, arm, arm});
  CHECK(through_bytes(cross, order).arms()[3]->x().v() == 1);
  const Boxed::Longer longer(list_of(2), Boxed::Longer(list_of(1), {}, list_of(1)), list_of(3));
  CHECK(through_bytes(longer, order).other()->one()->v() == 1);
}

TEST_CASE("external members of local types are copied with them") {
  Boxed::Visit visit;
  visit.next(Boxed::Visit());
  const Boxed::Closed closed(visit);
  CHECK(closed.at()->next());
  CHECK_FALSE(closed.at()->next()->next());
}

TEST_CASE("a value that an external member of its own state refers to survives both byte orders") {
  const ByteOrder order = any_order();
  using CarrierRef = IDL::traits<Boxed::Carrier>::ref_type;
  const auto factory = CORBA::make_reference<Boxed::Carrier_init>();
  corelane::any::register_factory(Boxed::Carrier::_id, factory.shared());
  const CarrierRef carrier = CORBA::make_reference<IDL::traits<Boxed::Carrier>::obv_type>(Boxed::State(8, nullptr));
  carrier->kept()->more(carrier);
  const CarrierRef out = through_bytes(carrier, order);
  CHECK(out->kept()->v() == 8);
  CHECK(out->kept()->more() == out);
  for (const CarrierRef& circle : {carrier, out}) circle->kept()->more(nullptr);
  corelane::any::unregister_factory(Boxed::Carrier::_id);
}

TEST_CASE("@external has the same effect whether the struct or union is complete or not, and none on other types") {
  static_assert(std::is_same_v<decltype(Boxed::Holder().known()), IDL::external<Boxed::Pair>&>);
  static_assert(std::is_same_v<decltype(Boxed::Household::head), IDL::external<Boxed::Pair>>);
  static_assert(std::is_same_v<decltype(Boxed::Holder().number()), std::int32_t&>);
  const ByteOrder order = any_order();
  const Boxed::Household home{Boxed::Pair(1, plain_id(2))};
  CHECK(text(through_bytes(home, order)) == "Household{head = Pair{n = 1, element = Id{9: x = 2}}}");
}

TEST_CASE("optional branches of a union survive both byte orders and an Any") {
  const ByteOrder order = any_order();
  Boxed::Choice number, choice;
  number.x(4);
  choice.inner(number);
  CHECK(text(through_bytes(choice, order)) == "Choice{true: inner = [Choice{false: x = [4]}]}");
  Boxed::Choice out;
  REQUIRE((through_bytes(any_of(choice), order) >>= out));
  CHECK(out.inner()->x() == 4);
}

TEST_CASE("an external member is copied deeply, moved, and compared by value") {
  IDL::external<std::string> a(std::string("x")), b = a;
  CHECK(a == b);
  CHECK(a.get() != b.get());
  *b = "y";
  CHECK_FALSE(a == b);
  const std::string* const at = b.get();
  a = std::move(b);
  CHECK(a.get() == at);
  CHECK_FALSE(b);
  CHECK_FALSE(a == b);
  a.reset();
  CHECK(a == b);
  const Boxed::Id original = three_deep();
  Boxed::Id copy = original;
  copy.seq().element()->seq().n(7);
  CHECK(text(original) == three_deep_text);
}

TEST_CASE("an external member can be assigned a part of itself") {
  Boxed::Node list = list_of(3);
  SECTION("copied") { list.next() = list.next()->next(); }
  SECTION("moved") { list.next() = std::move(list.next()->next()); }
  SECTION("emplaced") { list.next().emplace(*list.next()->next()); }
  CHECK(text(list) == "Node{v = 1, next = [Node{v = 3, next = []}]}");
}

// Edge cases: the depth.

TEST_CASE("64 external members within each other are read and 65 refused") {
  constexpr int most = corelane::cdr::Reader::max_depth;
  CHECK(minor_of(Boxed::Id(), nested_unions(most)) == 0);
  CHECK(minor_of(Boxed::Id(), nested_unions(most + 1)) == corelane::minor::too_deep);
  CHECK(minor_of(Boxed::Id(), nested_unions(1'000'000)) == corelane::minor::too_deep);
  CHECK(minor_of(Boxed::Node(), bytes_of(ByteOrder::little, list_of(most))) == 0);
  CHECK(minor_of(Boxed::Node(), bytes_of(ByteOrder::little, list_of(most + 2))) == corelane::minor::too_deep);
}

TEST_CASE("an Any refuses a value that is nested too deeply") {
  std::vector<std::byte> bytes = bytes_of(corelane::native_order, any_of(plain_id(1)).type());
  const std::vector<std::byte> value = nested_unions(1'000'000);
  bytes.insert(bytes.end(), value.begin(), value.end());
  CHECK(minor_of(CORBA::Any(), bytes) == corelane::minor::too_deep);
}

// Errors.

TEST_CASE("an empty external member cannot be sent or looked into") {
  corelane::cdr::Writer writer;
  encode(writer, Boxed::Pair());
  REQUIRE_FALSE(writer.ok());
  CHECK(writer.error().kind == corelane::ErrorKind::bad_param);
  CHECK(writer.error().minor == corelane::minor::empty_external);
  corelane::cdr::Writer any_writer;
  encode(any_writer, any_of(Boxed::Pair()));
  CHECK(any_writer.error().minor == corelane::minor::empty_external);
  CHECK(text(Boxed::Pair()) == "Pair{?}");
  Boxed::Pair pair;
  CHECK(pair.element().get() == nullptr);
  CHECK_THROWS_AS(*pair.element(), CORBA::BAD_PARAM);
  CHECK_THROWS_AS(pair.element()->_d(), CORBA::BAD_PARAM);
}

TEST_CASE("bytes that end within an external member, and two values in an optional one, are refused") {
  std::vector<std::byte> bytes = bytes_of(corelane::native_order, three_deep());
  bytes.pop_back();
  CHECK(minor_of(Boxed::Id(), bytes) == corelane::minor::truncated);
  CHECK(minor_of(Boxed::Node(), bytes_of(corelane::native_order, 1, 2, 5, 0)) == corelane::minor::bound_exceeded);
}
