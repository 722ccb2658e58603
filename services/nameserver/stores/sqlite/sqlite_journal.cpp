#include "services/nameserver/stores/sqlite/sqlite_journal.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/process/size_limit_guard.h"
#include "services/nameserver/stores/sqlite/sqlite_log_check.h"
#include "services/nameserver/stores/sqlite/sqlite_rows.h"

namespace corelane::nameserver {
namespace {

constexpr std::uint64_t application = 0x434c'4e53;  // "CLNS"
constexpr std::uint64_t schema_version = 3;         // 1: without sums; 2: without the clients that bound names
constexpr std::uint64_t first_with_sign = 2;        // the first schema with the counter `log`

// EXTRA: a rollback journal from before the log must not come back after a loss of power.
constexpr const char* how_to_keep = "PRAGMA synchronous=EXTRA; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;";
// In bytes. When the log is longer, begin_log() runs; if that fails, it runs again after as many bytes.
constexpr std::uintmax_t longest_log = 4u << 20;

// What to do if a write fails.
constexpr const char* make_room = ": make room on its disk";
constexpr const char* see_to_disk =
    ": see to its disk, and to limits of what a user may write there (ulimit -f, quota)";

// Returns true for a device or a directory, too: SQLite would put its files beside it.
bool is_no_plain_file(const std::string& path) {
  std::error_code ignored;
  const auto found = std::filesystem::status(path, ignored);
  return std::filesystem::exists(found) && !std::filesystem::is_regular_file(found);
}

// Refuses a file of one byte: SQLite takes it for an empty one, and would overwrite it.
Expected<Database, SqliteFault> open_unless_one_byte(const std::string& path) {
  if (size_of_file(path) == 1) return SqliteFault::damage("it is one byte long");
  return Database::open(path);
}

// Returns the path of the log. If the path is a link, the log is beside the file that it leads to.
std::string log_of(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_symlink(path, failed)) return path + "-wal";
  const auto file = std::filesystem::canonical(path, failed);
  return (failed ? path : file.string()) + "-wal";
}

// SQLite would remove the log of an empty or missing file, and with it the names that only the log has.
bool is_log_alone(const std::string& path) { return size_of_file(path) == 0 && size_of_file(log_of(path)) > 0; }

std::string absolute_path(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::absolute(path, ignored).string();
}

// Returns the system's reason why the file cannot be written; SQLite does not keep it. Empty: the file can be written.
std::string why_not_writable(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  const bool is_there = ::access(path.c_str(), F_OK) == 0;
  const bool may = is_there ? ::access(path.c_str(), R_OK | W_OK) == 0 : ::access(directory.c_str(), W_OK | X_OK) == 0;
  return may ? std::string() : std::generic_category().message(errno);
}

// `log` is 1 in the file while the last changes are in the log only. In the log it is 0.
constexpr const char *next_context_name = "next context", *revision_name = "revision", *log_name = "log";

// Returns the microseconds since 1970. No counter counts that fast.
std::uint64_t above_all_counts() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(since).count());
}

FileIdentity identity_of(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return {};
  return {found.st_dev, found.st_ino};
}

}  // namespace

SqliteJournal::SqliteJournal(std::string path, bool had_log, Database database)
    : path_(std::move(path)),
      file_(absolute_path(path_)),
      log_(log_of(file_)),
      had_log_(had_log),
      database_(std::move(database)) {}

Expected<std::unique_ptr<SqliteJournal>, OpenFault> SqliteJournal::open(const std::string& path) {
  if (is_no_plain_file(path)) return OpenFault{"the name store " + path + " is no plain file: name another one"};
  if (is_log_alone(path))
    return OpenFault{"the name store " + path + " is empty or gone, and its log " + log_of(path) +
                         " is still there, with names that were in no other place: put the file back as it was, or "
                         "move its log away, too, to begin with no names (naming.move_aside_damaged does that)",
                     true};
  const os::SizeLimitGuard guard;
  std::error_code ignored;
  const bool has_log = std::filesystem::exists(log_of(path), ignored);
  auto database = open_unless_one_byte(path);
  std::unique_ptr<SqliteJournal> journal(
      new SqliteJournal(path, has_log, database ? std::move(*database) : Database{}));
  if (!database) return journal->fault_of(database.error());
  const auto ready = journal->set_up();
  if (!ready) return ready.error();
  return journal;
}

