#include "orb/core/requests/pending_requests.h"

#include <catch2/catch.hpp>
#include <cstdint>

namespace pending_requests_test {
namespace {

using namespace corelane;
using core::PendingRequest;
using core::PendingRequests;

void begin(PendingRequest& request, std::uint32_t id, bool expected = true) {
  request.begin({.request_id = id, .version = giop::giop_1_2, .expected = expected});
}

}  // namespace

TEST_CASE("a CancelRequest cancels the requests with its id") {
  PendingRequests list(4);
  PendingRequest first, other, again;
  begin(first, 1);
  begin(other, 2);
  begin(again, 1);
  REQUIRE(list.add(first));
  REQUIRE(list.add(other));
  REQUIRE(list.add_running(again));
  list.cancel(1);
  CHECK(first.is_cancelled());
  CHECK_FALSE(other.is_cancelled());
  CHECK(again.is_cancelled());
  SECTION("the next request of the same object is not cancelled") {
    list.remove(first);
    begin(first, 1);
    CHECK_FALSE(first.is_cancelled());
    CHECK(first.to().request_id == 1);
  }
}

TEST_CASE("a request that has ended is in no list, and is not cancelled") {
  PendingRequests list(4);
  PendingRequest request;
  begin(request, 1);
  CHECK_FALSE(request.is_listed());
  REQUIRE(list.add(request));
  CHECK(request.is_listed());
  CHECK_FALSE(list.empty());
  list.remove(request);
  CHECK_FALSE(request.is_listed());
  CHECK(list.empty());
  list.cancel(1);
  CHECK_FALSE(request.is_cancelled());
}

TEST_CASE("the limit holds for requests that wait, and not for those that run already") {
  PendingRequests list(1);
  PendingRequest first, second;
  begin(first, 1);
  begin(second, 2);
  REQUIRE(list.add(first));
  CHECK(list.add(first));
  CHECK_FALSE(list.add(second));
  CHECK_FALSE(second.is_listed());
  CHECK(list.add_running(second));
  CHECK(second.is_listed());
}

TEST_CASE("when the client takes no replies, oneway requests still run") {
  PendingRequests list(4);
  PendingRequest call, oneway;
  begin(call, 1);
  begin(oneway, 2, false);
  REQUIRE(list.add(call));
  REQUIRE(list.add(oneway));
  list.give_up();
  CHECK(call.is_cancelled());
  CHECK_FALSE(oneway.is_cancelled());
}

TEST_CASE("a request that continues in another object keeps its place and its cancellation") {
  PendingRequests list(1);
  PendingRequest before, after;
  begin(before, 1);
  begin(after, 1);
  REQUIRE(list.add(before));
  SECTION("cancelled before") {
    list.cancel(1);
    list.replace(before, after);
    CHECK(after.is_cancelled());
  }
  SECTION("cancelled afterwards") {
    list.replace(before, after);
    CHECK_FALSE(after.is_cancelled());
    list.cancel(1);
    CHECK(after.is_cancelled());
    CHECK_FALSE(before.is_cancelled());
  }
  CHECK_FALSE(before.is_listed());
  CHECK(after.is_listed());
  list.remove(after);
  CHECK(list.empty());
}

TEST_CASE("a request that is in no list continues in no list") {
  PendingRequests list(1);
  PendingRequest before, after;
  begin(before, 1);
  begin(after, 1);
  before.cancel();
  list.replace(before, after);
  CHECK(after.is_cancelled());
  CHECK_FALSE(after.is_listed());
  CHECK(list.empty());
}

}  // namespace pending_requests_test
