#include "services/nameserver/stores/sqlite/sqlite_database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace corelane::nameserver {
namespace {

SqliteFault sqlite_fault(sqlite3* database, int code) {
  SqliteFault fault{.code = code, .text = sqlite3_errstr(code)};
  if (database == nullptr) return fault;
  fault.text = sqlite3_errmsg(database);
  const int primary = code & 0xff;
  if (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_FULL)
    fault.number = sqlite3_system_errno(database);
  if (fault.number != 0) fault.text += " (" + std::generic_category().message(fault.number) + ")";
  return fault;
}

// FNV-1a. It mixes in each byte reversibly, so rows that differ in one byte never have the same sum.
class Sum {
 public:
  void add(std::string_view bytes) noexcept {
    for (const char byte : bytes) number_ = (number_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  }
  void add(std::uint64_t number) noexcept {
    for (int shift = 0; shift < 64; shift += 8) {
      const char byte = static_cast<char>(number >> shift);
      add(std::string_view(&byte, 1));
    }
  }
  std::uint64_t number() const noexcept { return number_; }

 private:
  std::uint64_t number_ = 0xcbf29ce484222325u;
};

// Adds the kind and length of the value, too, so that bytes cannot move from one value to the next unnoticed.
void add_value(Sum& sum, sqlite3_value* value) noexcept {
  const int kind = sqlite3_value_type(value);
  sum.add(static_cast<std::uint64_t>(kind));
  if (kind == SQLITE_INTEGER) return sum.add(static_cast<std::uint64_t>(sqlite3_value_int64(value)));
  const void* const begin = sqlite3_value_blob(value);
  const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value));
  sum.add(static_cast<std::uint64_t>(size));
  if (begin != nullptr) sum.add({static_cast<const char*>(begin), size});
}

void sum_of_values(sqlite3_context* context, int count, sqlite3_value** values) noexcept {
  Sum sum;
  for (int i = 0; i < count; ++i) add_value(sum, values[i]);
  sqlite3_result_int64(context, static_cast<sqlite3_int64>(sum.number()));
}

constexpr std::uintmax_t longest_new_file = 4096;  // one page

// Creates the file with mode 0600; SQLite would let all users read it. The files beside it get the same mode. Does not
// open an existing file, because closing it would release the lock of another Database of this process.
void make_private(const std::string& path) {
  struct stat ignored {};
  if (::lstat(path.c_str(), &ignored) == 0) return;
  if (const int made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600); made >= 0) ::close(made);
}

}  // namespace

std::uintmax_t size_of_file(const std::string& path) {
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  return failed ? 0 : size;
}

bool SqliteFault::is_busy() const noexcept { return (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED; }
bool SqliteFault::is_damage() const noexcept { return (code & 0xff) == SQLITE_CORRUPT || code == SQLITE_NOTADB; }
bool SqliteFault::is_other_schema() const noexcept { return code == SQLITE_ERROR; }
bool SqliteFault::is_failed_disk() const noexcept { return (code & 0xff) == SQLITE_IOERR; }
bool SqliteFault::is_full_disk() const noexcept { return (code & 0xff) == SQLITE_FULL; }

SqliteFault SqliteFault::damage(const std::string& text) { return {.code = SQLITE_CORRUPT, .text = text}; }

void Statement::Finalize::operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* database) const noexcept { sqlite3_close_v2(database); }

Statement& Statement::bind(int parameter, std::uint64_t number) noexcept {
  sqlite3_bind_int64(statement_.get(), parameter, static_cast<sqlite3_int64>(number));
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view bytes) noexcept {
  const char* begin = bytes.empty() ? "" : bytes.data();  // SQLite takes a null pointer as NULL
  sqlite3_bind_blob64(statement_.get(), parameter, begin, bytes.size(), SQLITE_STATIC);
  return *this;
}

Expected<void, SqliteFault> Statement::run() {
  while (true) {
    const auto row = next();
    if (!row) return row.error();
    if (!*row) return {};
  }
}

