// EtcdCopyFile is the file in which a nameserver keeps what etcd has below its prefix. A start while etcd is away reads
// it.
//
// It is a SQLite database (application_id 0x434c4e43, user_version 1), used by one process at a time. Each opening
// checks that all entries are there and unchanged, so that damaged data is never taken for names:
//
//   entry   key, value, modified, lease: as in etcd; sum: checksum of these
//   mark    one row. place: the etcd and the prefix; revision: of the latest change; seen: when etcd was last
//           followed, in seconds since 1970; digest: the XOR of all entries' sums; sum: checksum of these
//
// After a loss of power the last changes may be missing.
// Threads: one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "services/nameserver/stores/etcd/etcd_client.h"
#include "services/nameserver/stores/sqlite/sqlite_database.h"

namespace corelane::nameserver {

// The changes since the file was last written.
struct EtcdCopyNews {
  std::map<std::string, std::optional<EtcdEntry>> entries{};  // by key; nothing: the entry was deleted
  std::uint64_t revision = 0;
  std::int64_t seen = 0;  // when etcd was last followed, in seconds since 1970
};

class EtcdCopyFile {
 public:
  struct Content {
    std::vector<EtcdEntry> entries;
    std::uint64_t revision = 0;
    std::int64_t seen = 0;
  };

  // Opens the file. If it is damaged or belongs to another place, starts again with an empty one, and the log says so.
  // On failure returns a sentence: why the file cannot be used, and what to do.
  static Expected<EtcdCopyFile, std::string> open(const std::string& path, const std::string& place);

  // Returns what the file held when it was opened, at the first call. Returns nothing for a new file.
  std::optional<Content> take_content() { return std::exchange(content_, std::nullopt); }
  // Writes all of it or nothing.
  Expected<void, SqliteFault> write(const EtcdCopyNews& news);

 private:
  using Done = Expected<void, SqliteFault>;

  static Expected<EtcdCopyFile, SqliteFault> open_once(const std::string& path, const std::string& place);
  Done make_or_check_tables();
  Done prepare();
  Done read(const std::string& path, const std::string& place);
  Done read_entries(Content& content, std::uint64_t digest);
  Done clear(const std::string& place);
  Done write_all(const EtcdCopyNews& news, std::uint64_t& digest);

  Database database_;
  Statement drop_entry_, put_entry_, put_mark_;
  std::uint64_t digest_ = 0;  // as in the file
  std::optional<Content> content_;
};

}  // namespace corelane::nameserver
