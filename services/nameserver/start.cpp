#include "services/nameserver/start.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "orb/core/client/name_service.h"
#include "orb/core/config/settings_of.h"
#include "orb/giop/corbaloc.h"
#include "orb/os/fd.h"
#include "orb/os/files/directory.h"
#include "orb/os/files/small_file.h"
#include "orb/os/log.h"
#include "orb/os/peers/own_user.h"
#include "orb/os/process/environment.h"
#include "orb/os/socket_path.h"
#include "orb/transport/transport_kind.h"
#include "services/nameserver/clients.h"
#include "services/nameserver/stores/open_store.h"

namespace corelane::nameserver {
namespace {

struct StartFault {
  std::string text;
};

constexpr const char* standard_place = "127.0.0.1:2809";

// Puts the given options after the defaults, so that they override them.
std::vector<std::string> with_defaults(const std::vector<std::string>& given) {
  std::vector<std::string> options{"-ORBPoolRealTime", "off", "-ORBRuntimeLedger", "off", "-ORBLimitsTasks", "0",
                                   "-ORBTimeoutRequest", "10s", "-ORBBestEffortThreads", "4",
                                   // Listeners get few messages, and a channel to each would take some megabytes.
                                   "-ORBClientChannel", "off"};
  if (os::runs_as_root()) options.insert(options.end(), {"-ORBEndpointUnixMode", "0666"});
  options.insert(options.end(), given.begin(), given.end());
  return options;
}

Expected<void, std::string> make_directory_of(const std::string& path) {
  const std::string directory = path.substr(0, path.rfind('/'));
  return ::access(directory.c_str(), X_OK) == 0 ? Expected<void, std::string>{} : os::make_directory(directory);
}

std::string state_directory() {
  if (os::runs_as_root()) return "/var/lib/corelane";
  if (const std::string state = os::variable("XDG_STATE_HOME"); !state.empty()) return state + "/corelane";
  if (const std::string home = os::variable("HOME"); !home.empty()) return home + "/.local/state/corelane";
  return {};
}

// Makes this user's directory for names if it does not exist, and returns it.
Expected<std::string, StartFault> make_state_directory() {
  const std::string directory = state_directory();
  if (directory.empty()) return StartFault{"no HOME is set to keep names in"};
  std::error_code fault;
  std::filesystem::create_directories(directory, fault);
  if (fault) return StartFault{"cannot make " + directory + ": " + fault.message()};
  return directory;
}

Expected<std::string, StartFault> specification_of(const NameserverSettings& settings) {
  if (!settings.store.empty()) return settings.store;
  const auto directory = make_state_directory();
  if (directory) return "sqlite:" + *directory + "/names.db";
  return StartFault{directory.error().text + "; name another place: -ORBNamingStore sqlite:PATH, or memory"};
}

// Returns the file for the copy of etcd's names, or "" for none.
std::string etcd_copy_of(const EtcdSettings& settings, const std::string& specification) {
  if (!specification.starts_with("etcd:") || settings.copy == "off") return {};
  if (!settings.copy.empty()) return settings.copy;
  const auto directory = make_state_directory();
  if (directory) return *directory + "/etcd-copy.db";
  os::log::warn("naming: " + directory.error().text +
                ", so there is no copy of names to start from while etcd is away; name a file with naming.etcd_copy");
  return {};
}

Expected<std::string, StartFault> first_line_of(const std::string& file) {
  constexpr std::size_t longest = 4096;
  if (file.empty()) return std::string();
  const auto text = os::read_small_file(file, longest);
  if (!text) return StartFault{"naming.etcd_password_file: " + text.error().text};
  return text->substr(0, text->find_first_of("\r\n"));
}

}  // namespace

Expected<std::unique_ptr<Store>, std::string> store_of(const NameserverSettings& settings, const EtcdSettings& etcd) {
  const auto specification = specification_of(settings);
  if (!specification) return specification.error().text;
  const auto password = first_line_of(etcd.password_file);
  if (!password) return password.error().text;
  // A tenth of all contexts, so that a client that makes contexts and forgets them leaves room for others.
  const std::size_t loose = std::clamp<std::size_t>(settings.contexts / 10, 1, StoreLimits{}.loose_contexts);
  return open_store(
      *specification,
      {.limits = {.contexts = settings.contexts,
                  .loose_contexts = loose,
                  .bindings = settings.names,
                  .reference = settings.reference_size,
                  .bindings_of_client = settings.client_names,
                  .privileged = privileged_clients()},
       .move_aside_damaged = settings.move_aside_damaged,
       .etcd_user = etcd.user,
       .etcd_password = *password,
       .etcd_tls = {.authorities = etcd.ca_file, .certificate = etcd.certificate_file, .key = etcd.key_file},
       .etcd_copy = etcd_copy_of(etcd, *specification)});
}

Expected<std::vector<std::string>, core::SettingsFault> nameserver_options(const std::vector<std::string>& given) {
  std::vector<std::string> options = with_defaults(given);
  const auto settings = core::settings_of(options);
  if (!settings) return settings.error();
  std::string listen = settings->listen_given ? transport::to_string(settings->listen) : standard_place;
  const std::string socket = core::nameserver_socket(*settings);
  const auto known = transport::unix_endpoint(socket);
  if (!socket.empty() && std::ranges::find(settings->listen, known) == settings->listen.end()) {
    if (const auto made = make_directory_of(socket); !made) return core::SettingsFault{made.error()};
    listen += ", " + transport::to_string(known);
  }
  options.insert(options.end(), {"-ORBEndpointListen", listen});
  return options;
}

std::string fault_of_place(const std::string& socket) {
  const os::Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto address = os::unix_address(socket);
  if (!probe || !address || ::connect(probe.get(), address->generic(), address->length) != 0) return {};
  ucred who{};
  socklen_t size = sizeof who;
  const bool known = ::getsockopt(probe.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.pid > 0;
  if (known && who.uid != 0 && !os::is_own_user(who.uid))
    return "process " + std::to_string(who.pid) + " of user " + std::to_string(who.uid) + " listens at " + socket +
           ", and clients use no nameserver of another user than root or their own: end that process, or listen "
           "elsewhere with -ORBNamingSocket PATH";
  return "a nameserver runs on this host already" + (known ? " (process " + std::to_string(who.pid) + ")" : "") +
         " at " + socket +
         ": corelane ns list shows its names; one more needs a socket of its own (-ORBNamingSocket PATH, or off), an "
         "endpoint (-ORBEndpointListen HOST:PORT) and a store (-ORBNamingStore)";
}

std::vector<std::string> urls_of(const std::vector<transport::Endpoint>& endpoints) {
  std::vector<std::string> urls;
  for (const transport::Endpoint& endpoint : endpoints) {
    if (!endpoint.kind->is_iiop) {
      urls.push_back(transport::to_string(endpoint));
      continue;
    }
    giop::Corbaloc url{.addresses = {{giop::giop_1_2, {endpoint.host, endpoint.port}}}, .object_key = "NameService"};
    urls.push_back(giop::to_string(url));
  }
  return urls;
}

}  // namespace corelane::nameserver
