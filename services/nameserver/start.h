// Functions that prepare the start of a nameserver: its ORB options, its store, and the URLs that clients use.
//
// A nameserver has no deadlines. It takes no core, no real-time priority and no part in the host's ledger. It listens
// at this host's port 2809 and at naming.socket. If root runs it, every user may connect to that socket.
//
// Threads: values; any but real-time ones.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/core/settings_fault.h"
#include "orb/transport/endpoint.h"
#include "services/nameserver/settings.h"
#include "services/nameserver/stores/etcd/etcd_settings.h"
#include "services/nameserver/stores/store.h"

namespace corelane::nameserver {

// Returns the options for the nameserver's ORB: its defaults, then the given options, then endpoint.listen joined with
// naming.socket. Makes the socket's directory if it does not exist.
Expected<std::vector<std::string>, core::SettingsFault> nameserver_options(const std::vector<std::string>& given);

// Opens the store that naming.store names. Without that setting, opens the file with this user's names, and makes its
// directory. `etcd` is for a store in etcd. On failure returns a sentence: what could not be opened, why, and what to
// do.
Expected<std::unique_ptr<Store>, std::string> store_of(const NameserverSettings& settings, const EtcdSettings& etcd);

// Returns why a nameserver cannot listen at this Unix socket: another process listens there. The text says what a
// second nameserver needs. Returns "" if no process listens there.
std::string fault_of_place(const std::string& socket);

// Returns the URLs for clients: corbaloc: for TCP, the paths of sockets for this host.
std::vector<std::string> urls_of(const std::vector<transport::Endpoint>& endpoints);

}  // namespace corelane::nameserver
