// Leases: to which client they belong, and how many one client has. The test provides the time.
#include "services/nameserver/leases.h"

#include <catch2/catch.hpp>

#include "services/nameserver/clients.h"

using namespace corelane;
using namespace std::chrono_literals;
using nameserver::Client;
using nameserver::Leases;

namespace {

const Client anna{"user:1", 10}, annas_other_process{"user:1", 11}, bert{"user:2", 10}, from_afar{"host:10.0.0.1", 0};
const Time start{1h};

}  // namespace

TEST_CASE("a lease ends when it was not renewed in time") {
  Leases leases({.leases = 2, .longest = 10s});
  const auto lease = leases.grant(5s, anna, start);
  REQUIRE(lease);
  CHECK(lease->lasts == 5s);
  CHECK(leases.next_expiry() == start + 5s);
  CHECK(leases.renew(lease->id, anna, start + 4s));
  CHECK(leases.take_expired(start + 8999ms).empty());
  CHECK(leases.owner_of(lease->id, anna, start + 8999ms) == lease->owner);
  CHECK_FALSE(leases.owner_of(lease->id, anna, start + 9s));
  CHECK_FALSE(leases.renew(lease->id, anna, start + 9s));
  CHECK(leases.take_expired(start + 9s) == std::vector{lease->owner});
  CHECK(leases.size() == 0);
  CHECK(leases.next_expiry() == never);
}

TEST_CASE("leases are bounded in number and length") {
  Leases leases({.leases = 2, .longest = 10s});
  CHECK(leases.grant(1h, anna, Time{})->lasts == 10s);
  CHECK(leases.grant(0s, anna, Time{})->lasts == Leases::shortest);
  CHECK_THAT(leases.grant(1s, anna, Time{}).error(), Catch::Contains("naming.leases"));
}

TEST_CASE("a lease that a store tells of lasts no longer and no shorter than one that is given") {
  const auto [text, longest, lasts] = GENERATE(table<std::string, Duration, Duration>({
      {"99", 10s, 100ms},
      {"100", 10s, 100ms},
      {"101", 10s, 101ms},
      {"10001", 10s, 10s},
      {"-9223372036854775808", 10s, 100ms},
      {"9223372036854775807", 10s, 10s},
      {"9223372036855", 10s, 10s},  // in nanoseconds it does not fit into 64 bits
      {"5000", 99ms, 100ms},
      {"5000", 0s, 100ms},
  }));
  CAPTURE(text);
  Leases leases({.longest = longest});
  CHECK(leases.restore("lease 7 " + text, start));
  CHECK(leases.next_expiry() == start + lasts);
}

TEST_CASE("a lease of a process lasts as long as the process") {
  Leases leases({});
  const auto self = os::this_process();
  const auto lease = leases.grant(self, anna);
  REQUIRE(lease);
  CHECK(leases.next_expiry() == never);
  CHECK(leases.processes() == std::vector{self});
  CHECK(leases.take_of(self) == std::vector{lease->owner});
  const os::ProcessIdentity other{self.pid, self.start_ticks + 1};
  CHECK_THAT(leases.grant(other, anna).error(), Catch::Contains("no process"));
}

TEST_CASE("leases that were given go on where fewer may be given since") {
  Leases before({}), after({.leases = 1, .of_client = 1});
  const auto timed = before.grant(5s, anna, Time{}), own = before.grant(os::this_process(), anna);
  REQUIRE((timed && own));
  CHECK(after.restore(timed->owner, Time{}));
  CHECK(after.restore(own->owner, Time{}));
  CHECK(after.size() == 2);
  CHECK_THAT(after.grant(5s, anna, Time{}).error(), Catch::Contains("naming.leases"));
}

