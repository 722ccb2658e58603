#include "orb/core/client/name_service.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "orb/base/minor.h"
#include "orb/core/call_deadline.h"
#include "orb/core/client/reference.h"
#include "orb/core/connections/address.h"
#include "orb/core/exception.h"
#include "orb/core/invocation.h"
#include "orb/core/orb.h"
#include "orb/core/runtime.h"
#include "orb/dispatch/leases/host_ledger.h"
#include "orb/giop/corbaloc.h"
#include "orb/os/clock.h"
#include "orb/os/listener.h"
#include "orb/os/process/error_capture.h"

namespace corelane::core {
namespace {

constexpr std::string_view socket_name = "/nameserver.sock";
constexpr std::string_view directory_of_root = "/run/corelane";
constexpr std::size_t longest_name = 4096;  // components of a name in an exception

// Does not check the socket's owner: that is checked after connecting.
bool is_socket(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode);
}

// CosNaming::Name on the wire.
struct WireName {
  giop::Name name;
};

void encode(cdr::Writer& writer, const WireName& value) {
  writer.write(static_cast<std::uint32_t>(value.name.size()));
  for (const giop::NameComponent& component : value.name) {
    cdr::write_text(writer, component.id);
    cdr::write_text(writer, component.kind);
  }
}

bool decode(cdr::Reader& reader, WireName& out) {
  std::uint32_t count = 0;
  if (!reader.read(count) || count > longest_name) return false;
  for (; count > 0; --count) {
    giop::NameComponent component;
    if (!cdr::read_text(reader, component.id) || !cdr::read_text(reader, component.kind)) return false;
    out.name.push_back(std::move(component));
  }
  return true;
}

// Raises the error of string_to_object() for a name that cannot be resolved. CORBA 3.3 part 1, 8.2.2.
[[noreturn]] void raise_unresolved(const std::string& why) {
  raise(Error{ErrorKind::bad_param, Completion::no, minor::omg | 10}, "the name leads nowhere: " + why);
}

void raise_not_found(cdr::Reader& members) {
  constexpr std::string_view reasons[] = {"is not bound", "is no context", "is a context"};
  std::uint32_t why = 0;
  WireName rest;
  if (!members.read(why) || !decode(members, rest)) return;
  const std::string at = rest.name.empty() ? "it" : "'" + giop::to_string(rest.name.front()) + "'";
  raise_unresolved(at + " " + std::string(reasons[why % std::size(reasons)]) + "; corelane ns list shows the names");
}

// A name, and the context in which to resolve it.
struct NameAt {
  ObjectReference<Object> context;
  giop::Name name;
};

// Handles CannotProceed: throws the name and the context with which to continue.
void go_on_there(cdr::Reader& members) {
  NameAt next;
  WireName rest;
  if (!core::decode(members, next.context) || !decode(members, rest)) return;
  next.name = std::move(rest.name);
  throw next;
}

void raise_invalid_name(cdr::Reader&) { raise_unresolved("the nameserver takes it for none"); }

constexpr std::array<RaisesEntry, 3> resolve_raises{{
    {"IDL:omg.org/CosNaming/NamingContext/NotFound:1.0", raise_not_found},
    {"IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0", go_on_there},
    {"IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0", raise_invalid_name},
}};
constexpr Operation resolve_operation{"resolve", false, resolve_raises};

// Returns whether the server must first say that it is a Corelane server, because the name is not ASCII. A server that
// is known only by a corbaloc address takes such a name only after that.
bool needs_our_server(const NameAt& at) {
  const Address* address = at.context->_reference()->address();
  const bool names_code_sets = address != nullptr && address->code_sets.choice;
  return !names_code_sets && std::any_of(at.name.begin(), at.name.end(), [](const giop::NameComponent& component) {
    return !cdr::is_ascii(component.id) || !cdr::is_ascii(component.kind);
  });
}

// Does not use try_local(), because this layer does not know the classes that a servant takes. So an object of this
// process is called through its endpoint.
ObjectReference<Object> resolve_at(const NameAt& at) {
  if (needs_our_server(at)) (void)at.context->_non_existent();
  Invocation call(*at.context, resolve_operation);
  call.marshal(WireName{at.name});
  call.invoke();
  ObjectReference<Object> object;
  call.unmarshal(object);
  return object;
}

[[noreturn]] void raise_stuck(const NameAt& at, const std::string& why) {
  raise_unresolved("the context that holds '" + giop::to_string(at.name) + "' does not answer" + why);
}

// Does the same in the context of another server. The first server did not ask that one, or could not.
ObjectReference<Object> resolve_there(const NameAt& at) {
  if (!at.context) raise_stuck(at, "");
  try {
    return resolve_at(at);
  } catch (const SystemException& why) {
    if (why.error().kind == ErrorKind::bad_param && why.minor() == (minor::omg | 10)) throw;
    raise_stuck(at, std::string(": ") + why.what());
  }
}

// Describes a program that listens at the nameserver's address, but does not answer in time.
NameserverAbsence late_nameserver(const Settings& settings) {
  if (const auto stopped = os::stopped_listener(nameserver_sockets(settings)))
    return {"the nameserver does not answer: " + to_string(*stopped),
            os::go_on_command(stopped->pid) + " lets it go on, or name another with"};
  return {"the program that listens at the nameserver's address does not answer in time",
          "see which one it is (ss -lptn, ss -lpxn) and whether it is stopped or busy; if it is no nameserver, end it, "
          "or name a nameserver with"};
}

// Returns why the nameserver cannot be used; nothing if it can. The errors in `said` are about servers that are not
// trusted.
std::optional<NameserverAbsence> why_not_there(const ObjectReference<Object>& nameserver, const Settings& settings) {
  constexpr const char* start = "start corelane-nameserver, or name another with";
  os::log::ErrorCapture said;
  const CallDeadline soon(os::now() + settings.connect_timeout);
  try {
    if (locate(nameserver)) return std::nullopt;
    return NameserverAbsence{"the program at the nameserver's address has no object NameService", start};
  } catch (const SystemException& fault) {
    if (const std::string why = said.take(); !why.empty())
      return NameserverAbsence{why + " (naming.trusted names other users to trust)", start};
    if (fault.minor() == minor::connect_failed) return NameserverAbsence{"no nameserver runs on this host", start};
    if (fault.minor() == minor::deadline_passed) return late_nameserver(settings);
    return NameserverAbsence{std::string("the nameserver of this host does not answer: ") + fault.what(), start};
  }
}

}  // namespace

