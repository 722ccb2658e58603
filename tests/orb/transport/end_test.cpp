// Tests a peer that ends while its reader is busy. Everything that it sent arrives, and then its end.
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

// Returns a reader of the called end, which has got "x" and blocks the reactor.
std::shared_ptr<BusyReader> busy_reader(const Pair& pair) {
  auto reader = std::make_shared<BusyReader>();
  pair.called->watch(reader);
  REQUIRE(send(pair.caller, "x"));
  REQUIRE(reader->began.take());
  return reader;
}

}  // namespace

// The peer sends more bytes than the reactor reads from one connection before it looks at the others. So the reactor
// reads on after it was told of the end. The peer is a bare channel end, which ends without a last message.
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

TEMPLATE_TEST_CASE("last words that come with the end are read before it", "", TcpV4, UnixSocket, SharedMemory) {
  StreamHarness<TestType> streams;
  const Pair pair = streams.connect();
  const auto reader = busy_reader(pair);
  REQUIRE(send(pair.caller, "bye"));
  pair.caller->close();
  reader->go_on.put(true);
  REQUIRE(reader->closed.take());
  CHECK(reader->text == "xbye");
}

TEMPLATE_TEST_CASE("bytes that come between two looks of the reactor are found by the second", "", TcpV4, UnixSocket,
                   SharedMemory) {
  StreamHarness<TestType> streams;
  const Pair pair = streams.connect();
  const auto reader = busy_reader(pair);
  const std::string much = pattern(GENERATE(1u, 65'535u, 65'536u, 65'537u, 200'000u));
  REQUIRE(send(pair.caller, much));
  reader->go_on.put(true);
  while (reader->size() < much.size() + 1) REQUIRE(reader->came.take());
  pair.caller->close();
  REQUIRE(reader->closed.take());
  CHECK((reader->text == "x" + much));
}

}  // namespace end_test