Expected<bool, SqliteFault> Statement::next() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  std::optional<SqliteFault> fault;
  if (code != SQLITE_DONE) fault = sqlite_fault(database_, code);
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  if (fault) return *fault;
  return false;
}

std::uint64_t Statement::number(int column) const noexcept {
  return static_cast<std::uint64_t>(sqlite3_column_int64(statement_.get(), column));
}

std::string Statement::bytes(int column) const {
  const void* begin = sqlite3_column_blob(statement_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return begin == nullptr ? std::string() : std::string(static_cast<const char*>(begin), size);
}

Expected<Database, SqliteFault> Database::open(const std::string& path) {
  std::error_code ignored;
  const std::string absolute = std::filesystem::absolute(path, ignored).string();
  make_private(absolute);
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(absolute.c_str(), &handle, flags, nullptr);
  Database database;
  database.handle_.reset(handle);
  if (code != SQLITE_OK) return sqlite_fault(handle, code);
  return database;
}

// SQLite makes an empty log beside a file that has none, and removes it again.
Expected<SqliteStamp, SqliteFault> Database::look() {
  const std::string file = sqlite3_db_filename(handle_.get(), "main"), journal = file + "-journal";
  std::error_code ignored;
  keep_log(std::filesystem::exists(file + "-wal", ignored));
  if (size_of_file(file) > longest_new_file && size_of_file(journal) > 0)
    return SqliteFault{.text = "beside it is " + journal +
                               ", of a transaction of another program that has not ended: "
                               "end it there, or move that file away"};
  // Exclusive before the first access: then SQLite keeps the index of the log in this process, not in a file.
  if (const auto done = run("PRAGMA locking_mode=EXCLUSIVE; PRAGMA cell_size_check=ON;"); !done) return done.error();
  const auto tables = number("SELECT count(*) FROM sqlite_schema");
  const auto application = number("PRAGMA application_id"), version = number("PRAGMA user_version");
  for (const auto* read : {&tables, &application, &version})
    if (!*read) return read->error();
  return SqliteStamp{.tables = *tables, .application = *application, .version = *version};
}

void Database::keep_log(bool is_kept) noexcept {
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_kept ? 1 : 0, nullptr);
}

std::string Database::bytes_of_file(std::uint64_t at, std::size_t count) const {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (file == nullptr || file->pMethods == nullptr) return {};
  sqlite3_int64 size = 0;
  if (file->pMethods->xFileSize(file, &size) != SQLITE_OK || at >= static_cast<std::uint64_t>(size)) return {};
  std::string bytes(std::min<std::uint64_t>(count, static_cast<std::uint64_t>(size) - at), '\0');
  const int code =
      file->pMethods->xRead(file, bytes.data(), static_cast<int>(bytes.size()), static_cast<sqlite3_int64>(at));
  return code == SQLITE_OK ? bytes : std::string();
}

Expected<void, SqliteFault> Database::run(const char* sql) {
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return sqlite_fault(handle_.get(), code);
  return {};
}

Expected<Statement, SqliteFault> Database::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return sqlite_fault(handle_.get(), code);
  return Statement(handle_.get(), statement);
}

Expected<void, SqliteFault> Database::define_sum(const char* name) {
  const int code = sqlite3_create_function_v2(handle_.get(), name, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
                                              sum_of_values, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return sqlite_fault(handle_.get(), code);
  return {};
}

Expected<std::uint64_t, SqliteFault> Database::number(const char* sql) {
  auto statement = prepare(sql);
  if (!statement) return statement.error();
  const auto row = statement->next();
  if (!row) return row.error();
  return *row ? statement->number(0) : 0;
}

Expected<std::string, SqliteFault> Database::text(const char* sql) {
  auto statement = prepare(sql);
  if (!statement) return statement.error();
  const auto row = statement->next();
  if (!row) return row.error();
  return *row ? statement->bytes(0) : std::string();
}

}  // namespace corelane::nameserver
