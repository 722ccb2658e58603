#include "orb/dispatch/leases/ledger_troubles.h"

#include <catch2/catch.hpp>
#include <chrono>

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

namespace ledger_troubles_test {

TEST_CASE("a trouble is told once it has lasted for long, and not again before it was over") {
  LastingTrouble trouble;
  const Time start{10s};
  CHECK_FALSE(trouble.is_to_be_told(start, 1s));
  trouble.note(true, start);
  trouble.note(true, start + 999ms);
  CHECK(trouble.lasted(start + 999ms) == 999ms);
  CHECK_FALSE(trouble.is_to_be_told(start + 999ms, 1s));
  CHECK(trouble.is_to_be_told(start + 1s, 1s));
  CHECK_FALSE(trouble.is_to_be_told(start + 2s, 1s));
  SECTION("over at a check") {
    trouble.note(false, start + 3s);
    CHECK_FALSE(trouble.stands());
    CHECK(trouble.lasted(start + 4s) == 0s);
    CHECK_FALSE(trouble.is_to_be_told(start + 4s, 1s));
    trouble.note(true, start + 5s);
    CHECK(trouble.is_to_be_told(start + 6s, 1s));
  }
  SECTION("over between two checks") {
    trouble.note(false, start + 3s);
    trouble.note(true, start + 3s);
    CHECK_FALSE(trouble.is_to_be_told(start + 5s, 1s));
  }
}

TEST_CASE("a fault of the system is new when it has changed") {
  LedgerTroubles troubles;
  CHECK(troubles.new_system_fault() == 0);
  troubles.note_system_fault(28);
  CHECK(troubles.new_system_fault() == 28);
  CHECK(troubles.new_system_fault() == 0);
  CHECK_FALSE(troubles.are_over());
  troubles.note_system_fault(0);
  CHECK(troubles.new_system_fault() == 0);
  CHECK(troubles.are_over());
  troubles.note_system_fault(28);
  CHECK(troubles.new_system_fault() == 28);
}

TEST_CASE("too many promises are told once") {
  LedgerTroubles troubles;
  CHECK(troubles.new_too_many() == 0);
  troubles.note_too_many(600);
  CHECK(troubles.new_too_many() == 600);
  troubles.note_too_many(601);
  CHECK(troubles.new_too_many() == 0);
}

TEST_CASE("a core that is promised twice is told when that begins, and when it ends") {
  LedgerTroubles troubles;
  CHECK_FALSE(troubles.note_twice(false));
  CHECK(troubles.note_twice(true));
  CHECK_FALSE(troubles.note_twice(true));
  CHECK(troubles.note_twice(false));
}

TEST_CASE("maintain has to look again while a trouble stands") {
  LedgerTroubles troubles;
  CHECK(troubles.are_over());
  for (LastingTrouble* each : {&troubles.blocked, &troubles.absentee, &troubles.no_entry}) {
    each->note(true, Time{1s});
    CHECK_FALSE(troubles.are_over());
    each->note(false, Time{2s});
    CHECK(troubles.are_over());
  }
}

}  // namespace ledger_troubles_test
