// Tests what a server does at its start if something else is in place of the ledger or of its directory.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "orb/base/minor.h"
#include "orb/os/file_lock.h"
#include "tests/orb/dispatch/leases/ledger_fixture.h"
#include "tests/support/peers/fork_alone.h"
#include "tests/support/system/captured_errors.h"

namespace host_ledger_start_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::ledger_test;

TEST_CASE("a ledger of another version that no server uses is replaced") {
  const Directory directory;
  const ledger::FileHeader old = ledger::make_header(1);
  std::ofstream(directory.file(), std::ios::binary).write(reinterpret_cast<const char*>(&old), sizeof old)
      << std::string(100'000, 'x');
  const auto ledger = open(directory);
  CHECK(others_of(*ledger) == 0);
  CHECK(std::filesystem::file_size(directory.file()) < 100'000);
}

TEST_CASE("a ledger of another version that a server uses is left as it is") {
  const Directory directory;
  const ledger::FileHeader old = ledger::make_header(1);
  std::ofstream(directory.file(), std::ios::binary).write(reinterpret_cast<const char*>(&old), sizeof old);
  const os::Fd there(::open(directory.file().c_str(), O_RDWR | O_CLOEXEC));
  const auto locked = os::try_lock(there, {.start = static_cast<off_t>(ledger::slot_offset(3)), .length = 1});
  REQUIRE(locked);
  REQUIRE(*locked);
  CHECK(HostLedger::open(machine(), directory.path()).error().kind == ErrorKind::persist_store);
  ledger::FileHeader found;
  std::ifstream(directory.file(), std::ios::binary).read(reinterpret_cast<char*>(&found), sizeof found);
  CHECK(ledger::is_other_version(found));
}

TEST_CASE("an observer is told about a ledger that it cannot read") {
  const Directory directory;
  const ledger::FileHeader old = ledger::make_header(1);
  const std::string of_old(reinterpret_cast<const char*>(&old), sizeof old);
  const std::pair<std::string, const char*> cases[] = {
      {std::string(100, 'x'), " is damaged"}, {"x", " is damaged"}, {of_old, " has format version 1 and this program"}};
  for (const auto& [content, text] : cases) {
    std::ofstream(directory.file(), std::ios::binary) << content;
    const auto seen = LedgerFile::look(directory.file());
    REQUIRE_FALSE(seen);
    CHECK(seen.error().error.kind == ErrorKind::persist_store);
    CHECK_THAT(seen.error().text, Catch::Matchers::Contains(directory.file() + text));
  }
  std::ofstream(directory.file(), std::ios::trunc).close();
  CHECK(LedgerFile::look(directory.file()).value().empty());
}

TEST_CASE("a ledger of rubbish is rebuilt at start") {
  const Directory directory;
  std::ofstream(directory.file()) << std::string(100'000, 'x');
  const auto ledger = open(directory);
  CHECK(others_of(*ledger) == 0);
}

TEST_CASE("a core that is not there cannot be leased") {
  const Directory directory;
  const auto ledger = open(directory);
  CHECK(ledger->lease({.cores = {CoreId{9}}, .siblings = false}).error().minor == minor::core_unusable);
}

TEST_CASE("a directory that cannot be made is refused and none is made above it") {
  const Directory directory;
  std::ofstream(directory.path() + "/file") << "x";
  CHECK(HostLedger::open(machine(), directory.path() + "/file/below").error().kind == ErrorKind::no_permission);
  CHECK(HostLedger::open(machine(), directory.path() + "/slip/below").error().kind == ErrorKind::no_permission);
  CHECK_FALSE(std::filesystem::exists(directory.path() + "/slip"));
}

TEST_CASE("a file that stands in the ledger's place is named and left as it is") {
  const Directory directory;
  const std::string path = directory.file();
  const auto refused = [&](const std::string& what) {
    LedgerMembership membership(path);
    const auto opened = LedgerFile::open(path, {}, membership);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().error.kind == ErrorKind::no_permission);
    CHECK_THAT(opened.error().text, Catch::Matchers::Contains(path + " is " + what + ", no plain file; remove it"));
    CHECK(std::filesystem::remove(path));
  };
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  refused("a fifo");
  REQUIRE(mkdir(path.c_str(), 0700) == 0);
  refused("a directory");
  std::filesystem::create_symlink(directory.path() + "/elsewhere", path);
  refused("a symbolic link");
  CHECK_FALSE(std::filesystem::exists(directory.path() + "/elsewhere"));
}

TEST_CASE("the runtime directory follows the environment") {
  setenv("CORELANE_RUNTIME_DIRECTORY", "/somewhere", 1);
  CHECK(runtime_directory() == "/somewhere");
  unsetenv("CORELANE_RUNTIME_DIRECTORY");
  if (geteuid() == 0) CHECK(runtime_directory() == "/run/corelane");
}

// Runs the check in a child process as another user, without the variables that name a directory.
template <typename Check>
int as_user(uid_t user, const std::string& home, Check&& check) {
  const pid_t child = testing::fork_alone();
  if (child == 0) {
    for (const char* name : {"CORELANE_RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"}) unsetenv(name);
    setenv("HOME", home.c_str(), 1);
    _exit(setgid(user) == 0 && setuid(user) == 0 ? check() : 100);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}

TEST_CASE("a relative XDG_RUNTIME_DIR, which would be another directory for each program, is ignored") {
  if (geteuid() != 0) {
    WARN("SKIPPED: only root may be another user");
    return;
  }
  const auto where = [](const char* variable) {
    setenv("XDG_RUNTIME_DIR", variable, 1);
    return runtime_directory();
  };
  constexpr uid_t user = 3'000'000'000u;
  CHECK(as_user(user, "/nowhere", [&] { return where("/run/x") == "/run/x/corelane" ? 0 : 1; }) == 0);
  CHECK(as_user(user, "/nowhere", [&] { return where("run/x").starts_with("/tmp/") ? 0 : 1; }) == 0);
}

TEST_CASE("where another user has taken the directory in /tmp, servers and clients meet in the home directory") {
  if (geteuid() != 0) {
    WARN("SKIPPED: only root may be another user");
    return;
  }
  const testing::TempDirectory home;
  const uid_t user = 3'000'000'000u + static_cast<uid_t>(getpid());  // no account has it, and no other run uses it
  REQUIRE(chown(home.path().c_str(), user, user) == 0);
  const std::string in_tmp = "/tmp/corelane-" + std::to_string(user);
  const auto in_home = [&] { return runtime_directory().starts_with(home.path() + "/.corelane-"); };
  CHECK(as_user(user, home.path(),
                [&] { return runtime_directory() == in_tmp && runtime_directory_remark().empty() ? 0 : 1; }) == 0);
  REQUIRE(mkdir(in_tmp.c_str(), 0755) == 0);
  REQUIRE(chown(in_tmp.c_str(), user + 1, user + 1) == 0);
  // The directory in the home is made once and then found again. Each time, the log says why it is used.
  for (int i = 0; i < 2; ++i)
    CHECK(as_user(user, home.path(), [&] {
            const testing::CapturedErrors errors;
            const auto ledger = HostLedger::open(machine(), runtime_directory());
            return in_home() && ledger && errors.times("another user has taken " + in_tmp) == 1 ? 0 : 1;
          }) == 0);
  CHECK(as_user(user, "", [&] { return runtime_directory() == in_tmp ? 0 : 1; }) == 0);
  REQUIRE(chown(in_tmp.c_str(), user, user) == 0);
  CHECK(as_user(user, home.path(), [&] { return runtime_directory() == in_tmp ? 0 : 1; }) == 0);
  REQUIRE(rmdir(in_tmp.c_str()) == 0);
  REQUIRE(symlink(home.path().c_str(), in_tmp.c_str()) == 0);
  CHECK(as_user(user, home.path(), [&] { return in_home() ? 0 : 1; }) == 0);
  unlink(in_tmp.c_str());
}

}  // namespace host_ledger_start_test
