// Database and Statement wrap SQLite's C interface in values that close themselves.
// Threads: one at a time; SQLite's own locks are off.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "orb/base/expected.h"

struct sqlite3;
struct sqlite3_stmt;

namespace corelane::nameserver {

struct SqliteFault {
  int code = 0;      // extended result code of SQLite
  int number = 0;    // errno of the failed system call; 0: none
  std::string text;  // the texts of SQLite and of the system

  bool is_busy() const noexcept;
  bool is_damage() const noexcept;  // the file is not a database, or is corrupt
  bool is_full_disk() const noexcept;
  bool is_failed_disk() const noexcept;   // or a limit on what may be written there
  bool is_other_schema() const noexcept;  // a table or column does not exist

  static SqliteFault damage(const std::string& text);
};

// Returns 0 if there is no such file.
std::uintmax_t size_of_file(const std::string& path);

// Says which program a file belongs to, as its first page says.
struct SqliteStamp {
  std::uint64_t tables = 0, application = 0, version = 0;

  bool is_new() const noexcept { return tables == 0 && application == 0 && version == 0; }
};

class Statement {
 public:
  Statement() = default;
  Statement(sqlite3* database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}

  // Parameters count from 1. The bytes must exist until run() or the last next() returns.
  Statement& bind(int parameter, std::uint64_t number) noexcept;
  Statement& bind(int parameter, std::string_view bytes) noexcept;
  // Runs the statement to its end. It can then be bound again.
  Expected<void, SqliteFault> run();
  // Steps to the next row. Returns whether there is one.
  Expected<bool, SqliteFault> next();
  // Return a value of the current row. Columns count from 0.
  std::uint64_t number(int column) const noexcept;
  std::string bytes(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };

  sqlite3* database_ = nullptr;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  // Opens the file, or makes it with mode 0600, for its user only. ":memory:" and an empty path have no special
  // meaning.
  static Expected<Database, SqliteFault> open(const std::string& path);

  // Call this before anything else. Locks the file against other processes and changes nothing, so a file of another
  // program stays as it is. A log beside it stays, too, if this is closed before keep_log(false).
  //
  // Returns a fault with code 0 if a rollback journal is beside a file that is not new. SQLite would write its content
  // into the file. Our files have such a journal only while they are new.
  Expected<SqliteStamp, SqliteFault> look();
  // If true, the log stays as it is when this is closed. Otherwise its content is moved into the file, and it is
  // removed.
  void keep_log(bool is_kept) noexcept;
  // Returns bytes of the file itself, without its log; fewer at the file's end. Do not open the file a second time
  // instead: closing it would release the lock that look() took.
  std::string bytes_of_file(std::uint64_t at, std::size_t count) const;

  Expected<void, SqliteFault> run(const char* sql);
  Expected<Statement, SqliteFault> prepare(const char* sql);
  // Defines an SQL function of any values that returns a 64-bit sum. If one byte of one value differs, the sum is
  // guaranteed to differ.
  Expected<void, SqliteFault> define_sum(const char* name);
  // Return the number or text in the first column of the first row; 0 or "" if there is no row.
  Expected<std::uint64_t, SqliteFault> number(const char* sql);
  Expected<std::string, SqliteFault> text(const char* sql);

 private:
  struct Close {
    void operator()(sqlite3* database) const noexcept;
  };

  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace corelane::nameserver
