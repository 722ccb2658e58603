// Tests the parts of a ClientConnection that need no stream.
#include <catch2/catch.hpp>
#include <chrono>

#include "orb/base/errors.h"
#include "orb/base/thread_safety.h"
#include "orb/core/connections/client_end.h"
#include "orb/core/connections/leader_state.h"
#include "orb/core/connections/named_code_sets.h"
#include "orb/core/connections/pending_reply.h"
#include "orb/core/connections/waiting_calls.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"

namespace client_connection_parts_test {

using namespace corelane;
using namespace corelane::core;
using namespace std::chrono_literals;

namespace {

constexpr Error late = errors::deadline_passed;

// A list with calls of one group.
struct List {
  LeaderState leader{};
  WaitingCalls calls{leader};
  ReplyGroup group{};

  void post(PendingReply& pending, std::uint32_t id, Time deadline = never) CORELANE_REQUIRES(calls) {
    pending.begin(id, &group, deadline);
    pending.call().posting = false;
    calls.add(pending);
  }
};

}  // namespace

TEST_CASE("one thread leads, alone only while the list is empty") {
  LeaderState leader;
  REQUIRE(leader.lead_unlisted());
  CHECK(leader.is_busy());
  CHECK_FALSE(leader.lead_unlisted());
  CHECK_FALSE(leader.lead());
  SECTION("without others it stops at once") {
    CHECK(leader.stop_unlisted());
    CHECK_FALSE(leader.is_busy());
  }
  SECTION("with others it has to give the lead away") {
    leader.set_listed();
    CHECK(leader.has_listed());
    CHECK_FALSE(leader.stop_unlisted());
    CHECK(leader.is_led());
    leader.stop();
    CHECK_FALSE(leader.is_led());
    CHECK_FALSE(leader.lead_unlisted());
    CHECK(leader.lead());
    leader.clear_listed();
    CHECK(leader.stop_unlisted());
  }
}

TEST_CASE("a waiting call is found by its id until it is removed") {
  List list;
  const os::LockGuard lock(list.calls);
  PendingReply one, other;
  list.post(one, 1);
  list.post(other, 2);
  CHECK(list.leader.has_listed());
  CHECK(list.calls.find(2) == &other);
  CHECK(list.calls.find(3) == nullptr);
  list.calls.remove(other);
  CHECK(list.calls.find(2) == nullptr);
  CHECK(list.leader.has_listed());
  list.calls.remove(one);
  CHECK_FALSE(list.leader.has_listed());
}

TEST_CASE("a collector gets the ended calls of its group in order, each once") {
  List list;
  const os::LockGuard lock(list.calls);
  PendingReply first, second, third;
  list.post(first, 1);
  list.post(second, 2);
  list.post(third, 3);
  CHECK(list.calls.may_lead(list.group));
  second.settle(CallState::Phase::answered);
  CHECK_FALSE(list.calls.may_lead(list.group));
  first.settle(errors::no_memory);
  REQUIRE(list.group.has_ended());
  PendingReply* const ended = list.calls.take_ended(list.group);
  REQUIRE(ended == &second);
  CHECK(ended->answered());
  CHECK(ended->next() == &first);
  CHECK(first.error() == errors::no_memory);
  CHECK(first.next() == nullptr);
  CHECK(list.calls.take_ended(list.group) == nullptr);
  CHECK(list.calls.find(3) == &third);
  CHECK(list.calls.may_lead(list.group));
}

TEST_CASE("a call that is still being posted is not handed over") {
  List list;
  const os::LockGuard lock(list.calls);
  PendingReply pending;
  list.post(pending, 1);
  pending.call().posting = true;
  pending.settle(CallState::Phase::answered);
  CHECK_FALSE(list.group.has_ended());
}

TEST_CASE("calls of a group end at their deadlines") {
  List list;
  const os::LockGuard lock(list.calls);
  PendingReply over, open;
  const Time now = os::now();
  CHECK(list.calls.earliest_deadline(list.group, now) == now);
  list.post(over, 1, now - 1s);
  list.post(open, 2, now + 1h);
  CHECK(list.calls.earliest_deadline(list.group, never) == now - 1s);
  list.calls.expire(list.group, late);
  CHECK(list.calls.take_ended(list.group) == &over);
  CHECK(over.error() == late);
  CHECK(open.call().is_waiting());
  CHECK(list.calls.earliest_deadline(list.group, never) == now + 1h);
}

TEST_CASE("code sets are known once a request has named them") {
  NamedCodeSets sets;
  CHECK_FALSE(sets.get());
  sets.set({.for_char = 0x05010001, .for_wchar = 0x00010109});
  REQUIRE(sets.get());
  CHECK(sets.get()->for_char == 0x05010001);
  CHECK(sets.get()->for_wchar == 0x00010109);
}

TEST_CASE("the owner of a connection is told once, and a dismissal is the reason for calls without a reply") {
  ClientEnd end;
  CHECK(end.is_open());
  CHECK(end.why_lost() == ClientEnd::lost);
  end.break_up();
  CHECK_FALSE(end.is_open());
  CHECK(end.tells_owner());
  CHECK_FALSE(end.tells_owner());
  CHECK(end.tells_loss());
  CHECK_FALSE(end.tells_loss());
  end.dismiss();
  CHECK(end.why_lost() == ClientEnd::dismissed);
}

}  // namespace client_connection_parts_test
