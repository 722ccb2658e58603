#include "orb/giop/headers.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "orb/base/minor.h"
#include "orb/giop/ior.h"
#include "tests/support/bytes/wire.h"
#include "tests/support/law.h"

using namespace corelane;
using namespace corelane::giop;
using namespace corelane::testing;
using test::text_of;
using test::wire;

namespace {

// Written by hand from the standard.
// GIOP 1.0, big endian: request 5, two-way, object "obj1", operation "ping", one long 42.
const auto ping_1_0 = wire(
    "'GIOP' 0100 00 00 00000028"
    "00000000 00000005 01 000000 00000004 'obj1' 00000005 'ping' 00 000000 00000000 0000002a");
// GIOP 1.2, little endian: request 9, two-way, key "k", operation "f", contexts 1 and 10, one double 1.0.
const auto call_1_2 = wire(
    "'GIOP' 0102 01 00 4c000000"
    "09000000 03 000000 0000 0000 01000000 'k' 000000 02000000 'f' 00 0000 02000000"
    "01000000 0c000000 01000000 01000105 09010100"
    "0a000000 04000000 01 00 0500"
    "00000000 000000000000f03f");

Message message_of(const std::vector<std::byte>& bytes) {
  const Expected<Message> message = parse_message(bytes);
  REQUIRE(message);
  return *message;
}

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

struct Form {
  Version version;
  ByteOrder order;
};
const std::vector<Form> forms = {{giop_1_0, ByteOrder::big}, {giop_1_0, ByteOrder::little},
                                 {giop_1_1, ByteOrder::big}, {giop_1_1, ByteOrder::little},
                                 {giop_1_2, ByteOrder::big}, {giop_1_2, ByteOrder::little}};

// Checks that `parse` refuses every shorter message.
template <typename Parse>
void check_truncations(const std::vector<std::byte>& bytes, std::size_t header_end, Parse&& parse) {
  for (std::size_t size = header_size; size < header_end; ++size) {
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    const Expected<MessageHeader> header = parse_header(cut);
    REQUIRE(header);
    INFO("cut to " << size);
    CHECK_FALSE(parse(Message{*header, cut}));
  }
}

}  // namespace

TEST_CASE("a recorded GIOP 1.0 request is understood") {
  const auto parsed = parse_request(message_of(ping_1_0), {});
  REQUIRE(parsed);
  CHECK(parsed->header.request_id == 5);
  CHECK(parsed->header.response_expected());
  CHECK(text_of(parsed->header.target.object_key) == "obj1");
  CHECK(parsed->header.operation == "ping");
  CHECK(parsed->header.contexts.size() == 0);
  cdr::Reader body = parsed->body;
  std::int32_t argument = 0;
  REQUIRE(body.read(argument));
  CHECK(argument == 42);
  CHECK(body.remaining() == 0);
}

TEST_CASE("a recorded GIOP 1.2 request with contexts is understood") {
  const auto parsed = parse_request(message_of(call_1_2), {});
  REQUIRE(parsed);
  CHECK(parsed->header.request_id == 9);
  CHECK(text_of(parsed->header.target.object_key) == "k");
  CHECK(parsed->header.operation == "f");
  REQUIRE(parsed->header.contexts.size() == 2);
  CHECK(find_context(parsed->header.contexts, context::code_sets)->size() == 12);
  CHECK(find_context(parsed->header.contexts, context::rt_priority)->size() == 4);
  CHECK_FALSE(find_context(parsed->header.contexts, context::chain));
  cdr::Reader body = parsed->body;
  double argument = 0;
  REQUIRE(body.read(argument));
  CHECK(argument == 1.0);
}

TEST_CASE("a request is written as recorded") {
  cdr::Writer writer;
  Target target;
  target.object_key = bytes_of("obj1");
  begin_request(writer, {5, response::with_target, target, "ping", {}}, {}, giop_1_0, ByteOrder::big);
  writer.write(std::int32_t{42});
  REQUIRE(finish(writer));
  CHECK(writer.to_vector() == ping_1_0);
}

TEST_CASE("contexts are visited in order") {
  const auto parsed = parse_request(message_of(call_1_2), {});
  REQUIRE(parsed);
  std::vector<std::uint32_t> ids;
  parsed->header.contexts.each([&](const ServiceContext& item) { ids.push_back(item.id); });
  CHECK(ids == std::vector<std::uint32_t>{1, 10});
}

