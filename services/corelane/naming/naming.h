// `corelane ns` lists, resolves, binds and unbinds names at any CosNaming server, and watches changes at Corelane's
// own. The options are defined in ns_command.cpp. Names are text as in CosNaming 1.3, 2.4: plant.line1/controller.
// Threads: none of its own but the ORB's.
//
// The folder services/corelane/naming has the commands that use a naming service.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/time.h"
#include "orb/channel/access.h"
#include "services/corelane/output/format.h"

namespace corelane::tool {

struct NamingOptions {
  std::vector<std::string> orb_options{};  // -ORB options with their values
  std::vector<std::string> sockets{};      // of this host's nameserver, in order; none: another naming service is used
  channel::Access trusted{};               // users that may run it, besides this user and root
  Format format = Format::table;
  std::string name{};                      // empty: the root, if a context may be named
  std::optional<std::string> reference{};  // the object to bind
  bool context = false;                    // bind: a new context instead
  bool recursive = false;                  // list: with the content of contexts
  bool details = false;                    // list: with the lifetime of each name
  bool replace = false;                    // bind: replace an existing binding
  bool parents = false;                    // bind: make the missing contexts on the way
  int process = 0;                         // bind: the name is removed when this process ends; 0: it stays
  bool destroy = false;                    // unbind: destroy the context, too
  bool name_only = false;                  // unbind: only the name of a context, which stays with its content
  std::string pattern = "**";              // watch
  Duration interval = std::chrono::milliseconds{500};
  int changes = 0;  // watch: end after so many; 0: until interrupted
};

// Write results to `out` and complaints to `err`. Return 0 if done, 1 if not, after a complaint. bind_name() returns 2
// if the options name neither an object nor a context, or both.
int list_names(const NamingOptions& options, std::ostream& out, std::ostream& err);
int resolve_name(const NamingOptions& options, std::ostream& out, std::ostream& err);
int bind_name(const NamingOptions& options, std::ostream& out, std::ostream& err);
int unbind_name(const NamingOptions& options, std::ostream& out, std::ostream& err);
// Also returns 1 if names may be out of date, or none can be bound.
int show_naming_status(const NamingOptions& options, std::ostream& out, std::ostream& err);
int watch_names(const NamingOptions& options, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
