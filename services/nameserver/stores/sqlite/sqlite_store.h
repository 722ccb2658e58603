// A store in a SQLite file. An acknowledged write survives kill -9 at any point. It survives a loss of power if the
// disk honors flush requests (write-ahead log, synchronous=EXTRA: the log is on the disk before a commit returns).
//
// One process at a time uses the file. It is read once, when it is opened; readers are served from memory.
// docs/stores.md describes the tables. Write errors are in the log, and in status().remark until a write succeeds
// again.
//
// The folder services/nameserver/stores/sqlite keeps names in an SQLite file.
#pragma once

#include <memory>
#include <string>

#include "services/nameserver/stores/open_store.h"

namespace corelane::nameserver {

// Opens the file, or makes it; its directory must exist. A file that is damaged or that another program wrote is
// refused and left as it is. With options.move_aside_damaged, a damaged file is renamed to PATH.damaged-N and a new one
// is made. Thread: any but a real-time one.
Expected<std::unique_ptr<Store>, std::string> open_sqlite_store(const std::string& path, const StoreOptions& options);

}  // namespace corelane::nameserver
