#include "orb/core/requests/request_message.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tests/support/bytes/wire.h"

namespace request_message_test {
namespace {

using namespace corelane;
using core::RequestMessage;
using test::wire;

constexpr std::size_t longest_kept = 1024;

// A request of GIOP 1.2, big endian. The tests take its body for the arguments.
const std::vector<std::byte> request = wire("'GIOP' 0102 00 00 00000004 00000009");

giop::Message parsed(Bytes bytes) { return giop::parse_message(bytes).value(); }

// A request message that lies in memory shared with the peer.
struct Shared {
  Shared() { message.begin(parsed(*memory), giop::header_size); }
  void share() { message.share({.bytes = *memory, .storage = memory}); }

  const std::shared_ptr<const std::vector<std::byte>> memory = std::make_shared<const std::vector<std::byte>>(request);
  RequestMessage message;
};

}  // namespace

TEST_CASE("a message stays where it was read until it is copied") {
  RequestMessage message;
  message.begin(parsed(request), giop::header_size);
  CHECK(message.bytes().data() == request.data());
  CHECK_FALSE(message.is_shared());
  CHECK(message.arriving() == nullptr);
  message.copy();
  CHECK(message.bytes().data() != request.data());
  CHECK(std::ranges::equal(message.bytes(), request));
}

TEST_CASE("the reader of the arguments begins at their offset, in the byte order of the message") {
  RequestMessage message;
  message.begin(parsed(request), giop::header_size);
  cdr::Reader arguments = message.arguments(nullptr);
  std::uint32_t value = 0;
  REQUIRE(arguments.read(value));
  CHECK(value == 9);
  CHECK(arguments.available() == 0);
}

TEST_CASE("memory shared with the peer is kept until the message is released") {
  Shared shared;
  CHECK_FALSE(shared.message.is_shared());
  shared.share();
  CHECK(shared.message.is_shared());
  CHECK(shared.memory.use_count() == 2);
  CHECK_FALSE(shared.message.release(longest_kept));
  CHECK(shared.memory.use_count() == 1);
  CHECK_FALSE(shared.message.is_shared());
  CHECK(shared.message.bytes().empty());
}

TEST_CASE("a message that continues elsewhere shares the memory, or is copied") {
  Shared shared;
  RequestMessage next;
  SECTION("shared") {
    shared.share();
    next.begin(shared.message);
    CHECK(next.bytes().data() == shared.memory->data());
    CHECK(shared.memory.use_count() == 3);
  }
  SECTION("copied") {
    next.begin(shared.message);
    CHECK(next.bytes().data() != shared.memory->data());
    CHECK(shared.memory.use_count() == 1);
  }
  CHECK(std::ranges::equal(next.bytes(), request));
  std::uint32_t value = 0;
  CHECK(next.arguments(nullptr).read(value));
  CHECK(value == 9);
}

TEST_CASE("a message that the assembler put together is not copied") {
  giop::Assembler assembler;
  constexpr Time now{std::chrono::seconds{1}};
  const auto feed = [&](Bytes bytes) { return assembler.next(bytes, now).value(); };
  RequestMessage message;
  SECTION("in two pieces") {
    CHECK_FALSE(feed(Bytes(request).first(13)).has_value());
    const std::optional<giop::Message> whole = feed(Bytes(request).subspan(13));
    REQUIRE(whole);
    const std::byte* const place = whole->bytes.data();
    message.begin(*whole, giop::header_size);
    message.take_from(assembler);
    CHECK(message.bytes().data() == place);
  }
  SECTION("a message in one piece is copied") {
    const std::optional<giop::Message> whole = feed(request);
    REQUIRE(whole);
    message.begin(*whole, giop::header_size);
    message.take_from(assembler);
    CHECK(message.bytes().data() != request.data());
  }
  CHECK(std::ranges::equal(message.bytes(), request));
}

TEST_CASE("a short buffer stays for the next message, and a long one is freed") {
  RequestMessage message;
  message.begin(parsed(request), giop::header_size);
  CHECK(message.kept_bytes() == 0);
  message.copy();
  CHECK(message.kept_bytes() >= request.size());
  CHECK_FALSE(message.release(longest_kept));
  CHECK(message.kept_bytes() >= request.size());
  CHECK(message.release(request.size() - 1));
  CHECK(message.kept_bytes() == 0);
}

}  // namespace request_message_test
