// Tests reading past messages that are not wanted yet.
#include "orb/channel/delay_buffer.h"

#include <array>
#include <catch2/catch.hpp>

#include "tests/support/channel_pair.h"

using namespace corelane;
using namespace corelane::channel;
using namespace corelane::testing;

namespace {

class Desk {
 public:
  Desk(std::size_t messages, std::size_t bytes) : buffer_(messages, bytes) {}

  void send(std::string_view text) { REQUIRE(ends_.far.try_write(as_bytes(text))); }
  // Returns the next message that begins with that character.
  std::string read(char first) {
    return said(buffer_.read(
        ends_.near, [&](Bytes bytes) { return !bytes.empty() && bytes[0] == std::byte(first); }, room_, at_once));
  }
  std::string read() { return said(buffer_.read(ends_.near, room_, at_once)); }
  std::size_t delayed() const { return buffer_.delayed(); }

 private:
  std::string said(Expected<std::size_t, Fault> size) {
    return size ? as_text(Bytes(room_).first(*size)) : ended(size.error());
  }

  ChannelPair ends_;
  DelayBuffer buffer_;
  std::array<std::byte, 8> room_;
};

}  // namespace

TEST_CASE("messages that are read past come later, in their order") {
  Desk desk(8, 64);
  for (const auto* text : {"a1", "b1", "", "a2", "c1", "b2"}) desk.send(text);
  CHECK(desk.read('c') == "c1");
  CHECK(desk.delayed() == 4);
  CHECK(desk.read('b') == "b1");
  CHECK(desk.read() == "a1");
  CHECK(desk.read('b') == "b2");
  CHECK(desk.read() == "");
  CHECK(desk.read() == "a2");
  CHECK(desk.delayed() == 0);
  CHECK(desk.read() == ended(Fault::timed_out));
}

TEST_CASE("a delay buffer that is full by count or by bytes says so and loses nothing") {
  const auto [messages, bytes] = GENERATE(table<std::size_t, std::size_t>({{2, 64}, {8, 5}}));
  Desk desk(messages, bytes);
  for (const auto* text : {"a1", "a2", "a3", "b1"}) desk.send(text);
  CHECK(desk.read('b') == ended(Fault::would_block));
  CHECK(desk.delayed() == 2);
  CHECK(desk.read() == "a1");
  CHECK(desk.read('b') == "b1");
  CHECK(desk.read() == "a2");
  CHECK(desk.read() == "a3");
}

TEST_CASE("a delayed message that is longer than the buffer stays") {
  Desk desk(8, 64);
  desk.send("a and more than eight");
  desk.send("b");
  CHECK(desk.read('b') == "b");
  CHECK(desk.read('a') == ended(Fault::too_long));
  CHECK(desk.delayed() == 1);
}
