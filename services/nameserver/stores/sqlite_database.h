// Database and Statement: SQLite's C interface as values that close themselves.
// Threads: one at a time; the library is used without its own locks.
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
  int number = 0;    // errno of the system call behind it; 0: none
  std::string text;  // what SQLite and the system say of it

  bool is_busy() const noexcept;
  bool is_damage() const noexcept;  // the file is no database or spoiled
  bool is_full_disk() const noexcept;
  bool is_failed_disk() const noexcept;   // or a limit of what may be written there
  bool is_other_schema() const noexcept;  // a table or column is not there

  static SqliteFault damage(const std::string& text);
};

// Nothing where there is none.
std::uintmax_t size_of_file(const std::string& path);

// Whose a file is, as its first page says.
struct SqliteStamp {
  std::uint64_t tables = 0, application = 0, version = 0;

  bool is_new() const noexcept { return tables == 0 && application == 0 && version == 0; }
};

class Statement {
 public:
  Statement() = default;
  Statement(sqlite3* database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}

  // Parameters count from 1. The bytes live until run() or the last next() returned.
  Statement& bind(int parameter, std::uint64_t number) noexcept;
  Statement& bind(int parameter, std::string_view bytes) noexcept;
  // To its end; ready to be bound again.
  Expected<void, SqliteFault> run();
  // Whether there is another row.
  Expected<bool, SqliteFault> next();
  // Of the row; columns count from 0.
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
  // Opens the file or makes it, for its user alone (mode 0600). Neither ":memory:" nor an empty path mean anything
  // special.
  static Expected<Database, SqliteFault> open(const std::string& path);

  // Before anything else: keeps others out, and changes nothing, so that a file that is none of ours stays as it is. A
  // log beside it stays, too, when this is closed before keep_log(false). With a code of 0: beside it is a journal,
  // which our files have as long as they are new alone; SQLite would write what that has over the file.
  Expected<SqliteStamp, SqliteFault> look();
  // Whether the log stays as it is when this is closed; else what it has goes into the file, and it is removed.
  void keep_log(bool is_kept) noexcept;
  // Of the file itself, without what its log has; fewer where there are no more. Who opens it once more and closes that
  // gives up the lock that look() took.
  std::string bytes_of_file(std::uint64_t at, std::size_t count) const;

  Expected<void, SqliteFault> run(const char* sql);
  Expected<Statement, SqliteFault> prepare(const char* sql);
  // Defines an SQL function of any values that gives a number of 64 bits; another one, for sure, where one byte of one
  // of them is another.
  Expected<void, SqliteFault> define_sum(const char* name);
  // The number or text in the first column of its first row; 0 and nothing without one.
  Expected<std::uint64_t, SqliteFault> number(const char* sql);
  Expected<std::string, SqliteFault> text(const char* sql);

 private:
  struct Close {
    void operator()(sqlite3* database) const noexcept;
  };

  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace corelane::nameserver
