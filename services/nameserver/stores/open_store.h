// open_store() opens the store that a specification names.
//
//   memory        nothing outlives the process (tree_store.h)
//   sqlite:PATH   a file (sqlite_store.h)
//   etcd:URL      an etcd, http[s]://HOST:PORT[,HOST:PORT...][/PREFIX] (etcd_store.h)
//
// Thread: any but a real-time one; waits for disks and networks.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "services/nameserver/stores/store.h"
#include "services/nameserver/stores/tls_files.h"

namespace corelane::nameserver {

struct StoreOptions {
  StoreLimits limits{};
  bool move_aside_damaged = false;           // sqlite: rename a damaged file, and start with a new one
  std::string etcd_user{}, etcd_password{};  // empty: without a login
  TlsFiles etcd_tls{};                       // for https
  std::chrono::seconds etcd_lease{10};       // names of owners outlive this process by this time; at least 3 s
  std::chrono::seconds etcd_timeout{5};      // of one request to etcd
  std::chrono::seconds etcd_patience{10};    // how long to try until the first answer; at least one try
  std::string etcd_copy{};                   // etcd: the file to start from while etcd is away; empty: none
  // The most names and bytes in one reply of etcd. If the names of a request are too long together, smaller parts are
  // requested. At least one name is.
  std::size_t etcd_page = 2000, etcd_reply = 64u << 20;
};

// On failure returns a sentence: what could not be opened, why, and what to do.
Expected<std::unique_ptr<Store>, std::string> open_store(const std::string& specification,
                                                         const StoreOptions& options = {});

}  // namespace corelane::nameserver
