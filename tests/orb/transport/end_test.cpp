// A peer that ends while its reader is busy: all that it sent arrives, and then its end.
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "orb/channel/channel.h"
#include "tests/orb/transport/kinds.h"

namespace end_test {

using namespace corelane;
using namespace corelane::testing;

namespace {

// Holds up the reactor in its first bytes.
struct BusyReader final : transport::Watcher {
  void on_bytes(Bytes bytes, Time) noexcept override {
    if (text.empty()) {
      began.put(true);
      go_on.take();
    }
    text += text_of(bytes);
  }
  void on_closed(Error) noexcept override { closed.put(true); }

  Mailbox<bool> began, go_on, closed;
  std::string text;  // the reactor's until it closed
};

}  // namespace

// More bytes than the reactor reads of one connection before it looks at the others: so that it reads on after it was
// told of the end. By a channel's end alone, which dies without a word.
TEST_CASE("a peer that dies while much of what it sent is unread is read to the end and then gone") {
  StreamHarness<SharedMemory> streams;
  auto caller = channel::Channel::connect(
      streams.listener->endpoint().path,
      {.shape = {.slots = 1024, .chunks = 16, .chunk_size = 32 * 1024}, .wake = channel::Wake::eventfd}, patience());
  REQUIRE(caller);
  const auto called = streams.accepted.take();
  const auto reader = std::make_shared<BusyReader>();
  called->watch(reader);
  REQUIRE(caller->try_write(bytes_of("x")));
  REQUIRE(reader->began.take());
  const std::string much = pattern(25'000 * GENERATE(1u, 4u, 8u, 12u, 14u));
  for (std::size_t at = 0; at < much.size(); at += 25'000)
    REQUIRE(caller->try_write(bytes_of(much).subspan(at, 25'000)));
  REQUIRE(shutdown(caller->hang_up_descriptor(), SHUT_RDWR) == 0);
  reader->go_on.put(true);
  REQUIRE(reader->closed.take());
  CHECK((reader->text == "x" + much));
}

}  // namespace end_test