TEST_CASE("an owner's text is enough to go on with its lease") {
  Leases before({}), after({});
  const auto timed = before.grant(5s, anna, Time{}), own = before.grant(os::this_process(), anna);
  REQUIRE((timed && own));
  CHECK(after.restore(timed->owner, Time{7s}));
  CHECK(after.restore(own->owner, Time{7s}));
  CHECK(after.owner_of(timed->id, anna, Time{11s}) == timed->owner);
  CHECK_FALSE(after.owner_of(timed->id, anna, Time{12s}));
  CHECK(after.owner_of(own->id, anna, Time{99s}) == own->owner);
  for (const char* text : {"", "lease", "lease x", "lease 7", "process 7 boot 1 2", "someone 7 8"})
    CHECK_FALSE(after.restore(text, Time{}));
}

TEST_CASE("a lease is its taker's alone") {
  Leases leases({});
  const auto lease = leases.grant(1min, anna, start);
  REQUIRE(lease);
  for (const Client& other : {annas_other_process, bert, from_afar}) {
    CHECK_FALSE(leases.renew(lease->id, other, start));
    CHECK_FALSE(leases.owner_of(lease->id, other, start));
    CHECK_FALSE(leases.end(lease->id, other));
  }
  CHECK(leases.renew(lease->id, anna, start));
  CHECK(leases.owner_of(lease->id, anna, start) == lease->owner);
  CHECK(leases.end(lease->id, anna));
  CHECK_FALSE(leases.renew(lease->id, anna, start));
}

TEST_CASE("a process uses the lease that another of its user's took for it") {
  Leases leases({});
  const os::ProcessIdentity self = os::this_process();
  const auto lease = leases.grant(self, anna);
  REQUIRE(lease);
  CHECK(leases.renew(lease->id, {anna.name, self.pid}, start));
  CHECK_FALSE(leases.renew(lease->id, {bert.name, self.pid}, start));
}

TEST_CASE("a lease is still its taker's when the nameserver runs again") {
  Leases before({}), after({});
  const auto timed = before.grant(1min, from_afar, start);
  const auto of_process = before.grant(os::this_process(), anna);
  REQUIRE((timed && of_process));
  REQUIRE(after.restore(timed->owner, start));
  REQUIRE(after.restore(of_process->owner, start));
  CHECK(after.renew(timed->id, from_afar, start));
  CHECK_FALSE(after.renew(timed->id, anna, start));
  CHECK(after.renew(of_process->id, anna, start));
  CHECK_FALSE(after.renew(of_process->id, bert, start));
  REQUIRE(after.restore("lease 7 60000", start));  // written by a nameserver that did not record the owner
  CHECK(after.renew(7, bert, start));
}

TEST_CASE("the owner of a name can be told without the number of its lease") {
  Leases leases({});
  const auto timed = leases.grant(1min, anna, start);
  const auto of_process = leases.grant(os::this_process(), anna);
  REQUIRE((timed && of_process));
  CHECK(nameserver::text_of_owner(timed->owner) == "a lease of 60000 ms");
  CHECK(nameserver::text_of_owner(of_process->owner) == "process " + std::to_string(os::this_process().pid));
  CHECK(nameserver::text_of_owner("") == "");
}

TEST_CASE("names of a lease that has ended go with the next look") {
  Leases leases({});
  const auto lease = leases.grant(1min, anna, start);
  REQUIRE(lease);
  CHECK(leases.take_expired(start).empty());
  leases.end(lease->id, anna);
  leases.leave("late");
  CHECK(leases.next_expiry() <= start);
  CHECK(leases.take_expired(start) == std::vector<std::string>{lease->owner, "late"});
  CHECK(leases.take_expired(start).empty());
  CHECK(leases.next_expiry() == never);
}

// Errors.

TEST_CASE("a client that has as many leases as it may is told so, and other clients are not affected") {
  Leases leases({.of_client = 2});
  REQUIRE(leases.grant(1min, anna, start));
  const auto second = leases.grant(1min, annas_other_process, start);
  REQUIRE(second);
  const auto refused = leases.grant(1min, anna, start);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error(), Catch::Contains("user:1 has 2 leases") && Catch::Contains("naming.client_leases"));
  CHECK(leases.grant(1min, bert, start));
  leases.end(second->id, annas_other_process);
  CHECK(leases.grant(1min, anna, start));
}
