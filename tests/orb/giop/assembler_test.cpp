// Tests how messages are assembled from a stream of bytes, and what breaks a stream.
#include <algorithm>
#include <memory>

#include "orb/base/minor.h"
#include "tests/orb/giop/fed_stream.h"
#include "tests/support/law.h"

using namespace corelane;
using namespace corelane::giop;
using namespace corelane::giop::fed;
using namespace corelane::testing;
using namespace std::chrono_literals;

using Refusals = std::vector<std::uint32_t>;

TEST_CASE("a whole message is handed out in place") {
  Stream stream;
  stream.feed(reply_1_2);
  CHECK(stream.types == std::vector{MessageType::reply});
  CHECK(stream.in_place);
  CHECK(stream.assembler.idle());
}

TEST_CASE("a message that comes octet by octet is whole with its last one") {
  Stream stream;
  for (std::size_t i = 0; i + 1 < reply_1_2.size(); ++i) {
    CHECK(stream.assembler.wanted() == (i < header_size ? header_size - i : reply_1_2.size() - i));
    stream.feed({reply_1_2[i]});
    REQUIRE(stream.types.empty());
  }
  stream.feed({reply_1_2.back()});
  CHECK(stream.types == std::vector{MessageType::reply});
  CHECK(stream.assembler.wanted() == header_size);
}

TEST_CASE("messages come out the same however the bytes are cut") {
  const Wire all = join({reply_1_2, first_1_2, close_1_2, middle_1_2, first_1_1, last_1_1, last_1_2, reply_1_2});
  Stream whole;
  whole.feed(all);
  REQUIRE(whole.ok());
  REQUIRE(whole.types.size() == 5);
  CHECK(holds([&](Draw& draw) {
    Stream stream;
    for (std::size_t from = 0; from < all.size();) {
      const auto size = 1 + draw.below(std::min<std::size_t>(40, all.size() - from));
      stream.takes_over = draw.below(2) == 0;
      stream.feed(
          {all.begin() + static_cast<std::ptrdiff_t>(from), all.begin() + static_cast<std::ptrdiff_t>(from + size)});
      from += size;
    }
    expect(stream.ok(), "every message is whole");
    expect(stream.types == whole.types, "the types are the same");
    expect(stream.bodies == whole.bodies, "the bodies are the same");
    expect(stream.sound, "every header is sound");
    expect(stream.assembler.idle(), "nothing is left over");
  }));
}

