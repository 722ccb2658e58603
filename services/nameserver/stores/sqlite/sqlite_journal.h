// SqliteJournal keeps a TreeStore's changes in the tables of a SQLite file (sqlite_store.h, docs/stores.md).
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "orb/base/thread_safety.h"
#include "orb/os/mutex.h"
#include "services/nameserver/stores/sqlite/sqlite_database.h"
#include "services/nameserver/stores/tree/tree_store.h"

namespace corelane::nameserver {

// Says why a file cannot be used.
struct OpenFault {
  std::string text;      // what is wrong, where, what to do
  bool damaged = false;  // it is not a database, or a corrupt one
};

// Device and inode number, which identify a file. Zeros: there is no file.
using FileIdentity = std::pair<std::uint64_t, std::uint64_t>;

class SqliteJournal final : public Journal {
 public:
  static Expected<std::unique_ptr<SqliteJournal>, OpenFault> open(const std::string& path);
  ~SqliteJournal() override;
  SqliteJournal(const SqliteJournal&) = delete;
  SqliteJournal& operator=(const SqliteJournal&) = delete;

  // Loads what is kept into an empty tree. Returns the revision reached.
  Expected<std::uint64_t, OpenFault> load(Tree& tree);

  Expected<void, StoreFault> keep(const Changes& changes, ContextId next_context) override;
  StoreStatus status() override;

 private:
  using Done = Expected<void, SqliteFault>;

  SqliteJournal(std::string path, bool had_log, Database database);
  Expected<void, OpenFault> set_up();
  Expected<void, OpenFault> check_owner(const SqliteStamp& stamp) const;
  Expected<void, OpenFault> check_pages();
  Expected<void, OpenFault> check_log_bytes() const;
  Expected<void, OpenFault> check_log(const SqliteStamp& stamp);
  Done make_tables_of_today(const SqliteStamp& stamp);
  OpenFault fault_of(const SqliteFault& fault) const;
  Done prepare();
  Done load_contexts(Tree& tree);
  Done load_bindings(Tree& tree);
  Done keep_all(const Changes& changes, ContextId next_context);
  Done keep_one(const Change& change);
  // Returns the counter. If it is lost or damaged, logs that, and returns a number above all that it can have had.
  Expected<std::uint64_t, SqliteFault> counter(const char* name);
  Done count(const char* what, std::uint64_t value);
  // Moves the log's content into the file. Also sets the counter `log` to 1 in the file, and to 0 in the new log only.
  // So check_log() detects that a file has lost its log. If there is no room for this, the log continues as it is.
  void begin_log();
  StoreFault say(const SqliteFault& fault);
  StoreFault say(const std::string& why, StoreFault fault);
  void all_is_well();

  // Returns the path of the file or of its log if another program has removed or replaced it, because writes would then
  // be lost. Returns "" if both are in place.
  std::string replaced_file() const;

  const std::string path_;
  const std::string file_;                    // path_ as an absolute path, because the working directory may change
  const std::string log_;                     // the log beside it
  const bool had_log_;                        // whether there was a log when it was opened
  std::uintmax_t log_limit_ = 0;              // when log_ has more bytes than this, begin_log() is called
  FileIdentity identity_{}, log_identity_{};  // of the open files
  Database database_;
  Statement put_context_, drop_context_, put_binding_, drop_binding_, put_counter_;

  os::Mutex mutex_;
  std::string remark_ CORELANE_GUARDED_BY(mutex_);
};

}  // namespace corelane::nameserver
