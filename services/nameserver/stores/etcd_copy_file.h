// EtcdCopyFile: the file in which a nameserver keeps what etcd has below its prefix, for a start while etcd is away.
//
// It is a database of SQLite (application_id 0x434c4e43, user_version 1), used by one process at a time. Which entries
// it has is checked at each opening, so that a damaged one is never taken for names:
//
//   entry   key, value, modified, lease: as etcd has them; sum: over these
//   mark    one row. place: which etcd, and where in it; revision: of the latest change; seen: when etcd was last
//           followed, in seconds since 1970; digest: the sums of all entries, combined by XOR; sum: over these
//
// After a loss of power it may be as it was some changes before. Threads: one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "services/nameserver/stores/etcd_client.h"
#include "services/nameserver/stores/sqlite_database.h"

namespace corelane::nameserver {

// What happened since the file was written last.
struct EtcdCopyNews {
  std::map<std::string, std::optional<EtcdEntry>> entries{};  // by key; nothing: it is gone
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

  // One that is damaged, or of another place than the one named, begins anew, and the log says so. Else, as a sentence:
  // why it cannot be used, and what mends that.
  static Expected<EtcdCopyFile, std::string> open(const std::string& path, const std::string& place);

  // What it had when it was opened, once; nothing where it is new.
  std::optional<Content> take_content() { return std::exchange(content_, std::nullopt); }
  // All of it or nothing.
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
  std::uint64_t digest_ = 0;  // as the file has it
  std::optional<Content> content_;
};

}  // namespace corelane::nameserver