bool names_a_service(const Settings& settings) {
  return !settings.naming.service.empty() || !settings.default_initial_reference.empty() ||
         settings.initial_references.contains("NameService");
}

Expected<ObjectReference<Object>, NameserverAbsence> nameserver_of_host(const std::shared_ptr<Orb>& orb) {
  const Settings& settings = orb->settings();
  auto object = make_stub<Object>(std::make_shared<Reference>(orb, on_this_host("NameService", settings)));
  auto absence = why_not_there(object, settings);
  if (!absence) return object;
  const std::string socket = nameserver_socket(settings);
  if (!socket.empty() && ::access(socket.c_str(), W_OK) != 0 && errno == EACCES)
    absence->why = "this user has no access to " + socket + ", and nothing answers at port 2809";
  else
    absence->why += socket.empty() ? " (at port 2809)" : " (at " + socket + ", or at port 2809)";
  return std::move(*absence);
}

std::string nameserver_socket(const Settings& settings) {
  if (settings.naming.socket == "off") return {};
  if (!settings.naming.socket.empty()) return settings.naming.socket;
  return runtime_directory_of(settings) + std::string(socket_name);
}

std::vector<std::string> nameserver_sockets(const Settings& settings) {
  std::vector<std::string> paths;
  if (auto own = nameserver_socket(settings); !own.empty()) paths.push_back(std::move(own));
  if (!settings.naming.socket.empty() || is_runtime_directory_given(settings)) return paths;
  std::string of_root = std::string(directory_of_root) + std::string(socket_name);
  if (paths.front() != of_root) paths.push_back(std::move(of_root));
  return paths;
}

giop::Ior on_this_host(std::string_view key, const Settings& settings) {
  // Numeric, because a bare container may not know the name localhost. address_of() puts the sockets first, whatever
  // the order here.
  std::vector<transport::Endpoint> endpoints{{"127.0.0.1", giop::default_corbaloc_port},
                                             {"::1", giop::default_corbaloc_port}};
  for (std::string& path : nameserver_sockets(settings))
    if (is_socket(path)) endpoints.push_back(transport::unix_endpoint(std::move(path)));
  giop::Ior ior;
  ior.profiles.push_back(profile_of(endpoints, std::as_bytes(std::span(key))));
  return ior;
}

ObjectReference<Object> resolve_name(const ObjectReference<Object>& context, const giop::Name& name) {
  if (!context) raise_unresolved("there is no naming context: its reference is nil");
  constexpr int most_servers = 8;
  NameAt at{context, name};
  for (int servers = 0; servers < most_servers; ++servers) {
    try {
      return servers == 0 ? resolve_at(at) : resolve_there(at);
    } catch (NameAt& next) {
      at = std::move(next);
    }
  }
  raise_unresolved("it leads through more than " + std::to_string(most_servers) + " servers");
}

}  // namespace corelane::core
