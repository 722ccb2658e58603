// What `corelane ns` does, apart from its options: lists, resolves, binds and unbinds names, at any CosNaming server,
// and watches changes at Corelane's own. Names are text as in CosNaming 1.3, 2.4: plant.line1/controller.
// Threads: none of its own but the ORB's.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/time.h"
#include "orb/channel/access.h"
#include "services/corelane/format.h"

namespace corelane::tool {

struct NamingOptions {
  std::vector<std::string> orb_options{};  // -ORB options with their values
  std::vector<std::string> sockets{};      // of this host's nameserver, in order; none: another is meant
  channel::Access trusted{};               // who may run that besides this user and root
  Format format = Format::table;
  std::string name{};                      // empty: the root, where a context may be named
  std::optional<std::string> reference{};  // to bind
  bool context = false;                    // bind: a new context in its place
  bool recursive = false;                  // list: what contexts hold, too
  bool details = false;                    // list: also how long each name lives
  bool replace = false;                    // bind: also what is bound already
  bool parents = false;                    // bind: makes the contexts on the way
  int process = 0;                         // bind: the name goes with this process; 0: it stays
  bool destroy = false;                    // unbind: the context as well as its name
  bool name_only = false;                  // unbind: the name of a context, which stays with all that is in it
  std::string pattern = "**";              // watch
  Duration interval = std::chrono::milliseconds{500};
  int changes = 0;  // watch: so many; 0: until it is ended
};

// Results on `out`, complaints on `err`. 0: done; 1: it is not, and said why; 2 of bind_name(): the options say neither
// what is bound nor that it is a context, or both.
int list_names(const NamingOptions& options, std::ostream& out, std::ostream& err);
int resolve_name(const NamingOptions& options, std::ostream& out, std::ostream& err);
int bind_name(const NamingOptions& options, std::ostream& out, std::ostream& err);
int unbind_name(const NamingOptions& options, std::ostream& out, std::ostream& err);
// Also 1: names may be out of date, or none can be bound.
int show_naming_status(const NamingOptions& options, std::ostream& out, std::ostream& err);
int watch_names(const NamingOptions& options, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
