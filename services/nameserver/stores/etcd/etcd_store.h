// A store in etcd, for several nameservers that share the same names. It uses the HTTP gateway of etcd 3.4 or later.
//
// A copy of all names in this process follows etcd's changes. Readers are served from it and never wait for etcd. A
// writer sends one transaction to etcd, and returns when the copy shows the change.
//
// Names of an owner are attached to a lease that this process renews. They are removed when the owner ends
// (remove_owned). If this process ends, they are removed when the lease expires. A store that is opened on this host
// before then continues them: owners() returns their owners.
//
// While etcd is away, readers get the copy, status().stale says so, and writers get `unavailable`. When etcd is back,
// the copy is compared with all that etcd has. So it does not matter if etcd has compacted its history. A writer whose
// answer was lost gets `unavailable` too, but its change may have been made. If a change is made while the copy loses
// contact to etcd, readers may see it only when the copy is complete again.
//
// With options.etcd_copy the copy is also kept in that file (etcd_copy.h). A store that is opened while etcd is away
// starts with it, stale.
//
// Keys and values: etcd_keys.h. https: uses TLS (tls.h).
//
// The folder services/nameserver/stores/etcd keeps names in an etcd, which several nameservers may share.
#pragma once

#include <memory>
#include <string>

#include "services/nameserver/stores/open_store.h"

namespace corelane::nameserver {

// Opens "http://HOST:PORT[,HOST:PORT...][/PREFIX]" or https://; the default prefix is /corelane/names. Waits until etcd
// has answered, at most options.etcd_patience. If there is a copy of all names on the disk, waits at most a second.
// Thread: any but a real-time one.
Expected<std::unique_ptr<Store>, std::string> open_etcd_store(const std::string& url, const StoreOptions& options);

}  // namespace corelane::nameserver
