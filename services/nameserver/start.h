// How a nameserver starts: which settings of an ORB are otherwise for it, and how others find it.
//
// It keeps no deadlines, so it takes no core, no real-time priority and no part in the host's ledger; it listens at
// this host's port 2809 and at naming.socket, root's for every user.
//
// Threads: values; any but real-time ones.
#pragma once

#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/core/settings.h"
#include "orb/core/settings_fault.h"
#include "orb/transport/endpoint.h"

namespace corelane::nameserver {

// Options for its ORB: those given, behind what is a nameserver's default; endpoint.listen and naming.socket joined.
// Makes the runtime directory where the socket is in it.
Expected<std::vector<std::string>, core::SettingsFault> nameserver_options(const std::vector<std::string>& given);

// What open_store() takes.
struct Specification {
  std::string text;
};
// naming.store, or the file where this user's names are; makes its directory. Else why not.
Expected<Specification, std::string> store_of(const core::NamingSettings& settings);

// What to tell others: corbaloc: for TCP, the paths of sockets for this host.
std::vector<std::string> urls_of(const std::vector<transport::Endpoint>& endpoints);

}  // namespace corelane::nameserver
