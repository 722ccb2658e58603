#include "orb/core/server/server_reply.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>

#include "orb/giop/message.h"

namespace server_reply_test {

using namespace corelane;
using core::ServerReply;

TEST_CASE("a request has one answer") {
  ServerReply reply;
  const bool alone = GENERATE(false, true);
  reply.begin();
  CHECK(reply.claim(alone));
  CHECK_FALSE(reply.claim(alone));
  SECTION("the next request has another") {
    reply.begin();
    CHECK(reply.claim(alone));
  }
  SECTION("a request that continues elsewhere stays answered") {
    ServerReply next;
    next.begin(reply);
    CHECK_FALSE(next.claim(alone));
  }
}

TEST_CASE("an answer from elsewhere is the one answer") {
  ServerReply reply;
  reply.begin();
  reply.note_answered();
  CHECK_FALSE(reply.claim(false));
  CHECK_FALSE(reply.claim(true));
}

TEST_CASE("the next request begins without a reply") {
  ServerReply reply;
  reply.begin();
  CHECK_FALSE(reply.is_made());
  reply.note_made();
  CHECK(reply.is_made());
  reply.begin();
  CHECK_FALSE(reply.is_made());
}

TEST_CASE("a short buffer stays for the next reply, and a long one is freed") {
  constexpr std::size_t longest_kept = 1024;
  ServerReply reply;
  core::begin_reply_to(reply.writer(), {.request_id = 7, .version = giop::giop_1_2});
  REQUIRE(giop::finish(reply.writer()));
  const auto message = giop::parse_message(reply.writer().bytes());
  REQUIRE(message);
  CHECK(message->header.type == giop::MessageType::reply);
  reply.release(longest_kept);
  CHECK(reply.kept_bytes() > 0);
  CHECK(reply.kept_bytes() <= longest_kept);
  for (std::size_t i = 0; i < longest_kept; ++i) reply.writer().write(std::uint64_t{0});
  CHECK(reply.kept_bytes() > longest_kept);
  reply.release(longest_kept);
  CHECK(reply.kept_bytes() == 0);
}

}  // namespace server_reply_test