TEST_CASE("the rest of a long message can be read to where it belongs") {
  cdr::Writer writer;
  begin_reply(writer, {.request_id = 7, .status = ReplyStatus::no_exception, .contexts = {}});
  std::vector<std::byte> body(100'000);
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<std::byte>(i % 251);
  writer.write_octets(body);
  REQUIRE(finish(writer));
  const Bytes whole = writer.bytes();

  Assembler assembler;
  CHECK(assembler.room(whole.size()).empty());
  // Takes `count` more bytes and returns the message that is whole with them.
  std::size_t taken = 0;
  const auto take = [&](std::size_t count, bool in_place) {
    Bytes input = whole.subspan(taken, count);
    if (in_place) {
      const MutableBytes room = assembler.room(count);
      REQUIRE(room.size() == count);
      std::copy(input.begin(), input.end(), room.begin());
      input = room;
    }
    taken += count;
    const auto result = assembler.next(input, start);
    REQUIRE(result);
    CHECK(input.empty());
    return *result;
  };
  CHECK_FALSE(take(header_size - 1, false));
  CHECK(assembler.room(whole.size()).empty());  // the header is not there yet
  CHECK_FALSE(take(1000, false));
  const std::byte* const place = assembler.room(1).data();
  CHECK_FALSE(take(60'000, true));
  CHECK_FALSE(take(20, false));  // others may be copied meanwhile
  const std::size_t missing = whole.size() - taken;
  CHECK(assembler.room(whole.size()).size() == missing);
  const auto message = take(missing, true);
  REQUIRE(message);
  CHECK(std::ranges::equal(message->bytes, whole));
  CHECK(message->bytes.data() + header_size - 1 + 1000 == place);
  CHECK(assembler.room(whole.size()).empty());
}

TEST_CASE("only the present room of a message may be read into") {
  cdr::Writer writer;
  begin_reply(writer, {.request_id = 7, .status = ReplyStatus::no_exception, .contexts = {}});
  writer.write_octets(std::vector<std::byte>(100'000));
  REQUIRE(finish(writer));
  const Bytes whole = writer.bytes();
  Assembler assembler;
  CHECK(assembler.may_take(whole));
  Bytes input = whole.first(1000);
  REQUIRE(assembler.next(input, start));
  const MutableBytes room = assembler.room(whole.size());
  REQUIRE(room.size() == whole.size() - 1000);

  CHECK(assembler.may_take(whole.subspan(1000)));  // bytes elsewhere are copied
  CHECK(assembler.may_take(room));
  CHECK(assembler.may_take(room.first(1)));
  CHECK_FALSE(assembler.may_take(room.subspan(1)));
  CHECK_FALSE(assembler.may_take(Bytes(room.data() - 1, 2)));
  CHECK(assembler.may_take(Bytes(room.data() + room.size(), 0)));

  std::copy_n(whole.begin() + 1000, 500, room.begin());
  input = room.first(500);
  REQUIRE(assembler.next(input, start));
  CHECK_FALSE(assembler.may_take(room));  // it begins further on now
  CHECK(assembler.may_take(room.subspan(500)));

  input = whole.subspan(1500);
  const auto message = assembler.next(input, start);
  REQUIRE((message && *message));
  CHECK_FALSE(assembler.may_take(room.subspan(500)));  // the message is whole, and lies there
  CHECK_FALSE(assembler.may_take((*message)->bytes));
}

TEST_CASE("a message of which little is missing has no room of its own") {
  cdr::Writer writer;
  begin_reply(writer, {.request_id = 7, .status = ReplyStatus::no_exception, .contexts = {}});
  writer.write_octets(std::vector<std::byte>(100'000));
  REQUIRE(finish(writer));
  const auto last = GENERATE(as<std::size_t>{}, 16 * 1024 - 1, 16 * 1024);
  Assembler assembler;
  Bytes input = writer.bytes().first(writer.size() - last);
  REQUIRE(assembler.next(input, start));
  CHECK(assembler.room(last).size() == (last < 16 * 1024 ? 0 : last));
}

TEST_CASE("a message that came in pieces may be taken over where it lies") {
  const auto budget = std::make_shared<Budget>(std::size_t{1000});
  Assembler assembler({}, Role::both, quota_of(budget));
  const std::vector<Wire> pieces = GENERATE_COPY(
      std::vector{Wire(reply_1_2.begin(), reply_1_2.begin() + 13), Wire(reply_1_2.begin() + 13, reply_1_2.end())},
      std::vector{first_1_2, middle_1_2, last_1_2});
  os::ByteBuffer kept(wire("'before'"));
  for (int round = 0; round < 2; ++round) {
    std::optional<Message> message;
    for (const Wire& piece : pieces) {
      Bytes input(piece);
      const auto result = assembler.next(input, start);
      REQUIRE(result);
      message = *result;
    }
    REQUIRE(message);
    REQUIRE(assembler.hand_over(message->bytes, kept));
    CHECK(kept.data() == message->bytes.data());
    CHECK(kept.size() == message->bytes.size());
    CHECK(parse_message(kept));
    CHECK_FALSE(assembler.hand_over(message->bytes, kept));
    CHECK(assembler.idle());
    CHECK(budget->used() == 0);
  }
}

TEST_CASE("a message that is handed out in place cannot be taken over") {
  Assembler assembler;
  Bytes input(reply_1_2);
  const auto message = assembler.next(input, start);
  REQUIRE(message);
  os::ByteBuffer kept(wire("'before'"));
  CHECK_FALSE(assembler.hand_over((*message)->bytes, kept));
  CHECK(std::ranges::equal(Bytes(kept), Bytes(wire("'before'"))));
}

TEST_CASE("a place that is given in exchange is used again by a client's end") {
  constexpr std::size_t size = 100'000;
  const Role role = GENERATE(Role::client, Role::server);
  const Wire message = piece(role == Role::client ? 1 : 0, 7, false, 60'000);
  const auto budget = std::make_shared<Budget>(2 * size);
  Assembler assembler({}, role, quota_of(budget));
  os::ByteBuffer kept;
  kept.reserve(size);
  const std::byte* const place = kept.data();
  const auto feed = [&](Bytes bytes) { return assembler.next(bytes, start).value(); };
  const auto take_over = [&] {
    feed(Bytes(message).first(100));
    return assembler.hand_over(feed(Bytes(message).subspan(100))->bytes, kept);
  };
  REQUIRE(take_over());
  CHECK(budget->used() == 0);
  feed(Bytes(message).first(100));
  CHECK(budget->used() == 100);
  REQUIRE(assembler.hand_over(feed(Bytes(message).subspan(100))->bytes, kept));
  if (role == Role::client) CHECK(kept.data() == place);
}

TEST_CASE("fragments of GIOP 1.2 are joined without their request ids") {
  Stream stream;
  stream.feed(first_1_2).feed(middle_1_2);
  CHECK(stream.types.empty());
  CHECK_FALSE(stream.assembler.idle());
  stream.feed(last_1_2);
  CHECK(stream.bodies == std::vector<std::string>{std::string("\0\0\0\7", 4) + "aaaabbbbccccddddeeee"});
  CHECK(stream.sound);
  CHECK(stream.assembler.pending_bytes() == 0);
}

TEST_CASE("fragments of GIOP 1.1 follow one another") {
  Stream stream;
  stream.feed(first_1_1).feed(last_1_1);
  CHECK(stream.bodies == std::vector<std::string>{"aaaabbbbcccc"});
}

TEST_CASE("fragmented messages interleave by request id") {
  Stream stream;
  stream.feed(join({piece(0, 1, true, 8), piece(0, 2, true, 16), piece(7, 2, false), piece(7, 1, false)}));
  REQUIRE(stream.bodies.size() == 2);
  CHECK(stream.bodies[0].size() == 4 + 16 + 8);
  CHECK(stream.bodies[0][3] == 2);
  CHECK(stream.bodies[1].size() == 4 + 8 + 8);
  CHECK(stream.bodies[1][3] == 1);
}

TEST_CASE("a cancelled request takes its fragments along") {
  Stream stream;
  stream.feed(piece(0, 7, true)).feed(wire("'GIOP' 0102 00 02 00000004 00000007"));
  CHECK(stream.types == std::vector{MessageType::cancel_request});
  CHECK(stream.assembler.pending_bytes() == 0);
  stream.feed(piece(7, 7, false));
  CHECK(stream.minor() == minor::bad_fragment);
}

TEST_CASE("a cancelled request of GIOP 1.1 takes its fragments along") {
  const Wire first = wire("'GIOP' 0101 02 00 0000000c 00000000 00000007 01000000");
  Stream stream;
  SECTION("the first fragment says which request it is") { stream.feed(first); }
  SECTION("a later one says it") {
    stream.feed(wire("'GIOP' 0101 02 00 00000004 00000000")).feed(wire("'GIOP' 0101 02 07 00000008 00000007 01000000"));
  }
  const std::size_t held = stream.assembler.pending_bytes();
  stream.feed(wire("'GIOP' 0101 00 02 00000004 00000008"));  // another request's
  CHECK(stream.assembler.pending_bytes() == held);
  stream.feed(wire("'GIOP' 0101 00 02 00000004 00000007"));
  CHECK(stream.assembler.pending_bytes() == 0);
  stream.feed(first).feed(wire("'GIOP' 0101 00 07 00000004 00000000"));
  CHECK(stream.ok());
  CHECK(stream.types == std::vector{MessageType::cancel_request, MessageType::cancel_request, MessageType::request});
}

TEST_CASE("the id of a joined request may be used again") {
  Stream stream;
  for (int i = 0; i < 3; ++i) stream.feed(join({piece(0, 7, true), piece(7, 7, false)}));
  CHECK(stream.types.size() == 3);
}

// Edges.

TEST_CASE("a message may be as long as the limit says and no longer") {
  Limits limits;
  limits.message_size = GENERATE(std::size_t{15}, std::size_t{16}, std::size_t{17});
  Stream stream(limits);
  stream.feed(reply_1_2);
  CHECK(stream.ok());
  CHECK(stream.refusals == (limits.message_size >= 16 ? Refusals{} : Refusals{minor::message_too_large}));
}

TEST_CASE("a joined message may be as long as the limit says and no longer") {
  Limits limits;
  limits.message_size = GENERATE(std::size_t{31}, std::size_t{32}, std::size_t{33});  // 12 + 4 + 8 + 8
  Stream stream(limits);
  stream.feed(join({piece(0, 1, true), piece(7, 1, false)}));
  CHECK(stream.ok());
  CHECK(stream.refusals == (limits.message_size >= 32 ? Refusals{} : Refusals{minor::message_too_large}));
}

TEST_CASE("a message may come in as many fragments as the limit says and no more") {
  Limits limits;
  limits.fragments = GENERATE(2u, 3u, 4u);
  Stream stream(limits);
  stream.feed(join({first_1_2, middle_1_2, last_1_2}));
  CHECK(stream.ok());
  CHECK(stream.refusals == (limits.fragments >= 3 ? Refusals{} : Refusals{minor::bad_fragment}));
}

TEST_CASE("so many messages may be in fragments at once and no more") {
  Limits limits;
  limits.fragmented_messages = GENERATE(2u, 3u, 4u);
  Stream stream(limits);
  stream.feed(join({piece(0, 1, true), piece(0, 2, true), piece(0, 3, true)}));
  CHECK(stream.minor() == (limits.fragmented_messages >= 3 ? 0 : minor::bad_fragment));
}

TEST_CASE("so many bytes may wait for their last fragments and no more") {
  Limits limits;
  limits.fragment_bytes = GENERATE(std::size_t{55}, std::size_t{56}, std::size_t{57});  // 24 + 24 + 8
  Stream stream(limits);
  stream.feed(join({piece(0, 1, true), piece(0, 2, true), piece(7, 1, true)}));
  CHECK(stream.ok());
  CHECK(stream.refusals == (limits.fragment_bytes >= 56 ? Refusals{} : Refusals{minor::bad_fragment}));
}

TEST_CASE("a message that is too large is skipped however it is cut, and those around it are whole") {
  Limits limits;
  limits.message_size = 60;
  const std::size_t size = GENERATE(60u, 5'000u, 70'000u);
  const auto type = GENERATE(MessageType::request, MessageType::reply);
  const Wire large = piece(static_cast<std::uint8_t>(type), 9, false, size);
  const Wire all = join({reply_1_2, large, reply_1_2, large, large, reply_1_2});
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{4'096}, all.size()}) {
    Stream stream(limits);
    for (std::size_t from = 0; from < all.size(); from += step) {
      const auto at = all.begin() + static_cast<std::ptrdiff_t>(from);
      stream.feed({at, at + static_cast<std::ptrdiff_t>(std::min(step, all.size() - from))});
    }
    CHECK(stream.ok());
    CHECK(stream.types == std::vector(3, MessageType::reply));
    CHECK(stream.refusals == Refusals(3, minor::message_too_large));
    CHECK(stream.assembler.idle());
    CHECK(stream.assembler.wanted() == header_size);
    for (const Wire& beginning : stream.beginnings) {
      CHECK(beginning.size() <= 5'000);
      CHECK(beginning[15] == std::byte{9});
    }
  }
}

TEST_CASE("while a message is skipped the stream is not idle, and holds nothing of it") {
  Limits limits;
  limits.message_size = 60;
  Stream stream(limits);
  const Wire large = piece(0, 9, false, 50'000);
  stream.feed({large.begin(), large.end() - 1});
  CHECK(stream.refusals.size() == 1);
  CHECK_FALSE(stream.assembler.idle());
  CHECK(stream.assembler.wanted() == 1);
  CHECK(stream.assembler.held_bytes() < 5'000);
  stream.feed({large.back()});
  CHECK(stream.assembler.idle());
}

TEST_CASE("the fragments behind one that is too much are skipped, and other messages go on between them") {
  Limits limits;
  limits.message_size = 60;
  limits.fragments = 5;
  Stream stream(limits);
  stream.feed(join({piece(0, 1, true, 30), piece(0, 2, true), piece(7, 1, true, 30), piece(7, 2, true),
                    piece(7, 1, true, 30), piece(7, 2, false), piece(7, 1, true), piece(7, 1, true), piece(7, 1, true),
                    piece(7, 1, false), reply_1_2}));
  CHECK(stream.ok());
  CHECK(stream.types == std::vector{MessageType::request, MessageType::reply});
  CHECK(stream.refusals == Refusals{minor::message_too_large});
  CHECK(stream.assembler.idle());
  CHECK(stream.assembler.pending_bytes() == 0);
}

TEST_CASE("the last fragment may be the one that is too much") {
  Limits limits;
  limits.message_size = 60;
  Stream stream(limits);
  stream.feed(join({piece(0, 1, true, 30), piece(7, 1, false, 30), piece(0, 1, true), piece(7, 1, false)}));
  CHECK(stream.ok());
  CHECK(stream.refusals.size() == 1);
  CHECK(stream.types.size() == 1);
  CHECK(stream.assembler.idle());
}

TEST_CASE("the beginning of a request tells whether a reply is awaited, in every version") {
  const Version version = GENERATE(giop_1_0, giop_1_1, giop_1_2);
  const bool waits = GENERATE(true, false);
  cdr::Writer writer;
  RequestHeader header{.request_id = 77,
                       .response_flags = waits ? response::with_target : response::none,
                       .target = {},
                       .operation = "op",
                       .contexts = {}};
  begin_request(writer, header, {}, version);
  REQUIRE(finish(writer));
  const auto message = parse_message(writer.bytes());
  REQUIRE(message);
  const auto beginning = parse_beginning(*message, {});
  REQUIRE(beginning);
  CHECK(beginning->id == 77);
  CHECK(beginning->version == version);
  CHECK(beginning->response_expected == waits);
  CHECK_FALSE(parse_beginning({message->header, message->bytes.first(14)}, {}));
}

TEST_CASE("a message that is too large and needs no reply breaks the stream") {
  Limits limits;
  limits.message_size = 60;
  for (const std::uint8_t type : std::initializer_list<std::uint8_t>{3, 4, 7}) {
    Stream stream(limits);
    stream.feed(first_1_2);
    stream.feed(piece(type, 7, false, 100));
    CHECK(stream.minor() == minor::message_too_large);
  }
}

TEST_CASE("a fragmented message may take as long as the limit says and no longer") {
  Limits limits;
  limits.fragment_age = 10s;
  const Duration age = GENERATE(Duration{10s} - 1ns, Duration{10s}, Duration{10s} + 1ns);
  Stream stream(limits);
  stream.feed(first_1_1);
  CHECK(stream.assembler.expired(start + age) == (age > 10s));
  stream.feed(last_1_1, start + age);
  CHECK(stream.minor() == (age <= 10s ? 0 : minor::bad_fragment));
}

// Error paths.

TEST_CASE("a stream that is not GIOP breaks at its first header and stays broken") {
  Stream stream;
  stream.feed(wire("'GET / HTTP/1'"));
  CHECK(*stream.error == Error{ErrorKind::comm_failure, Completion::no, minor::bad_magic});
  CHECK(stream.assembler.owed_version() == giop_1_0);
  Bytes input(reply_1_2);
  const auto again = stream.assembler.next(input, start);
  REQUIRE_FALSE(again);
  CHECK(again.error() == *stream.error);
}

TEST_CASE("an unknown version is owed an answer in the highest one") {
  Stream stream;
  stream.feed(wire("'GIOP' 0109 00 00 00000000"));
  CHECK(stream.minor() == minor::bad_version);
  CHECK(stream.assembler.owed_version() == giop_1_2);
}

TEST_CASE("an answer is owed in the version of the last good header") {
  Stream stream;
  stream.feed(first_1_1).feed(wire("'GIOP' 0101 00 09 00000000"));
  CHECK(stream.minor() == minor::bad_message_type);
  CHECK(stream.assembler.owed_version() == giop_1_1);
}

TEST_CASE("each end refuses what only the other end receives") {
  const auto type = GENERATE(0, 1, 2, 3, 4, 5, 6);
  Wire bytes = wire("'GIOP' 0102 00 00 00000004 00000001");
  bytes[7] = static_cast<std::byte>(type);
  const bool for_server = type == 0 || type == 2 || type == 3 || type >= 5;
  const bool for_client = type == 1 || type == 4 || type >= 5;
  CHECK(Stream({}, Role::server).feed(bytes).ok() == for_server);
  CHECK(Stream({}, Role::client).feed(bytes).ok() == for_client);
  CHECK(Stream({}, Role::both).feed(bytes).ok());
}

TEST_CASE("a claimed size costs no memory before its bytes arrive") {
  Stream stream;
  stream.feed(wire("'GIOP' 0102 00 00 00ff0000 'some'"));
  CHECK(stream.ok());
  CHECK(stream.assembler.pending_bytes() == 16);
  stream.feed(wire("'more'"));
  CHECK(stream.assembler.pending_bytes() == 20);
}

TEST_CASE("fragments that continue nothing are refused") {
  CHECK(Stream().feed(last_1_2).minor() == minor::bad_fragment);
  CHECK(Stream().feed(last_1_1).minor() == minor::bad_fragment);
  CHECK(Stream().feed(first_1_2).feed(last_1_1).minor() == minor::bad_fragment);
  CHECK(Stream().feed(first_1_2).feed(piece(7, 8, false)).minor() == minor::bad_fragment);
}

TEST_CASE("a second start under the same id is refused") {
  CHECK(Stream().feed(first_1_2).feed(first_1_2).minor() == minor::bad_fragment);
  CHECK(Stream().feed(first_1_1).feed(first_1_1).minor() == minor::bad_fragment);
}

TEST_CASE("a fragment in the other byte order is refused") {
  Stream stream;
  stream.feed(first_1_2).feed(wire("'GIOP' 0102 01 07 08000000 07000000 'eeee'"));
  CHECK(stream.minor() == minor::bad_fragment);
}

TEST_CASE("a fragment too short for its request id is refused") {
  CHECK(Stream().feed(wire("'GIOP' 0102 02 00 00000003 000000")).minor() == minor::bad_fragment);
  CHECK(Stream().feed(first_1_2).feed(wire("'GIOP' 0102 00 07 00000003 000000")).minor() == minor::bad_fragment);
}

TEST_CASE("messages that cannot be in fragments are refused") {
  const auto type = GENERATE(2, 5, 6);
  Wire bytes = wire("'GIOP' 0102 02 00 00000004 00000001");
  bytes[7] = static_cast<std::byte>(type);
  CHECK(Stream().feed(bytes).minor() == minor::bad_fragment);
}

TEST_CASE("GIOP 1.0 has no fragments whatever its flags say") {
  Stream stream;
  stream.feed(wire("'GIOP' 0100 02 00 00000004 00000001"));
  CHECK(stream.types == std::vector{MessageType::request});
}
