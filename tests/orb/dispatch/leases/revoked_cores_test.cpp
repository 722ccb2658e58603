// Tests cores that the operator of a host takes back from its servers.
#include "orb/dispatch/leases/revoked_cores.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "orb/dispatch/leases/core_watch.h"
#include "orb/dispatch/leases/host_ledger.h"
#include "tests/support/quiet.h"
#include "tests/support/system/captured_errors.h"
#include "tests/support/system/temp_directory.h"

namespace revoked_cores_test {

using namespace corelane;
using namespace corelane::dispatch;

namespace {

constexpr CoreId core(int number) { return CoreId{static_cast<std::int16_t>(number)}; }

struct Host {
  testing::Quiet quiet;
  testing::TempDirectory directory;
  RevokedCores revoked{directory.path()};

  void say(const std::string& text) { std::ofstream(directory / "revoked") << text; }
  std::unique_ptr<HostLedger> open() {
    return std::move(*HostLedger::open(*os::Topology::synthetic("core:4 pu:1"), directory.path()));
  }
};

}  // namespace

TEST_CASE("cores that the operator names are taken back and stay so") {
  Host host;
  host.revoked.look();
  CHECK_FALSE(host.revoked.has(core(2)));
  host.say("2,3\n");
  host.revoked.look();
  CHECK(host.revoked.has(core(2)));
  CHECK(host.revoked.has(core(3)));
  CHECK_FALSE(host.revoked.has(core(1)));
  host.say("3");
  host.revoked.look();
  CHECK_FALSE(host.revoked.has(core(2)));
  CHECK(host.revoked.has(core(3)));
}

TEST_CASE("cores are lent again when the file is gone, and stay taken back while it cannot be read") {
  Host host;
  host.say("2");
  host.revoked.look();
  host.say("all");
  host.revoked.look();
  CHECK(host.revoked.has(core(2)));
  REQUIRE(std::remove((host.directory / "revoked").c_str()) == 0);
  host.revoked.look();
  CHECK_FALSE(host.revoked.has(core(2)));
}

TEST_CASE("a file that names something else than cores takes nothing back") {
  Host host;
  const std::string text = GENERATE(as<std::string>{}, "all", "2-3", "2;3", "-1", "99999", "2 x");
  host.say(text);
  host.revoked.look();
  for (int i = 0; i < 4; ++i) CHECK_FALSE(host.revoked.has(core(i)));
}

TEST_CASE("a core that is taken back is lost to a server that has it and not leased to the next") {
  Host host;
  const auto ledger = host.open();
  CHECK(ledger->lease({})->size() == 4);
  os::Parker manager;
  NoteInbox inbox(4, manager);
  CoreWatch watch(*ledger->lease({}), *ledger, inbox, [](CoreId) noexcept { return true; });
  CHECK_FALSE(watch.step(Time{}));
  host.say("1");
  ledger->maintain();
  CHECK(watch.step(Time{}));
  std::vector<Note> notes;
  inbox.drain(notes);
  REQUIRE(notes.size() == 1);
  CHECK(std::get<sched::CoreLost>(notes[0]).core == core(1));
  const auto next = host.open();
  CHECK(next->lease({})->size() == 3);
  const auto asked = next->lease({.cores = {core(1)}});
  REQUIRE_FALSE(asked);
  CHECK(asked.error().kind == ErrorKind::bad_param);
}

TEST_CASE("a server that is left no core is told by which file, and one that cannot read it what stands there") {
  Host host;
  const testing::CapturedErrors errors;
  os::log::set_level(os::log::Level::info);
  SECTION("none is left") {
    host.say("0,1,2,3");
    CHECK_FALSE(host.open()->lease({}));
    CHECK(errors.times(host.directory / "revoked takes back all") == 1);
  }
  SECTION("a range") {
    host.say("0-3");
    CHECK(host.open()->lease({}));
    CHECK(errors.times("and not \"0-3\"") == 1);
  }
}

}  // namespace revoked_cores_test
