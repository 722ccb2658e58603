// This file finds the Naming Service of this host for an ORB, and resolves the names in corbaname references. CosNaming
// 1.3, 2.5.3.
//
// A nameserver listens at a Unix socket with a known path, the setting naming.socket. Without that setting the path is
// nameserver.sock in the runtime directory. Clients then also look in /run/corelane, which root's nameserver uses,
// unless runtime.directory is set. They also try port 2809 of this host.
//
// A server at such a socket is trusted only if this user, root or a user of naming.trusted runs it. The transport asks
// the kernel for the user after it has connected (UnixOptions::guarded). If the server is not trusted, port 2809 is not
// tried instead. If there is no socket, any server at port 2809 is trusted.
//
// Threads: any except real-time ones (reads directories, makes calls).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/core/object.h"
#include "orb/core/settings.h"
#include "orb/giop/ior.h"
#include "orb/giop/name_text.h"

namespace corelane::core {

// Returns where a nameserver with these settings listens; empty if naming.socket is off.
std::string nameserver_socket(const Settings& settings);

// Returns where clients look for it, in this order.
std::vector<std::string> nameserver_sockets(const Settings& settings);

// Returns a reference to the object with this key at the nameserver of this host: at the sockets that exist now, then
// at port 2809.
giop::Ior on_this_host(std::string_view key, const Settings& settings);

// Returns whether a setting names the naming service. Otherwise this host's nameserver is used.
bool names_a_service(const Settings& settings);

// NameserverAbsence says why no nameserver of this host can be used, and what to do.
struct NameserverAbsence {
  std::string why;     // with the places that were tried
  std::string remedy;  // "start ..., or name another with"; the caller adds the setting or option
};
// Returns the nameserver of this host, after asking it whether it is there. That takes at most timeout.connect. Any
// program may listen at the nameserver's address, even one that never answers.
Expected<ObjectReference<Object>, NameserverAbsence> nameserver_of_host(const std::shared_ptr<Orb>& orb);

// Returns what the name refers to, like resolve() of CosNaming::NamingContext. If a server cannot proceed, continues at
// the context that this server returns. If the name refers to nothing, raises BAD_PARAM, OMG minor 10, with the reason
// and the part of the name. Otherwise raises what a call raises.
ObjectReference<Object> resolve_name(const ObjectReference<Object>& context, const giop::Name& name);

}  // namespace corelane::core
