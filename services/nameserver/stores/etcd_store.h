// The store in etcd, for several nameservers that have the same names: over the HTTP gateway of etcd 3.4 or later.
//
// A copy of all names is kept here and follows etcd's changes: readers are served from it and never wait for etcd.
// Writers ask etcd, in one transaction each, and return when the copy shows what they did. Names of an owner hang on a
// lease that this process keeps alive: they go when he goes (remove_owned) or, a lease's time later, when this process
// goes, unless a store that is opened on this host until then goes on with them: owners() has them.
//
// While etcd is away readers have the copy, status().stale says so, and writers are told `unavailable`. When it is back
// the copy is compared with all that etcd has, so that it does not matter what etcd has forgotten of its history. A
// writer whose answer was lost is told `unavailable`, too; what he asked for may have been done. One that is done while
// the copy loses etcd may be seen by readers only when the copy is whole again.
//
// With options.etcd_copy the copy is kept in that file, too (etcd_copy.h): a store that is opened while etcd is away
// begins with it, stale.
//
// Keys and values: etcd_keys.h. With https:, TLS (tls.h).
#pragma once

#include <memory>
#include <string>

#include "services/nameserver/stores/open_store.h"

namespace corelane::nameserver {

// "http://HOST:PORT[,HOST:PORT...][/PREFIX]" or https://; without a prefix: /corelane/names. Waits until etcd has
// answered, for options.etcd_patience at most; for a second, where there is a copy of all names on the disk. Thread:
// any but a real-time one.
Expected<std::unique_ptr<Store>, std::string> open_etcd_store(const std::string& url, const StoreOptions& options);

}  // namespace corelane::nameserver
