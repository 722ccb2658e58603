#include "services/nameserver/stores/sqlite_store.h"

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "orb/os/log.h"
#include "services/nameserver/stores/sqlite_journal.h"

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

// The file and its log; nothing when the file cannot be renamed.
std::string move_database_aside(const std::string& path) {
  std::string aside;
  for (int number = 1; aside.empty() || std::filesystem::exists(aside); ++number)
    aside = path + ".damaged-" + std::to_string(number);
  std::error_code failed, no_log;
  std::filesystem::rename(path, aside, failed);
  if (failed) return {};
  std::filesystem::rename(path + "-wal", aside + "-wal", no_log);
  return aside;
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
