// Opens, reads and changes the file of a SQLite store, in this process and in child processes.
#pragma once

#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "services/nameserver/stores/open_store.h"
#include "services/nameserver/stores/sqlite/sqlite_database.h"

namespace corelane::nameserver::testing {

inline std::unique_ptr<Store> sqlite_store(const std::string& path, const StoreOptions& options = {}) {
  auto opened = open_store("sqlite:" + path, options);
  if (!opened) FAIL(opened.error());
  return std::move(*opened);
}

inline std::string refusal_of(const std::string& path, const StoreOptions& options = {}) {
  const auto opened = open_store("sqlite:" + path, options);
  return opened ? "opened" : opened.error();
}

inline bool says(const std::string& text, const std::string& part) {
  INFO(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

inline std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();  // not byte by byte: tests are compiled without optimization
  return std::move(content).str();
}

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Compares without printing thousands of bytes.
inline void check_bytes(const std::string& path, const std::string& expected) {
  const bool same = bytes_of_file(path) == expected;
  CHECK(same);
}

inline void run_sql(const std::string& path, const char* sql) {
  auto database = Database::open(path);
  REQUIRE(database);
  REQUIRE(database->run(sql));
}

// Runs `body` in a child process. Returns the child's exit status, which is the result of `body`.
template <typename Body>
int in_child(Body&& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

// Runs SQL on a database with a write-ahead log, which stays behind as after a kill.
inline void run_sql_and_vanish(const std::string& path, const std::string& sql) {
  const int ended = in_child([&] {
    auto database = Database::open(path);
    if (!database || !database->run(("PRAGMA journal_mode=WAL; " + sql).c_str())) return 1;
    _exit(0);  // nothing is closed
  });
  REQUIRE(ended == 0);
}

// Begins a transaction on a database with a rollback journal and does not end it. The journal stays behind with the
// content from before.
inline void begin_and_vanish(const std::string& path) {
  const int ended = in_child([&] {
    auto database = Database::open(path);
    if (!database || !database->run("PRAGMA synchronous=OFF; PRAGMA cache_size=1; CREATE TABLE song(title BLOB);"
                                    "INSERT INTO song VALUES(zeroblob(50000)); BEGIN;"
                                    "UPDATE song SET title=randomblob(50000);"))
      return 1;
    _exit(0);  // nothing is closed
  });
  REQUIRE(ended == 0);
}

// Runs `body` in a child without capabilities, so that file permissions apply to it even if it is root. It keeps its
// user, since the directory (TMPDIR) may be closed to others.
template <typename Body>
int held_by_permissions(Body&& body) {
  return in_child([&] {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3]{};
    return syscall(SYS_capset, &header, none) != 0 ? 2 : body();
  });
}

}  // namespace corelane::nameserver::testing