// Lifts the limit on file sizes while the log's content is moved into the file.
SqliteJournal::~SqliteJournal() {
  const os::SizeLimitGuard guard;
  for (Statement* each : {&put_context_, &drop_context_, &put_binding_, &drop_binding_, &put_counter_}) *each = {};
  database_ = {};
}

OpenFault SqliteJournal::fault_of(const SqliteFault& fault) const {
  const std::string file = "the name store " + path_ + " ";
  if (fault.code == 0) return {file + "is left as it is: " + fault.text};
  if (fault.is_busy())
    return {file + "is in use by another process: stop that nameserver, or name another file for this one"};
  if (fault.is_damage())
    return {file + "is damaged or no database (" + fault.text + "): restore it from a copy, mend it with `sqlite3 " +
                path_ +
                " .recover`, or start with naming.move_aside_damaged on: it is moved aside, and a new one begins with "
                "no names",
            true};
  if (fault.is_other_schema())
    return {file + "has tables that are not Corelane's (" + fault.text +
            "): another program has changed it; restore it from a copy, or name another file"};
  if (fault.is_full_disk()) return {file + "cannot be written: " + fault.text + make_room};
  const std::string refused = why_not_writable(file_);
  if (refused.empty() && fault.is_failed_disk())
    return {file + "cannot be read or written: " + fault.text + see_to_disk};
  return {file + "cannot be opened for writing: " + (refused.empty() ? fault.text : refused) +
          ": its directory must exist, and it and the file be writable for this user, or name another file"};
}

Expected<void, OpenFault> SqliteJournal::set_up() {
  const auto stamp = database_.look();
  if (!stamp) return fault_of(stamp.error());
  if (const auto ours = check_owner(*stamp); !ours) return ours;
  if (const auto whole = check_log_bytes(); !whole) return whole;
  if (const auto done = check_pages(); !done) return done;
  if (const auto done = define_row_sum(database_); !done) return fault_of(done.error());
  if (const auto whole = check_log(*stamp); !whole) return whole;
  if (const auto done = make_tables_of_today(*stamp); !done) return fault_of(done.error());
  database_.keep_log(false);
  return {};
}

Expected<void, OpenFault> SqliteJournal::check_owner(const SqliteStamp& stamp) const {
  if (stamp.is_new()) return {};
  if (stamp.application != application || stamp.version == 0)
    return OpenFault{path_ + " is a database of another program: name another file for the name store"};
  if (stamp.version > schema_version)
    return OpenFault{"the name store " + path_ + " was written by a newer Corelane (schema " +
                     std::to_string(stamp.version) + ", this one knows " + std::to_string(schema_version) +
                     "): use that Corelane, or name another file for this one"};
  return {};
}

Expected<void, OpenFault> SqliteJournal::check_log_bytes() const {
  std::ifstream file(log_, std::ios::binary);
  std::string log(size_of_file(log_), '\0');
  log.resize(static_cast<std::size_t>(file.rdbuf()->sgetn(log.data(), static_cast<std::streamsize>(log.size()))));
  const LogFinding found =
      look_into_log(log, [this](std::uint64_t at, std::size_t count) { return database_.bytes_of_file(at, count); });
  const std::string whole = std::to_string(found.whole);
  if (found.is_damaged)
    return OpenFault{"the name store " + path_ + " is damaged: its log " + log_of(path_) + " is right up to byte " +
                         whole +
                         " only, and behind that are names that are in no other place: restore both files from a copy, "
                         "or go on with the names of before (`truncate -s " +
                         whole + " " + log_of(path_) +
                         "`), or start with naming.move_aside_damaged on: it is moved aside with its log, and a new "
                         "one begins with no names",
                     true};
  if (found.is_unfinished)
    os::log::warn("the last change in the log " + log_of(path_) + " is incomplete, from byte " + whole +
                  " on, and is ignored: it was being written when a nameserver ended, or failed before, or its bytes "
                  "have changed since. If a name that was bound then is not found, bind it again");
  return {};
}

Expected<void, OpenFault> SqliteJournal::check_log(const SqliteStamp& stamp) {
  if (had_log_ || stamp.version < first_with_sign) return {};
  const auto sign = read_counter(database_, log_name);
  if (!sign) return fault_of(sign.error());
  if (sign->value_or(0) == 0) return {};
  return OpenFault{"the name store " + path_ + " was not closed, and its log " + log_of(path_) +
                   ", which has what was bound last, is gone: put it back, or, to go on with the names of before, "
                   "make an empty file of that name"};
}

