#include "services/nameserver/stores/etcd/etcd_copy_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "orb/os/log.h"
#include "orb/os/process/size_limit_guard.h"
#include "services/nameserver/stores/etcd/etcd_address.h"

namespace corelane::nameserver {
namespace {

constexpr std::uint64_t copy_application = 0x434c'4e43;  // "CLNC"
constexpr std::uint64_t copy_version = 1;

// Does not wait for the disk: etcd still has what a loss of power removes here.
constexpr const char* how_to_keep_copy = "PRAGMA synchronous=NORMAL; PRAGMA journal_mode=WAL;";
// Moves the tables from the log into the file at once, so that is_copy() recognizes the file even if it is damaged.
constexpr const char* make_copy_tables =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE entry(key BLOB PRIMARY KEY, value BLOB NOT NULL, modified INTEGER NOT NULL, lease INTEGER NOT NULL,"
    " sum INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE mark(one INTEGER PRIMARY KEY CHECK(one=1), place BLOB NOT NULL, revision INTEGER NOT NULL,"
    " seen INTEGER NOT NULL, digest INTEGER NOT NULL, sum INTEGER NOT NULL);"
    "PRAGMA application_id=0x434c4e43; PRAGMA user_version=1; COMMIT;"
    "PRAGMA wal_checkpoint(TRUNCATE);";

SqliteFault foreign(const std::string& what) { return {.text = what}; }

// Returns whether the file's first bytes mark it as such a copy. Only then may it be removed.
bool is_copy(const std::string& path) {
  constexpr std::size_t application_at = 68, size = 72;
  std::array<char, size> head{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(head.data(), size)) return false;
  const std::string_view bytes(head.data(), size);
  return bytes.starts_with("SQLite format 3") && bytes.substr(application_at) == "CLNC";
}

// Removes the log first, because SQLite would replay a log that is left into the new file.
bool remove_database(const std::string& path) {
  std::error_code failed;
  for (const char* suffix : {"-wal", "-shm", "-journal", ""})
    if (std::filesystem::remove(path + suffix, failed); failed) return false;
  return true;
}

// Returns whether both are the same etcd: the same prefix, and at least one common endpoint.
bool is_same_etcd(const std::string& copied, const std::string& place) {
  const auto one = parse_etcd_address(copied), other = parse_etcd_address(place);
  if (!one || !other) return copied == place;
  const auto is_other_too = [&](const HttpEndpoint& endpoint) {
    return std::ranges::find(other->endpoints, endpoint) != other->endpoints.end();
  };
  return one->prefix == other->prefix && std::ranges::any_of(one->endpoints, is_other_too);
}

std::string copy_text_of(const std::string& path, const SqliteFault& fault) {
  const std::string file = "the copy of names " + path + " ";
  if (fault.is_busy())
    return file + "is in use by another process, perhaps another nameserver: name another file with naming.etcd_copy";
  if (fault.is_damage() || fault.code == 0)
    return file + "is not used and left as it is (" + fault.text +
           "): remove it, or name another file with naming.etcd_copy";
  if (fault.is_full_disk()) return file + "cannot be written (" + fault.text + "): make room on its disk";
  return file + "cannot be opened for writing (" + fault.text +
         "): its directory must exist, and it and the file be writable for this user, or name another file with "
         "naming.etcd_copy";
}

}  // namespace

Expected<EtcdCopyFile, std::string> EtcdCopyFile::open(const std::string& path, const std::string& place) {
  const os::SizeLimitGuard guard;
  auto opened = open_once(path, place);
  if (!opened && (opened.error().is_damage() || opened.error().is_other_schema()) && is_copy(path)) {
    const std::string damage = opened.error().text;
    if (!remove_database(path)) return copy_text_of(path, opened.error());
    os::log::warn("the copy of names " + path + " is damaged (" + damage +
                  ") and is not used; it is written anew as soon as etcd answers");
    opened = open_once(path, place);
  }
  if (!opened) return copy_text_of(path, opened.error());
  return std::move(*opened);
}

Expected<EtcdCopyFile, SqliteFault> EtcdCopyFile::open_once(const std::string& path, const std::string& place) {
  std::error_code ignored;
  const auto found = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(found) && !std::filesystem::is_regular_file(found)) return foreign("it is no plain file");
  // SQLite takes a file of one byte for an empty one, and would overwrite it.
  if (std::filesystem::file_size(path, ignored) == 1) return foreign("it is no database of Corelane's");
  auto database = Database::open(path);
  if (!database) return database.error();
  EtcdCopyFile file;
  file.database_ = std::move(*database);
  if (const auto done = file.make_or_check_tables(); !done) return done.error();
  if (const auto done = file.database_.define_sum("row_sum"); !done) return done.error();
  if (const auto done = file.prepare(); !done) return done.error();
  if (const auto done = file.read(path, place); !done) return done.error();
  return file;
}

EtcdCopyFile::Done EtcdCopyFile::make_or_check_tables() {
  const auto stamp = database_.look();
  if (!stamp) return stamp.error();
  if (!stamp->is_new()) {
    if (stamp->application != copy_application) return foreign("it is a database of another program");
    if (stamp->version != copy_version) return foreign("another version of Corelane wrote it");
    const auto said = database_.text("PRAGMA quick_check(1)");
    if (!said) return said.error();
    if (*said != "ok") return SqliteFault::damage(*said);
  }
  database_.keep_log(false);
  if (const auto done = database_.run(how_to_keep_copy); !done) return done;
  return stamp->is_new() ? database_.run(make_copy_tables) : Done{};
}

EtcdCopyFile::Done EtcdCopyFile::prepare() {
  const std::pair<Statement*, const char*> statements[] = {
      {&drop_entry_, "DELETE FROM entry WHERE key=?1 RETURNING sum"},
      {&put_entry_, "INSERT INTO entry VALUES(?1,?2,?3,?4, row_sum(?1,?2,?3,?4)) RETURNING sum"},
      {&put_mark_,
       "INSERT OR REPLACE INTO mark SELECT 1, place, ?1, ?2, ?3, row_sum(place, ?1, ?2, ?3) FROM mark WHERE one=1"},
  };
  for (const auto& [statement, sql] : statements) {
    auto prepared = database_.prepare(sql);
    if (!prepared) return prepared.error();
    *statement = std::move(*prepared);
  }
  return {};
}

EtcdCopyFile::Done EtcdCopyFile::read(const std::string& path, const std::string& place) {
  auto marks = database_.prepare(
      "SELECT place, revision, seen, digest, sum IS row_sum(place, revision, seen, digest) FROM mark");
  if (!marks) return marks.error();
  const auto is_marked = marks->next();
  if (!is_marked) return is_marked.error();
  if (!*is_marked) return clear(place);  // a new file
  if (marks->number(4) != 1) return SqliteFault::damage("its mark has changed");
  Content content{.entries = {}, .revision = marks->number(1), .seen = static_cast<std::int64_t>(marks->number(2))};
  const std::string copied = marks->bytes(0);
  const std::uint64_t digest = marks->number(3);
  if (const auto done = marks->run(); !done) return done.error();
  if (!is_same_etcd(copied, place)) {
    os::log::warn("the copy of names " + path + " is of " + copied + " and not of " + place +
                  ": it is not used, and is written anew as soon as etcd answers");
    return clear(place);
  }
  if (const auto done = read_entries(content, digest); !done) return done.error();
  if (content.revision != 0) content_ = std::move(content);
  auto moved = database_.prepare("UPDATE mark SET place=?1, sum=row_sum(?1, revision, seen, digest)");
  return moved ? moved->bind(1, place).run() : moved.error();
}

EtcdCopyFile::Done EtcdCopyFile::read_entries(Content& content, std::uint64_t digest) {
  auto rows = database_.prepare(
      "SELECT key, value, modified, lease, sum, sum IS row_sum(key, value, modified, lease) FROM entry ORDER BY key");
  if (!rows) return rows.error();
  auto row = rows->next();
  for (; row && *row; row = rows->next()) {
    if (rows->number(5) != 1) return SqliteFault::damage("an entry has changed");
    digest_ ^= rows->number(4);
    content.entries.push_back({.key = rows->bytes(0),
                               .value = rows->bytes(1),
                               .modified = rows->number(2),
                               .lease = static_cast<EtcdLease>(rows->number(3))});
  }
  if (!row) return row.error();
  return digest_ == digest ? Done{} : SqliteFault::damage("entries are missing");
}

EtcdCopyFile::Done EtcdCopyFile::clear(const std::string& place) {
  if (const auto done = database_.run("DELETE FROM entry; DELETE FROM mark"); !done) return done;
  digest_ = 0;
  auto mark = database_.prepare("INSERT INTO mark VALUES(1, ?1, 0, 0, 0, row_sum(?1, 0, 0, 0))");
  return mark ? mark->bind(1, place).run() : mark.error();
}

Expected<void, SqliteFault> EtcdCopyFile::write(const EtcdCopyNews& news) {
  const os::SizeLimitGuard guard;
  std::uint64_t digest = digest_;
  auto written = write_all(news, digest);
  if (written) {
    digest_ = digest;
  } else if (const auto undone = database_.run("ROLLBACK"); !undone) {
    os::log::debug(undone.error().text);  // SQLite has rolled back by itself
  }
  return written;
}

EtcdCopyFile::Done EtcdCopyFile::write_all(const EtcdCopyNews& news, std::uint64_t& digest) {
  // Runs a statement that returns the sum of the entry that it inserts or deletes, if there is one.
  const auto change = [&](Statement& statement) -> Done {
    auto row = statement.next();
    for (; row && *row; row = statement.next()) digest ^= statement.number(0);
    return row ? Done{} : row.error();
  };
  if (const auto done = database_.run("BEGIN IMMEDIATE"); !done) return done;
  for (const auto& [key, entry] : news.entries) {
    if (const auto done = change(drop_entry_.bind(1, key)); !done) return done;
    if (!entry) continue;
    put_entry_.bind(1, key).bind(2, entry->value).bind(3, entry->modified);
    if (const auto done = change(put_entry_.bind(4, static_cast<std::uint64_t>(entry->lease))); !done) return done;
  }
  put_mark_.bind(1, news.revision).bind(2, static_cast<std::uint64_t>(news.seen)).bind(3, digest);
  if (const auto done = put_mark_.run(); !done) return done;
  return database_.run("COMMIT");
}

}  // namespace corelane::nameserver