TEST_CASE("requests come back as they went in every version and order") {
  CHECK(holds([](Draw& draw) {
    const auto id = draw.any<std::uint32_t>();
    const bool two_way = draw.flag();
    const std::string key = draw.binary(), operation = draw.text();
    const std::vector<std::byte> data = draw.bytes();
    const auto argument = draw.any<double>();
    const ServiceContext contexts[] = {{context::chain, data}, {3, {}}};
    for (const Form form : forms) {
      cdr::Writer writer;
      RequestHeader header;
      header.request_id = id;
      header.response_flags = two_way ? response::with_target : response::none;
      header.target.object_key = bytes_of(key);
      header.operation = operation;
      begin_request(writer, header, contexts, form.version, form.order);
      writer.write(argument);
      expect(finish(writer), "it is written");
      const auto bytes = writer.to_vector();
      const auto parsed = parse_request(*parse_message(bytes), {});
      expect(bool(parsed), "it is understood");
      expect(parsed->header.request_id == id, "the id is the same");
      expect(parsed->header.response_expected() == two_way, "an answer is expected as it was");
      expect(text_of(parsed->header.target.object_key) == key, "the key is the same");
      expect(parsed->header.operation == operation, "the operation is the same");
      expect(parsed->header.contexts.size() == 2u, "both contexts are there");
      expect(text_of(*parsed->header.contexts.find(context::chain)) == text_of(contexts[0].data),
             "the context is the same");
      cdr::Reader body = parsed->body;
      double out = 0;
      expect(body.read(out) && out == argument && body.remaining() == 0u, "the argument is the same");
      if (form.version == giop_1_2) expect((body.offset() - sizeof out) % 8 == 0u, "the body is aligned");
    }
  }));
}

TEST_CASE("replies come back as they went in every version and order") {
  CHECK(holds([](Draw& draw) {
    const auto id = draw.any<std::uint32_t>();
    const std::vector<std::byte> data = draw.bytes();
    const auto result = draw.any<std::int64_t>();
    const ServiceContext contexts[] = {{context::refusal, data}};
    for (const Form form : forms) {
      cdr::Writer writer;
      begin_reply(writer, {id, ReplyStatus::user_exception, {}}, contexts, form.version, form.order);
      writer.write(result);
      expect(finish(writer), "it is written");
      const auto bytes = writer.to_vector();
      const auto parsed = parse_reply(*parse_message(bytes), {});
      expect(bool(parsed), "it is understood");
      expect(parsed->header.request_id == id, "the id is the same");
      expect(parsed->header.status == ReplyStatus::user_exception, "the status is the same");
      expect(parsed->header.contexts.find(context::refusal)->size() == data.size(), "the context is as long");
      cdr::Reader body = parsed->body;
      std::int64_t out = 0;
      expect(body.read(out) && out == result && body.remaining() == 0u, "the result is the same");
    }
  }));
}

TEST_CASE("locate and cancel messages come back as they went") {
  for (const Form form : forms) {
    cdr::Writer writer;
    LocateRequestHeader request{3, {}};
    request.target.object_key = bytes_of("key");
    begin_locate_request(writer, request, form.version, form.order);
    REQUIRE(finish(writer));
    auto bytes = writer.to_vector();
    const auto located = parse_locate_request(message_of(bytes), {});
    REQUIRE(located);
    CHECK(located->header.request_id == 3);
    CHECK(text_of(located->header.target.object_key) == "key");

    begin_locate_reply(writer, {3, LocateStatus::object_here}, form.version, form.order);
    REQUIRE(finish(writer));
    bytes = writer.to_vector();
    const auto reply = parse_locate_reply(message_of(bytes));
    REQUIRE(reply);
    CHECK(reply->header.request_id == 3);
    CHECK(reply->header.status == LocateStatus::object_here);

    write_cancel_request(writer, 3, form.version, form.order);
    bytes = writer.to_vector();
    const auto cancelled = parse_cancel_request(message_of(bytes));
    REQUIRE(cancelled);
    CHECK(*cancelled == 3);
  }
}

TEST_CASE("messages without a body are the header alone") {
  cdr::Writer writer;
  write_close_connection(writer, giop_1_2, ByteOrder::big);
  CHECK(writer.to_vector() == wire("'GIOP' 0102 00 05 00000000"));
  write_message_error(writer, giop_1_0, ByteOrder::little);
  CHECK(writer.to_vector() == wire("'GIOP' 0100 01 06 00000000"));
}

TEST_CASE("a 1.2 target may be a profile or a reference") {
  const auto key = test::copy_of(bytes_of("inside"));
  const Ior ior{"IDL:X:1.0", {{99, key}, make_profile({giop_1_2, {"host", 1}, key, {}})}};
  RequestHeader header;
  header.operation = "f";
  SECTION("profile") {
    header.target.addressing = Addressing::profile;
    header.target.profile_tag = profile::iiop;
    header.target.profile = ior.profiles[1].data;
  }
  SECTION("reference") {
    header.target.addressing = Addressing::reference;
    header.target.selected_profile = 1;
    header.target.reference = &ior;
  }
  cdr::Writer writer;
  begin_request(writer, header);
  REQUIRE(finish(writer));
  const auto bytes = writer.to_vector();
  const auto parsed = parse_request(message_of(bytes), {});
  REQUIRE(parsed);
  CHECK(parsed->header.target.addressing == header.target.addressing);
  CHECK(text_of(parsed->header.target.object_key) == "inside");
  CHECK(parsed->header.operation == "f");
}