// Finds tables that another program has changed before it writes anything.
SqliteJournal::Done SqliteJournal::make_tables_of_today(const SqliteStamp& stamp) {
  if (stamp.version == schema_version)
    if (const auto done = prepare(); !done) return done;
  if (const auto done = database_.run(how_to_keep); !done) return done;
  if (stamp.version == schema_version) return {};
  if (stamp.is_new()) {
    if (const auto done = database_.run(make_tables); !done) return done;
    return prepare();
  }
  if (stamp.version < 2)
    if (const auto done = database_.run(upgrade_schema_1); !done) return done;
  if (const auto done = database_.run(upgrade_schema_2); !done) return done;
  return prepare();
}

Expected<void, OpenFault> SqliteJournal::check_pages() {
  const auto said = database_.text("PRAGMA quick_check(1)");
  if (!said) return fault_of(said.error());
  if (*said == "ok") return {};
  return fault_of(SqliteFault::damage(*said));
}

SqliteJournal::Done SqliteJournal::prepare() {
  const std::pair<Statement*, const char*> statements[] = {
      {&put_context_, "INSERT OR REPLACE INTO context VALUES(?1, row_sum(?1))"},
      {&drop_context_, "DELETE FROM context WHERE id=?1"},
      {&put_binding_,
       "INSERT OR REPLACE INTO binding VALUES(?1,?2,?3,?4,?5,?6,?7, CASE WHEN length(?8)=0 THEN "
       "row_sum(?1,?2,?3,?4,?5,?6,?7) ELSE row_sum(?1,?2,?3,?4,?5,?6,?7,?8) END, nullif(?8, x''))"},
      {&drop_binding_, "DELETE FROM binding WHERE context=?1 AND id=?2 AND kind=?3"},
      {&put_counter_, "INSERT OR REPLACE INTO counter VALUES(CAST(?1 AS TEXT), ?2, row_sum(CAST(?1 AS TEXT), ?2))"},
  };
  for (const auto& [statement, sql] : statements) {
    auto prepared = database_.prepare(sql);
    if (!prepared) return prepared.error();
    *statement = std::move(*prepared);
  }
  return {};
}

Expected<std::uint64_t, OpenFault> SqliteJournal::load(Tree& tree) {
  const os::SizeLimitGuard guard;
  if (const auto done = set_strange_rows_aside(database_, path_); !done) return fault_of(done.error());
  if (const auto done = load_contexts(tree); !done) return fault_of(done.error());
  if (const auto done = load_bindings(tree); !done) return fault_of(done.error());
  const auto next = counter(next_context_name), revision = counter(revision_name);
  if (!next || !revision) return fault_of((next ? revision : next).error());
  tree.skip_contexts_below(*next);
  // Writing the counters shows now, and not at the first bind, whether the file can be written.
  const std::pair<const char*, std::uint64_t> counters[] = {{next_context_name, tree.next_context()},
                                                            {revision_name, *revision}};
  for (const auto& [name, value] : counters) {
    const auto done = count(name, value);
    if (!done && !done.error().is_full_disk()) return fault_of(done.error());
    if (!done) (void)say(done.error());  // names can still be looked up; a writer gets the fault
  }
  begin_log();
  identity_ = identity_of(file_);
  log_identity_ = identity_of(log_);
  return *revision;
}

Expected<std::uint64_t, SqliteFault> SqliteJournal::counter(const char* name) {
  const auto known = read_counter(database_, name);
  if (!known) return known.error();
  if (*known) return **known;
  const std::uint64_t value = above_all_counts();
  os::log::warn("the name store " + path_ + " has lost its counter '" + name +
                "', or other bytes than a nameserver wrote are there; counting continues at " + std::to_string(value) +
                ", above every value that it can have had");
  return value;
}

// Keeps the log if the counter cannot be set back to 0. Otherwise the file without it would say that its log is lost.
void SqliteJournal::begin_log() {
  auto done = count(log_name, 1);
  if (done) done = database_.run("PRAGMA wal_checkpoint(TRUNCATE)");
  auto taken_back = count(log_name, 0);
  database_.keep_log(!taken_back);
  log_limit_ = longest_log + (done ? 0 : size_of_file(log_));
  for (const auto* each : {&done, &taken_back})
    if (!*each) os::log::debug("the log of the name store " + path_ + " goes on: " + each->error().text);
}

std::string SqliteJournal::replaced_file() const {
  if (identity_of(file_) != identity_) return path_;
  return identity_of(log_) == log_identity_ ? "" : log_of(path_);
}

