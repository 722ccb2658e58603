#include "services/nameserver/stores/sqlite/sqlite_store.h"

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "orb/os/log.h"
#include "services/nameserver/stores/sqlite/sqlite_journal.h"

namespace corelane::nameserver {
namespace {

Expected<std::unique_ptr<Store>, OpenFault> open_file(const std::string& path, const StoreLimits& limits) {
  auto journal = SqliteJournal::open(path);
  if (!journal) return journal.error();
  Tree tree(limits);
  const auto revision = (*journal)->load(tree);
  if (!revision) return revision.error();
  return {std::make_unique<TreeStore>(std::move(tree), std::move(*journal), *revision)};
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::symlink_status(path, ignored).type() != std::filesystem::file_type::not_found;
}

// Renames the file and its log, or neither, because SQLite would replay an old log into the new file. Renames the log
// first, so that no log is left if the process ends in between. Returns "" if they cannot be renamed.
std::string move_database_aside(const std::string& path) {
  std::string aside;
  for (int number = 1; aside.empty() || is_there(aside) || is_there(aside + "-wal"); ++number)
    aside = path + ".damaged-" + std::to_string(number);
  std::error_code failed, ignored;
  std::filesystem::rename(path + "-wal", aside + "-wal", failed);
  if (failed && failed != std::errc::no_such_file_or_directory) return {};
  const bool had_log = !failed;
  std::filesystem::rename(path, aside, failed);
  if (!failed || (had_log && failed == std::errc::no_such_file_or_directory)) return aside;
  if (had_log) std::filesystem::rename(aside + "-wal", path + "-wal", ignored);
  return {};
}

}  // namespace

Expected<std::unique_ptr<Store>, std::string> open_sqlite_store(const std::string& path, const StoreOptions& options) {
  if (path.empty()) return std::string("the SQLite store needs a file: sqlite:PATH");
  auto opened = open_file(path, options.limits);
  if (!opened && opened.error().damaged && options.move_aside_damaged) {
    const std::string aside = move_database_aside(path);
    if (aside.empty()) return opened.error().text + " (it cannot be moved aside, either: is its directory writable?)";
    os::log::warn("the name store " + path + " is damaged; it is now " + aside +
                  ", and a new one begins with no names");
    opened = open_file(path, options.limits);
  }
  if (!opened) return opened.error().text;
  return {std::move(*opened)};
}

}  // namespace corelane::nameserver
