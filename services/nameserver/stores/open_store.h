// open_store(): the store that a specification names.
//   memory        nothing outlasts the process (tree_store.h)
//   sqlite:PATH   a file (sqlite_store.h)
//   etcd:URL      an etcd, http[s]://HOST:PORT[,HOST:PORT...][/PREFIX] (etcd_store.h)
// Thread: any but a real-time one; waits for disks and networks.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "services/nameserver/stores/store.h"
#include "services/nameserver/stores/tls.h"

namespace corelane::nameserver {

struct StoreOptions {
  StoreLimits limits{};
  bool move_aside_damaged = false;           // sqlite: a file that is damaged is renamed, and a new one begins
  std::string etcd_user{}, etcd_password{};  // empty: without a login
  TlsFiles etcd_tls{};                       // of https
  std::chrono::seconds etcd_lease{10};       // names of owners outlive this process by as much; from 3 s on
  std::chrono::seconds etcd_timeout{5};      // of one question to etcd
  std::chrono::seconds etcd_patience{10};    // how long it is tried, once at least, until it answers for the first time
  std::string etcd_copy{};                   // etcd: the file to start from while it is away; empty: none
  // What one reply of etcd's has at most: names, one at least, and bytes. Those that are too long together are asked
  // for in smaller parts.
  std::size_t etcd_page = 2000, etcd_reply = 64u << 20;
};

// Or, as a sentence: what could not be opened, why, and what mends it.
Expected<std::unique_ptr<Store>, std::string> open_store(const std::string& specification,
                                                         const StoreOptions& options = {});

}  // namespace corelane::nameserver