SqliteJournal::Done SqliteJournal::load_contexts(Tree& tree) {
  auto rows = database_.prepare("SELECT id FROM context WHERE id>0");
  if (!rows) return rows.error();
  auto row = rows->next();
  for (; row && *row; row = rows->next()) tree.apply({.kind = Change::Kind::made, .context = rows->number(0)});
  return row ? Done{} : row.error();
}

SqliteJournal::Done SqliteJournal::load_bindings(Tree& tree) {
  auto rows = database_.prepare("SELECT context, id, kind, type, reference, target, owner, bound_by FROM binding");
  if (!rows) return rows.error();
  auto row = rows->next();
  for (; row && *row; row = rows->next()) {
    const Binding binding{.type = rows->number(3) == 0 ? BindingType::object : BindingType::context,
                          .reference = rows->bytes(4),
                          .context = rows->number(5),
                          .owner = rows->bytes(6),
                          .bound_by = rows->bytes(7)};
    tree.apply({.context = rows->number(0), .name = {rows->bytes(1), rows->bytes(2)}, .binding = binding});
  }
  return row ? Done{} : row.error();
}

Expected<void, StoreFault> SqliteJournal::keep(const Changes& changes, ContextId next_context) {
  const os::SizeLimitGuard guard;
  if (const std::string replaced = replaced_file(); !replaced.empty())
    return say("another program has removed or replaced " + replaced +
                   ", so changes would be lost: put it back, or restart this nameserver with the file that is there",
               StoreFault::unavailable);
  const auto kept = keep_all(changes, next_context);
  if (kept) {
    if (size_of_file(log_) > log_limit_) begin_log();
    return all_is_well(), Expected<void, StoreFault>{};
  }
  // If SQLite has rolled back by itself, this fails without harm.
  if (const auto undone = database_.run("ROLLBACK"); !undone) os::log::debug(undone.error().text);
  return say(kept.error());
}

SqliteJournal::Done SqliteJournal::keep_all(const Changes& changes, ContextId next_context) {
  if (const auto done = database_.run("BEGIN IMMEDIATE"); !done) return done;
  for (const Change& change : changes)
    if (const auto done = keep_one(change); !done) return done;
  if (const auto done = count(next_context_name, next_context); !done) return done;
  if (const auto done = count(revision_name, changes.back().revision); !done) return done;
  return database_.run("COMMIT");
}

SqliteJournal::Done SqliteJournal::keep_one(const Change& change) {
  switch (change.kind) {
    case Change::Kind::made:
      return put_context_.bind(1, change.context).run();
    case Change::Kind::destroyed:
      return drop_context_.bind(1, change.context).run();
    case Change::Kind::unbound:
      return drop_binding_.bind(1, change.context).bind(2, change.name.id).bind(3, change.name.kind).run();
    case Change::Kind::bound:
    case Change::Kind::rebound:
      break;
  }
  const Binding& binding = change.binding;
  put_binding_.bind(1, change.context).bind(2, change.name.id).bind(3, change.name.kind);
  put_binding_.bind(4, binding.type == BindingType::object ? std::uint64_t{0} : std::uint64_t{1});
  put_binding_.bind(5, binding.reference).bind(6, binding.context).bind(7, binding.owner);
  return put_binding_.bind(8, binding.bound_by).run();
}

SqliteJournal::Done SqliteJournal::count(const char* what, std::uint64_t value) {
  return put_counter_.bind(1, std::string_view(what)).bind(2, value).run();
}

StoreFault SqliteJournal::say(const SqliteFault& fault) {
  if (fault.is_full_disk()) return say(fault.text + make_room, StoreFault::no_space);
  return say(fault.text + (fault.is_failed_disk() ? see_to_disk : ""), StoreFault::unavailable);
}

StoreFault SqliteJournal::say(const std::string& why, StoreFault fault) {
  const std::string remark = "names cannot be written to " + path_ + ": " + why;
  const os::LockGuard lock(mutex_);
  if (remark != remark_) os::log::error(remark);
  remark_ = remark;
  return fault;
}

void SqliteJournal::all_is_well() {
  const os::LockGuard lock(mutex_);
  if (!remark_.empty()) os::log::info("names are written to " + path_ + " again");
  remark_.clear();
}

StoreStatus SqliteJournal::status() {
  const os::LockGuard lock(mutex_);
  return {.kind = "sqlite", .place = path_, .remark = remark_};
}

}  // namespace corelane::nameserver