TEST_CASE("a target by an unknown kind of profile has no key") {
  RequestHeader header;
  header.target.addressing = Addressing::profile;
  header.target.profile_tag = 99;
  header.target.profile = bytes_of("whatever");
  cdr::Writer writer;
  begin_request(writer, header);
  REQUIRE(finish(writer));
  const auto bytes = writer.to_vector();
  const auto parsed = parse_request(message_of(bytes), {});
  REQUIRE(parsed);
  CHECK(parsed->header.target.object_key.empty());
}

TEST_CASE("an empty 1.2 body has no padding") {
  cdr::Writer writer;
  RequestHeader header;
  header.operation = "f";
  begin_request(writer, header);
  REQUIRE(finish(writer));
  CHECK(writer.size() == 12 + 4 + 4 + 4 + 4 + 4 + 2 + 2 + 4);
  const auto bytes = writer.to_vector();
  const auto parsed = parse_request(message_of(bytes), {});
  REQUIRE(parsed);
  CHECK(parsed->body.remaining() == 0);
}

TEST_CASE("every system exception comes back with its minor code and completion") {
  for (int kind = 0; kind < error_kinds; ++kind) {
    const Error error{static_cast<ErrorKind>(kind), static_cast<Completion>(kind % 3), 0x434c4001};
    cdr::Writer writer;
    encode_system_exception(writer, error);
    REQUIRE(writer.ok());
    cdr::Reader reader(writer.bytes());
    const Expected<Error> out = decode_system_exception(reader);
    REQUIRE(out.has_value());
    CHECK(out.value() == error);
  }
}

TEST_CASE("an exception that is not standard reads as UNKNOWN") {
  cdr::Writer writer;
  writer.write_string("IDL:acme/ODD:1.0");
  writer.write(std::uint32_t{7});
  writer.write(std::uint32_t{1});
  cdr::Reader reader(writer.bytes());
  const Expected<Error> out = decode_system_exception(reader);
  REQUIRE(out.has_value());
  CHECK(out.value() == Error{ErrorKind::unknown, Completion::no, 7});
}

// Edges.

TEST_CASE("a message may have as many contexts as the limit says and no more") {
  const std::size_t count = GENERATE(std::size_t{3}, std::size_t{4}, std::size_t{5});
  Limits limits;
  limits.contexts = 4;
  const std::vector<ServiceContext> contexts(count, {1, {}});
  cdr::Writer writer;
  begin_reply(writer, {}, contexts);
  REQUIRE(finish(writer));
  const auto bytes = writer.to_vector();
  const auto parsed = parse_reply(message_of(bytes), limits);
  REQUIRE(parsed.has_value() == (count <= 4));
  if (!parsed) CHECK(parsed.error().minor == minor::too_many_contexts);
}

TEST_CASE("a target reference may have as many profiles as the limit says and no more") {
  const std::size_t count = GENERATE(std::size_t{3}, std::size_t{4}, std::size_t{5});
  Limits limits;
  limits.profiles = 4;
  const Ior ior{"", std::vector<TaggedProfile>(count, {9, {}})};
  LocateRequestHeader header;
  header.target.addressing = Addressing::reference;
  header.target.reference = &ior;
  cdr::Writer writer;
  begin_locate_request(writer, header);
  REQUIRE(finish(writer));
  const auto bytes = writer.to_vector();
  CHECK(parse_locate_request(message_of(bytes), limits).has_value() == (count <= 4));
}

TEST_CASE("a selected profile must be one of the reference") {
  const std::uint32_t index = GENERATE(0u, 1u, 2u, 0xffffffffu);
  const Ior ior{"", {{9, {}}, {9, {}}}};
  LocateRequestHeader header;
  header.target.addressing = Addressing::reference;
  header.target.reference = &ior;
  header.target.selected_profile = index;
  cdr::Writer writer;
  begin_locate_request(writer, header);
  REQUIRE(finish(writer));
  const auto bytes = writer.to_vector();
  CHECK(parse_locate_request(message_of(bytes), {}).has_value() == (index < 2));
}

