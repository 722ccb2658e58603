// open_store(): the store that a specification names.
//   memory        nothing outlasts the process (tree_store.h)
//   sqlite:PATH   a file (sqlite_store.h)
// Thread: any but a real-time one; waits for disks and networks.
#pragma once

#include <memory>
#include <string>

#include "services/nameserver/stores/store.h"

namespace corelane::nameserver {

struct StoreOptions {
  StoreLimits limits{};
  bool move_aside_damaged = false;  // sqlite: a file that is damaged is renamed, and a new one begins
};

// Or, as a sentence: what could not be opened, why, and what mends it.
Expected<std::unique_ptr<Store>, std::string> open_store(const std::string& specification,
                                                         const StoreOptions& options = {});

}  // namespace corelane::nameserver
