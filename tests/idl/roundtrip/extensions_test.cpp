// extensions.idl: optional members and maps survive both byte orders and an Any.
#include <map>

#include "extensionsC.h"
#include "orb/corba/any.h"
#include "orb/corba/print.h"
#include "tests/support/bytes/round_trip.h"

using corelane::ByteOrder;
using namespace corelane::test;

namespace {

Extra::Holder full() {
  Extra::Holder holder;
  holder.number(5);
  holder.text("here");
  holder.nested(Extra::Inner(7));
  holder.counts({{"a", 1}, {"b", 2}});
  holder.few()[Extra::Colour::green] = {"x", "y"};
  return holder;
}

constexpr const char* full_text =
    "Holder{number = [5], text = [\"here\"], nested = [Inner{a = 7}], counts = [pair{key = \"a\", value = 1}, "
    "pair{key = \"b\", value = 2}], few = [pair{key = green, value = [\"x\", \"y\"]}]}";

}  // namespace

TEST_CASE("optional members and maps survive both byte orders and an Any") {
  const ByteOrder order = any_order();
  CHECK(text(through_bytes(full(), order)) == full_text);
  CORBA::Any any;
  any <<= full();
  Extra::Holder out;
  REQUIRE((through_bytes(any, order) >>= out));
  CHECK(text(out) == full_text);
}

TEST_CASE("optional members may be missing and maps empty") {
  const ByteOrder order = any_order();
  const Extra::Holder out = through_bytes(Extra::Holder(), order);
  CHECK_FALSE(out.number());
  CHECK_FALSE(out.nested());
  CHECK(out.counts().empty());
  CHECK_FALSE(through_bytes(Extra::Failed(), order).why());
}

TEST_CASE("a map of structures keeps its keys") {
  const ByteOrder order = any_order();
  const Extra::Holders out = through_bytes(Extra::Holders{{-1, Extra::Holder()}, {9, full()}}, order);
  CHECK(out.size() == 2);
  CHECK(text(out.at(9)) == full_text);
}

TEST_CASE("a bounded map takes no more than its bound") {
  Extra::Holder holder = full();
  holder.few()[Extra::Colour::red] = {};
  CHECK(holder.few().size() == 2);
  CHECK_THROWS_AS(holder.few()[Extra::Colour(7)], CORBA::BAD_PARAM);
}

// Errors.

TEST_CASE("two values in an optional member, and a key twice, are refused") {
  const ByteOrder order = any_order();
  const auto minor_of = [&](auto value, std::initializer_list<std::uint32_t> words) {
    corelane::cdr::Writer writer(order);
    for (const std::uint32_t word : words) writer.write(word);
    corelane::cdr::Reader reader(writer.bytes(), order);
    return decode(reader, value) ? 0 : reader.minor();
  };
  CHECK(minor_of(IDL::optional<std::int32_t>(), {1, 5}) == 0);
  CHECK(minor_of(IDL::optional<std::int32_t>(), {2, 5, 6}) == corelane::minor::bound_exceeded);
  CHECK(minor_of(std::map<std::int32_t, std::int32_t>(), {2, 1, 5, 2, 6}) == 0);
  CHECK(minor_of(std::map<std::int32_t, std::int32_t>(), {2, 1, 5, 1, 6}) == corelane::minor::bad_map);
  CHECK(minor_of(std::map<std::int32_t, std::int32_t>(), {3, 1, 5, 2, 6}) == corelane::minor::truncated);
}
