// How an ORB finds the Naming Service of its host, and what a corbaname leads to. CosNaming 1.3, 2.5.3.
//
// A nameserver listens at a Unix socket whose place everybody knows: naming.socket; without it nameserver.sock in the
// runtime directory, then, unless runtime.directory says where to look, in /run/corelane, where root's is. Next to it
// this host's port 2809 counts. A server at such a socket that neither this user runs nor root nor one of
// naming.trusted is nobody's nameserver: the transport asks the kernel once it is connected (UnixOptions::guarded), and
// then port 2809 is not asked instead. Where there is no socket, whoever holds port 2809 is believed.
//
// Threads: any but real-time ones (reads directories, calls).
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

// Where a nameserver with these settings listens; empty: naming.socket is off.
std::string nameserver_socket(const Settings& settings);

// Where clients look for it, in this order.
std::vector<std::string> nameserver_sockets(const Settings& settings);

// The object with this key at the nameserver of this host: at the sockets that are there now, then at port 2809.
giop::Ior on_this_host(std::string_view key, const Settings& settings);

// Whether a setting says which naming service is meant; else the one of this host is.
bool names_a_service(const Settings& settings);

// Why no nameserver of this host can be used, and what to do.
struct NameserverAbsence {
  std::string why;     // with the places where it was looked for
  std::string remedy;  // "start ..., or name another with": how one names it follows, a setting or an option
};
// The nameserver of this host, which is asked whether it is there, for timeout.connect at most: any program may have
// its address, also one that says nothing, ever.
Expected<ObjectReference<Object>, NameserverAbsence> nameserver_of_host(const std::shared_ptr<Orb>& orb);

// resolve() of CosNaming::NamingContext: what the name leads to. Where a server cannot proceed it goes on where that
// one says. Where the name leads nowhere BAD_PARAM, OMG minor 10, with the reason and the part of the name; else what a
// call raises.
ObjectReference<Object> resolve_name(const ObjectReference<Object>& context, const giop::Name& name);

}  // namespace corelane::core
