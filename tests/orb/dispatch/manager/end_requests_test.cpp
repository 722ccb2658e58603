// Tests how an operator ends tasks with a file in the runtime directory.
#include "orb/dispatch/manager/end_requests.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

#include "orb/os/machine/host.h"
#include "tests/support/quiet.h"
#include "tests/support/system/captured_errors.h"
#include "tests/support/system/other_users_socket.h"
#include "tests/support/system/temp_directory.h"

namespace end_requests_test {

using namespace corelane;
using namespace corelane::dispatch;
using corelane::testing::CapturedErrors;
using corelane::testing::TempDirectory;

namespace {

using Numbers = std::vector<std::uint64_t>;

struct Desk {
  testing::Quiet quiet;
  TempDirectory directory;
  Numbers ended;
  EndRequests requests{directory.path(), [this](TaskId task) {
                         if (task.value > 100) return false;  // tasks that do not exist
                         ended.push_back(task.value);
                         return true;
                       }};
  std::string path = end_request(directory.path(), ::getpid());

  void ask(const std::string& text) { std::ofstream(path) << text; }
  void ask_for(const std::string& tasks) { ask(std::to_string(os::this_process().start_ticks) + " " + tasks); }
  std::optional<std::string> answer() {
    std::ifstream file(end_answer(directory.path(), ::getpid()));
    if (!file) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  bool is_left() const { return std::filesystem::exists(path); }
};

}  // namespace

TEST_CASE("tasks that are asked for end, and the answer says which of them were there") {
  Desk desk;
  CHECK_FALSE(desk.requests.step({}));
  desk.ask_for("7 101 8\n");
  CHECK(desk.requests.step({}));
  CHECK(desk.ended == Numbers{7, 8});
  CHECK(desk.answer() == "7\n8\n");
  CHECK_FALSE(desk.is_left());
  CHECK_FALSE(desk.requests.step({}));
}

TEST_CASE("a request for a process that had this number before ends nothing") {
  Desk desk;
  desk.ask(std::to_string(os::this_process().start_ticks + 1) + " 7");
  CHECK(desk.requests.step({}));
  CHECK(desk.ended.empty());
  CHECK_FALSE(desk.answer());
  CHECK_FALSE(desk.is_left());
}

TEST_CASE("a file that is no request ends nothing and goes") {
  Desk desk;
  const std::string text = GENERATE(as<std::string>{}, "", "all", "1 -2", "1 2x", "99999999999999999999",
                                    std::string(EndRequests::longest + 1, '1'));
  desk.ask(text);
  CHECK(desk.requests.step({}));
  CHECK(desk.ended.empty());
  CHECK_FALSE(desk.is_left());
}

TEST_CASE("a request that others could have written is not obeyed") {
  Desk desk;
  const CapturedErrors log;
  desk.ask_for("7");
  REQUIRE(::chmod(desk.path.c_str(), 0666) == 0);
  CHECK(desk.requests.step({}));
  CHECK(desk.ended.empty());
}

TEST_CASE("another user's request is not obeyed") {
  if (::geteuid() != 0) return static_cast<void>(std::cout << "SKIPPED: needs root\n");
  Desk desk;
  desk.ask_for("7");
  REQUIRE(::chown(desk.path.c_str(), testing::another_user, static_cast<gid_t>(-1)) == 0);
  CHECK(desk.requests.step({}));
  CHECK(desk.ended.empty());
  CHECK_FALSE(desk.is_left());
}

TEST_CASE("a request that is a link or a folder is not followed") {
  Desk desk;
  SECTION("a link") {
    std::ofstream(desk.directory / "elsewhere") << os::this_process().start_ticks << " 7";
    REQUIRE(::symlink((desk.directory / "elsewhere").c_str(), desk.path.c_str()) == 0);
  }
  SECTION("a folder") { REQUIRE(::mkdir(desk.path.c_str(), 0700) == 0); }
  SECTION("a pipe") { REQUIRE(::mkfifo(desk.path.c_str(), 0600) == 0); }
  (void)desk.requests.step({});
  CHECK(desk.ended.empty());
}

TEST_CASE("numbers come back as they were written") {
  const Numbers numbers{0, 7, UINT64_MAX};
  CHECK(numbers_of(text_of(numbers)) == numbers);
  CHECK(numbers_of("") == Numbers{});
}

}  // namespace end_requests_test
