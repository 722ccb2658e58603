// SqliteJournal: the tables that a TreeStore's changes are kept in (sqlite_store.h, docs/stores.md).
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "services/nameserver/stores/sqlite_database.h"
#include "services/nameserver/stores/tree_store.h"

namespace corelane::nameserver {

// Why a file cannot be used.
struct OpenFault {
  std::string text;      // what, where, how to mend
  bool damaged = false;  // it is no database, or a spoiled one
};

// Device and number: of that file and no other. Zeros: there is none.
using FileIdentity = std::pair<std::uint64_t, std::uint64_t>;

class SqliteJournal final : public Journal {
 public:
  static Expected<std::unique_ptr<SqliteJournal>, OpenFault> open(const std::string& path);
  ~SqliteJournal() override;
  SqliteJournal(const SqliteJournal&) = delete;
  SqliteJournal& operator=(const SqliteJournal&) = delete;

  // What is kept, into an empty tree; the revision reached.
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
  // One that is not to be believed is told, and goes on above all that it can have been.
  Expected<std::uint64_t, SqliteFault> counter(const char* name);
  Done count(const char* what, std::uint64_t value);
  // Puts into the file what the log has, and a sign besides that only the log takes back: a file whose log is gone says
  // so itself (check_log). Where there is no room for it the log goes on as it is.
  void begin_log();
  StoreFault say(const SqliteFault& fault);
  StoreFault say(const std::string& why, StoreFault fault);
  void all_is_well();

  // The file and its log, of which writes go elsewhere once somebody has removed or replaced them.
  std::string replaced_file() const;

  const std::string path_;
  const std::string file_;                    // the same from the root: the working directory may change
  const std::string log_;                     // beside it
  const bool had_log_;                        // when it was opened
  std::uintmax_t log_limit_ = 0;              // bytes of log_ beyond which it begins anew
  FileIdentity identity_{}, log_identity_{};  // of those that are open
  Database database_;
  Statement put_context_, drop_context_, put_binding_, drop_binding_, put_counter_;

  std::mutex mutex_;
  std::string remark_;  // guarded by mutex_
};

}  // namespace corelane::nameserver
