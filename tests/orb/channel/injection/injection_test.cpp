// One end dies after every single store to shared memory, one by one: after the first, after the second, and so on
// until it has nothing left to store. The other end reads a whole prefix of what was said, is told, and goes on.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/forked_peer.h"

namespace {

std::uint64_t stores_to_live = 0;  // 0: for ever

}  // namespace

void corelane::channel::after_store() noexcept {
  if (stores_to_live != 0 && --stores_to_live == 0) kill(getpid(), SIGKILL);
}

using namespace corelane;
using namespace corelane::channel;
using namespace corelane::testing;

namespace {

// Inline, over several slots, through one chunk and through two; and often enough to go round the ring of 64 slots,
// with padding at its end.
const std::vector<std::string>& script() {
  static const std::vector<std::string> messages = [] {
    std::vector<std::string> made;
    for (const std::size_t size : {0u, 8u, 48u, 49u, 300u, 1900u, 700u, 4500u, 9u, 12'000u, 1900u, 5u})
      made.push_back(filled(size, static_cast<std::uint32_t>(size)));
    return made;
  }();
  return messages;
}

// The conversation: each message is answered with itself. The one that dies speaks first or answers.
bool speak(Channel& end) {
  for (const std::string& message : script()) {
    if (message.size() == 9) {
      auto draft = end.draft(4096);
      if (draft) std::copy_n(as_bytes(message).begin(), message.size(), draft->bytes().begin());
      if (!draft || !end.send(*draft, message.size(), soon())) return false;
    } else if (!end.write(as_bytes(message), soon())) {
      return false;
    }
    if (read(end) != message) return false;
  }
  return true;
}

bool answer(Channel& end) {
  for (std::size_t i = 0; i < script().size(); ++i) {
    if (!end.wait(soon())) return false;
    const std::string message = as_text(*end.peek());
    const auto loan = end.take();
    if (!loan) end.pop();
    if (!end.write(as_bytes(message), soon())) return false;
  }
  return true;
}

// What the survivor makes of it; how many messages it got.
std::size_t survive(Channel& end, bool speaks) {
  std::size_t got = 0;
  while (got < script().size()) {
    if (speaks && !end.write(as_bytes(script()[got]), soon())) break;
    const std::string message = read(end);
    if (message == ended(Fault::peer_died) || message == ended(Fault::peer_closed)) break;
    REQUIRE(message == script()[got]);
    ++got;
    if (!speaks && !end.write(as_bytes(message), soon())) break;
  }
  return got;
}

// The child's end; whether it died.
bool dies_after(std::uint64_t stores, ChildIs role, bool child_speaks, const Options& options, std::size_t& got) {
  Meeting meeting(options);
  const pid_t child = meeting.fork_child(role, [&](Channel& end) {
    stores_to_live = stores;
    const bool done = child_speaks ? speak(end) : answer(end);
    end.close();
    return done ? 0 : 1;
  });
  Channel end = expect(meeting.meet_child(role));
  got = survive(end, !child_speaks);
  const std::string last = read(end);
  const int code = end_of(child);
  INFO("after " << stores << " stores: " << last);
  REQUIRE((code == 0 || code == -SIGKILL));
  REQUIRE((last == ended(Fault::peer_died) || last == ended(Fault::peer_closed)));
  if (last == ended(Fault::peer_closed)) REQUIRE(got == script().size());
  if (code == 0) REQUIRE(last == ended(Fault::peer_closed));
  return code != 0;
}

}  // namespace

TEST_CASE("an end that dies after its n-th store leaves the other a whole prefix and the truth, for every n") {
  const ChildIs role = GENERATE(ChildIs::connector, ChildIs::acceptor);
  const bool child_speaks = GENERATE(true, false);
  const Options options{
      .shape = {.slots = 64, .chunks = 3, .chunk_size = 4096}, .wake = Wake::eventfd, .wait = {os::WaitMode::park}};
  const Holdings before;
  std::uint64_t stores = 1;
  std::size_t got = 0;
  while (dies_after(stores, role, child_speaks, options, got)) ++stores;  // bound: the stores of the conversation
  CHECK(stores > 50);
  CHECK(got == script().size());
  CHECK(Holdings() == before);
}
