// Tests the parsers with damaged messages. They do not crash, do not read beyond the message (the sanitizer build
// checks that), and let no peer hold more than its limits. The undamaged messages are all understood.
#include <algorithm>
#include <catch2/catch.hpp>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "orb/giop/assembler.h"
#include "orb/giop/headers.h"
#include "tests/support/bytes/changing_bytes.h"
#include "tests/support/bytes/giop_mutator.h"

using namespace corelane;
using namespace corelane::giop;

namespace {

constexpr Time now{};

// Reads bytes that were handed out in place, so that a sanitizer checks them.
std::uint32_t touched = 0;
void touch(Bytes bytes) {
  for (const std::byte b : bytes) touched += static_cast<std::uint32_t>(b);
}

void decode_contexts(const ContextList& contexts) {
  contexts.each([](const ServiceContext& item) {
    touch(item.data);
    (void)decode_contract(item.data);
    (void)decode_refusal(item.data);
    (void)decode_chain(item.data);
    (void)decode_rt_priority(item.data);
    (void)decode_detail(item.data);
    (void)decode_code_sets(item.data);
  });
}

void decode_reference(cdr::Reader body) {
  Ior ior;
  if (!decode(body, ior)) return;
  for (const TaggedProfile& item : ior.profiles) {
    (void)parse_components(item.data);
    const Expected<IiopProfile> profile = parse_iiop(item);
    if (!profile) continue;
    (void)addresses_of(*profile);
    (void)orb_type_of(*profile);
    for (const TaggedComponent& component : profile->components) (void)parse_code_sets(component.data);
  }
}

bool understand_request(const Message& message, const Limits& limits) {
  const auto parsed = parse_request(message, limits);
  if (!parsed) return false;
  touch(parsed->header.target.object_key);
  touch(std::as_bytes(std::span(parsed->header.operation)));
  decode_contexts(parsed->header.contexts);
  cdr::Reader body = parsed->body;
  std::string_view text;
  return body.read_string(text);
}

bool understand_reply(const Message& message, const Limits& limits) {
  const auto parsed = parse_reply(message, limits);
  if (!parsed) return false;
  decode_contexts(parsed->header.contexts);
  decode_reference(parsed->body);
  cdr::Reader body = parsed->body;
  (void)decode_system_exception(body);
  return true;
}

// Reads as much of the message as possible. Returns whether its header made sense.
bool understand(const Message& message, const Limits& limits) {
  switch (message.header.type) {
    case MessageType::request:
      return understand_request(message, limits);
    case MessageType::reply:
      return understand_reply(message, limits);
    case MessageType::cancel_request:
      return parse_cancel_request(message).has_value();
    case MessageType::locate_request:
      return parse_locate_request(message, limits).has_value();
    case MessageType::locate_reply: {
      const auto parsed = parse_locate_reply(message);
      if (parsed) decode_reference(parsed->body);
      return parsed.has_value();
    }
    default:
      return true;
  }
}

// Sends the bytes through an assembler in two parts. Returns how many messages came out and made sense.
int receive(Bytes bytes, std::size_t cut, const Limits& limits) {
  Assembler assembler(limits);
  int understood = 0;
  for (const Bytes part : {bytes.first(cut), bytes.subspan(cut)}) {
    Bytes input = part;
    while (true) {
      const auto message = assembler.next(input, now);
      if (!message) return understood;
      if (!*message) break;
      understood += understand(**message, limits);
    }
  }
  CHECK(assembler.pending_bytes() <= bytes.size());
  return understood;
}

}  // namespace

TEST_CASE("every message of the corpus is understood however it is cut") {
  const test::GiopMutator mutator(1);
  for (const test::WireBytes& bytes : mutator.corpus())
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) REQUIRE(receive(bytes, cut, {}) == 1);
}

TEST_CASE("100000 damaged messages are refused or understood") {
  test::GiopMutator mutator(20260101);
  Limits limits;
  limits.contexts = 8;
  int understood = 0;
  for (int i = 0; i < 100'000; ++i) {
    test::WireBytes bytes = mutator.next();
    bytes.shrink_to_fit();
    const std::size_t cut = mutator.below(bytes.size() + 1);
    understood += receive(bytes, cut, limits) > 0;
  }
  // Both happen: some damaged messages are understood, and some are refused.
  CHECK(understood > 10'000);
  CHECK(understood < 90'000);
}

TEST_CASE("messages that change while they are read in place are refused or understood") {
  const test::GiopMutator mutator(1);
  std::size_t longest = 0;
  for (const test::WireBytes& bytes : mutator.corpus()) longest = std::max(longest, bytes.size());
  testing::ChangingBytes changing(longest);
  int understood = 0;
  while (changing.changes() == 0) std::this_thread::yield();
  for (int i = 0; i < 500; ++i)
    for (const test::WireBytes& bytes : mutator.corpus())
      understood += receive(changing.put(bytes), bytes.size(), {}) > 0;
  CHECK(understood > 0);
}
