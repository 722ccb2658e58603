// The store in a file of SQLite: what a writer was told is done survives kill -9 at any point, and the loss of power as
// far as the disk keeps what it said it has (write-ahead log, synchronous=EXTRA: the log is on the disk before a commit
// returns).
//
// One process at a time has the file. It is read once, when it is opened; readers are served from memory. The tables
// are described in docs/stores.md. Errors while writing are in the log and in status().remark until a write succeeds
// again.
#pragma once

#include <memory>
#include <string>

#include "services/nameserver/stores/open_store.h"

namespace corelane::nameserver {

// Makes the file when there is none; its directory has to be there. A file that is damaged or that something else wrote
// is refused and left as it is; with options.move_aside_damaged a damaged one is renamed to PATH.damaged-N and a new
// one made. Thread: any but a real-time one.
Expected<std::unique_ptr<Store>, std::string> open_sqlite_store(const std::string& path, const StoreOptions& options);

}  // namespace corelane::nameserver