TEST_CASE("a status is known to its version or refused") {
  const auto status = GENERATE(ReplyStatus::location_forward, ReplyStatus::location_forward_perm,
                               ReplyStatus::needs_addressing_mode, static_cast<ReplyStatus>(6));
  for (const Version version : {giop_1_1, giop_1_2}) {
    cdr::Writer writer;
    begin_reply(writer, {1, status, {}}, {}, version);
    REQUIRE(finish(writer));
    const auto bytes = writer.to_vector();
    const auto last = version == giop_1_1 ? ReplyStatus::location_forward : ReplyStatus::needs_addressing_mode;
    CHECK(parse_reply(message_of(bytes), {}).has_value() == (status <= last));
  }
}

// Error paths.

TEST_CASE("a header of something else is refused for what it is") {
  const auto minor_of = [](std::string_view text) { return parse_header(wire(text)).error().minor; };
  CHECK(minor_of("'GIOQ' 0102 01 00 00000000") == minor::bad_magic);
  CHECK(minor_of("'giop' 0102 01 00 00000000") == minor::bad_magic);
  CHECK(minor_of("'GIOP' 0103 01 00 00000000") == minor::bad_version);
  CHECK(minor_of("'GIOP' 0200 01 00 00000000") == minor::bad_version);
  CHECK(minor_of("'GIOP' 0002 01 00 00000000") == minor::bad_version);
  CHECK(minor_of("'GIOP' 0102 01 08 00000000") == minor::bad_message_type);
  CHECK(minor_of("'GIOP' 0100 01 07 00000000") == minor::bad_message_type);
  CHECK(minor_of("'GIOP' 0102 01 00 000000") == minor::truncated);
}

TEST_CASE("the short way to read a usual header reads what the long way reads") {
  cdr::Writer writer;
  write_close_connection(writer, giop_1_2, native_order);
  const std::vector<std::byte> usual = writer.to_vector();
  MessageHeader ignored;
  CHECK(parse_usual_header(usual, ignored));
  for (std::size_t at = 0; at < usual.size(); ++at) {
    for (unsigned value = 0; value < 256; ++value) {
      std::vector<std::byte> bytes = usual;
      bytes[at] = static_cast<std::byte>(value);
      const auto header = parse_header(bytes), expected = parse_any_header(bytes);
      REQUIRE(header.has_value() == expected.has_value());
      if (!header) continue;
      CHECK(header->version == expected->version);
      CHECK(header->order == expected->order);
      CHECK(header->more_fragments == expected->more_fragments);
      CHECK(header->type == expected->type);
      CHECK(header->body_size == expected->body_size);
    }
  }
}

TEST_CASE("every truncation of a recorded request is refused") {
  const auto parse = [](const Message& message) { return parse_request(message, {}).has_value(); };
  check_truncations(ping_1_0, ping_1_0.size() - 4, parse);
  check_truncations(call_1_2, call_1_2.size() - 12, parse);
}

TEST_CASE("every truncation of a recorded reply and locate message is refused") {
  const auto reply = wire("'GIOP' 0102 00 01 00000000 00000001 00000000 00000001 0000000e 00000002 0001");
  check_truncations(reply, reply.size(), [](const Message& m) { return parse_reply(m, {}).has_value(); });
  const auto locate = wire("'GIOP' 0102 00 03 00000000 00000001 0000 0000 00000003 'key'");
  check_truncations(locate, locate.size(), [](const Message& m) { return parse_locate_request(m, {}).has_value(); });
  const auto located = wire("'GIOP' 0100 00 04 00000000 00000001 00000001");
  check_truncations(located, located.size(), [](const Message& m) { return parse_locate_reply(m).has_value(); });
  const auto cancel = wire("'GIOP' 0101 00 02 00000000 00000001");
  check_truncations(cancel, cancel.size(), [](const Message& m) { return parse_cancel_request(m).has_value(); });
}

TEST_CASE("a length bomb in any ulong of a request is refused or harmless") {
  for (std::size_t at = header_size; at + 4 <= call_1_2.size(); at += 4) {
    auto bytes = call_1_2;
    for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = std::byte{0xff};
    const auto parsed = parse_request(message_of(bytes), {});
    if (parsed) CHECK(parsed->header.contexts.size() <= 2);
  }
}

TEST_CASE("an operation name without its NUL is refused") {
  auto bytes = ping_1_0;
  bytes[40] = std::byte{'!'};
  const auto parsed = parse_request(message_of(bytes), {});
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error() == Error{ErrorKind::marshal, Completion::no, minor::bad_string});
}

TEST_CASE("an unknown addressing is refused") {
  const auto bytes = wire("'GIOP' 0102 00 03 0000000c 00000001 0003 0000 00000000");
  const auto parsed = parse_locate_request(message_of(bytes), {});
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().minor == minor::bad_enum);
}
