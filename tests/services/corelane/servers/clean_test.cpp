#include "services/corelane/servers/clean.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "orb/dispatch/counter_page.h"
#include "orb/os/socket_path.h"
#include "tests/support/system/other_users_socket.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::tool;
using Catch::Contains;
using corelane::testing::another_user;
using corelane::testing::TempDirectory;

namespace {

void make_file(const std::string& path, const std::string& text = {}) { std::ofstream(path) << text; }

// Leaves the file of a socket that no process has open, as a killed server does.
void leave_socket(const std::string& path) {
  const os::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto address = os::unix_address(path);
  REQUIRE(::bind(socket.get(), address->generic(), address->length) == 0);
}

struct Cleaned {
  int status;
  std::string out, err;
};

Cleaned clean_up(const std::string& directory, bool dry_run = false, Format format = Format::table) {
  std::ostringstream out, err;
  const int status = clean({.directory = directory, .dry_run = dry_run, .format = format}, out, err);
  return {status, out.str(), err.str()};
}

}  // namespace

TEST_CASE("files that ended processes left are listed and removed") {
  const TempDirectory place;
  make_file(place / "counters-4194000");
  make_file(place / "counters-4194000.1");
  make_file(place / "dump-4194000");
  make_file(place / "dump-4194000.done");
  make_file(place / "end-4194000");
  make_file(place / "end-4194000.done");
  leave_socket(place / "1.1.sock");
  make_file(place / "1.1.sock.lock");
  make_file(place / "1.2.sock.lock");
  leave_socket(place / "own.sock");
  make_file(place / "own.sock.lock");
  leave_socket(place / "2.1.sock");
  const Cleaned dry = clean_up(place.path(), true);
  CHECK(dry.status == 0);
  CHECK(place.entries() == 12);
  CHECK_THAT(dry.out, Contains("10 would be removed") && Contains("socket " + (place / "1.1.sock") + "\n"));
  const Cleaned done = clean_up(place.path());
  CHECK(done.status == 0);
  CHECK_THAT(done.out, Contains("counter page " + (place / "counters-4194000") + "\n") && Contains("\n10 removed\n"));
  CHECK(done.err.empty());
  CHECK(place.entries() == 0);
}

TEST_CASE("files that a living process uses stay, and so do files that are not Corelane's") {
  const TempDirectory place;
  const auto page = dispatch::CounterPage::make(place.path(), 1, 1);
  REQUIRE(page);
  auto socket = os::SocketPath::choose(place.path());
  REQUIRE(socket);
  const auto listening = socket->listen(0600, GENERATE(SOCK_STREAM, SOCK_SEQPACKET));
  REQUIRE(listening);
  make_file(place / "ledger");
  make_file(place / "notes.sock");
  leave_socket(place / "foreign.sock");
  const os::Fd bound(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));  // bound, but not listening yet
  const std::string spelling = GENERATE("3.1.sock", "./3.1.sock");
  const auto address = os::unix_address(place / spelling);
  REQUIRE(::bind(bound.get(), address->generic(), address->length) == 0);
  make_file(place / "own.sock.lock", "mine");
  make_file(place / "dump-1");
  make_file(place / "end-1");
  make_file(place / "counters-of-mine");
  make_file(place / "counters-9", "not a page");
  std::filesystem::create_directory(place / "counters-7");
  std::filesystem::create_symlink("ledger", place / "counters-8");
  const std::size_t before = place.entries();
  const Cleaned done = clean_up(place.path());
  CHECK(done.out == "nothing is left behind in " + place.path() + "\n");
  CHECK(done.status == 0);
  CHECK(place.entries() == before);
}

TEST_CASE("programs get what was removed as JSON") {
  const TempDirectory place;
  make_file(place / "counters-4194000");
  const auto json = nlohmann::json::parse(clean_up(place.path(), false, Format::json).out);
  REQUIRE(json.size() == 1);
  CHECK(json[0]["what"] == "counter page");
  CHECK(json[0]["removed"] == true);
}

// Errors.

TEST_CASE("a directory that cannot be looked at is a failure that says so") {
  const Cleaned done = clean_up("/nowhere");
  CHECK(done.status == 1);
  CHECK(done.err == "corelane clean: /nowhere: No such file or directory; --runtime-directory names another\n");
}

TEST_CASE("a file that is no request for a trace stays") {
  const TempDirectory place;
  std::filesystem::create_directory(place / "dump-4194000");
  const Cleaned done = clean_up(place.path());
  CHECK(done.status == 0);
  CHECK(place.entries() == 1);
}

TEST_CASE("files of other users that cannot be looked at are not said to be none") {
  if (::geteuid() != 0) {
    std::cout << "SKIPPED: only root can become another user\n";
    return;
  }
  const TempDirectory place;
  REQUIRE(::chmod(place.path().c_str(), 0755) == 0);
  for (const char* const name : {"counters-4194000", "own.sock.lock", "other.lock", "counters-1"})
    make_file(place / name), std::filesystem::permissions(place / name, std::filesystem::perms::owner_all);
  REQUIRE(::setresuid(another_user, another_user, 0) == 0);  // access(2) checks the real user
  const Cleaned done = clean_up(place.path());
  REQUIRE(::setresuid(0, 0, 0) == 0);
  CHECK(done.status == 1);
  CHECK(done.out.empty());
  CHECK(done.err == "corelane clean: 2 files of other users could not be looked at; their user can clean " +
                        place.path() + ", as root can\n");
  CHECK(place.entries() == 4);
}

TEST_CASE("files of a process that came to life again are not removed") {
  const TempDirectory place;
  auto socket = os::SocketPath::claim(place / "a.sock");
  REQUIRE(socket);
  const auto listening = socket->listen(0600);
  REQUIRE(listening);
  CHECK_FALSE(remove_remnant({place / "a.sock", "socket"}));
  CHECK(std::filesystem::exists(place / "a.sock"));
  const auto page = dispatch::CounterPage::make(place.path(), 1, 1);
  for (const auto& entry : std::filesystem::directory_iterator(place.path()))
    if (entry.path().filename().string().starts_with("counters-"))
      CHECK_FALSE(remove_remnant({entry.path(), "counter page"}));
  CHECK((*page)->is_at_path());
}
