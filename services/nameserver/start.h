// How a nameserver starts: which settings of an ORB are otherwise for it, and how others find it.
//
// It keeps no deadlines, so it takes no core, no real-time priority and no part in the host's ledger; it listens at
// this host's port 2809 and at naming.socket, root's for every user.
//
// Threads: values; any but real-time ones.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/core/settings.h"
#include "orb/core/settings_fault.h"
#include "orb/transport/endpoint.h"
#include "services/nameserver/stores/store.h"

namespace corelane::nameserver {

// Options for its ORB: those given, behind what is a nameserver's default; endpoint.listen and naming.socket joined.
// Makes the runtime directory where the socket is in it.
Expected<std::vector<std::string>, core::SettingsFault> nameserver_options(const std::vector<std::string>& given);

// The store of naming.store, or the file where this user's names are, whose directory is made. Else, as a sentence:
// what could not be opened, why, and what mends it.
Expected<std::unique_ptr<Store>, std::string> store_of(const core::NamingSettings& settings);

// Why a nameserver cannot listen at this Unix socket: another does, and what one more needs. "" where nobody does.
std::string fault_of_place(const std::string& socket);

// What to tell others: corbaloc: for TCP, the paths of sockets for this host.
std::vector<std::string> urls_of(const std::vector<transport::Endpoint>& endpoints);

}  // namespace corelane::nameserver
