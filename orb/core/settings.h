// Settings holds everything that a user may configure. One table defines the names of the settings and their
// documentation.
//
//   key        "dispatch.queue_capacity"
//   option     -ORBDispatchQueueCapacity 512
//   variable   CORELANE_DISPATCH_QUEUE_CAPACITY=512
//   file       [dispatch] queue_capacity = 512
//
// Precedence: options, then variables, then the file (-ORBConfig, CORELANE_CONFIG, ./corelane.toml,
// /etc/corelane.toml). An unknown option, variable or key is an error that names the nearest known one. Other variables
// that begin with CORELANE_ are ignored, unless their name begins with that of a section or differs from a known one in
// a letter or two.
//
// Threads: values; read at start.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/time.h"
#include "orb/channel/access.h"
#include "orb/core/settings_fault.h"
#include "orb/dispatch/executive.h"
#include "orb/giop/limits.h"
#include "orb/leader_followers/thread_pool.h"
#include "orb/os/log.h"
#include "orb/os/wait/wait.h"
#include "orb/transport/channel_options.h"
#include "orb/transport/endpoint.h"
#include "orb/transport/transport.h"
#include "orb/transport/unix_options.h"

namespace corelane::core {

class ContractsFile;

// NamingSettings configures the Naming Service: where clients find it, and the limits of a nameserver.
struct NamingSettings {
  std::string service;                        // a reference; empty: this host's nameserver
  std::string socket;                         // empty: in the runtime directory; "off": none
  std::string store;                          // empty: a file, see naming.store
  std::string etcd_user, etcd_password_file;  // empty: without a login
  std::string etcd_ca_file, etcd_certificate_file, etcd_key_file;
  std::string etcd_copy;  // empty: a file, see naming.etcd_copy; "off": none
  bool move_aside_damaged = false;
  std::size_t names = 1'000'000;   // names that it holds
  std::size_t contexts = 100'000;  // besides the root
  std::size_t depth = 64;          // components of one name
  std::size_t name_length = 1024;  // bytes of an id or a kind
  std::size_t iterators = 1024;    // that exist at one time
  Duration iterator_age = std::chrono::minutes{5};
  std::size_t leases = 10'000;
  Duration longest_lease = std::chrono::hours{1};
  std::size_t watches = 1024;
  // Limits of each client. A client is a user of this host, or another host.
  std::size_t client_names = 10'000;
  std::size_t client_leases = 1000;
  std::size_t client_watches = 64;
  std::size_t client_iterators = 256;
  std::size_t reference_size = 16'384;  // bytes of a reference as text
  // Limits of calls into contexts of other servers.
  std::size_t foreign_calls = 16;  // calls at one time
  Duration foreign_time = std::chrono::seconds{3};
  channel::Access writers{};  // the users who may change names, besides root and the user of the nameserver
  enum class Unknown : std::uint8_t { automatic, off, on };
  Unknown network_writers = Unknown::automatic;  // whether clients may change names whose user the kernel does not know
  channel::Access trusted{};                     // the users whose nameserver a client trusts; no groups
  bool replace = true;                           // whether a server's Registration replaces a name that is bound
};

// ReservedSettings configures the reservation daemon and its clients; see docs/reservation.md.
struct ReservedSettings {
  enum class Use : std::uint8_t { automatic, off, required };
  std::string socket;        // where the daemon listens; empty: in the runtime directory
  Use use = Use::automatic;  // whether servers ask for reserved cores
  std::uint16_t cores = 1;   // how many cores, if pool.cores names none
  // The other settings are for the daemon.
  enum class Backend : std::uint8_t { automatic, cgroup_v2, cgroup_v1, affinity };
  Backend backend = Backend::automatic;
  std::string root;           // the control group below which the daemon works; empty: the hierarchy's root
  int processes = 0;          // a process id: only it and its descendants may be moved; 0: all may
  std::vector<CoreId> keep;   // cores that are never reserved; empty: the first physical core
  channel::Access users;      // the users who may reserve, besides root and the daemon's user
  bool interrupts = true;     // whether the daemon moves interrupts off reserved cores
  unsigned memory_rest = 10;  // percent of the host's memory that cannot be reserved
};

struct Settings {
  dispatch::ExecutiveOptions executive;           // the process uses those of the first ORB that needs an executive
  leader_followers::PoolOptions followers;        // threads and placement; ExecutiveOptions has the rest
  bool ledger = true;                             // false: unguarded, see runtime.ledger
  std::string runtime_directory;                  // empty: chosen by the host ledger
  os::WaitStrategy wait{os::WaitMode::adaptive};  // of client threads
  bool channels = true;                           // whether clients use channels
  std::size_t client_connections = 0;             // connections to one endpoint; 0: see connections_of()
  int io_priority = 50;            // of the reader; above the tasks, so that requests do not wait for tasks
  bool io_within_platform = true;  // true: io.budget is "platform"; false: executive.reader has the budget
  giop::Limits giop;
  std::size_t memory = 0;  // 0: see memory_bounds_of()
  transport::ConnectionLimits connections;
  std::size_t requests_per_connection = 1024;
  std::size_t requests_parallel = 0;  // requests without a contract of one connection; 0: two for each core
  // The least overrun policy for contracts of other processes; nothing: it depends on their user.
  std::optional<OverrunPolicy> peer_overrun;
  int forwards = 8;
  Duration request_timeout = std::chrono::seconds{30};
  bool propagate_deadlines = false;  // whether requests say how long their clients wait
  Duration connect_timeout = std::chrono::seconds{5};
  Duration flush_timeout = std::chrono::seconds{5};
  std::vector<transport::Endpoint> listen{{"127.0.0.1", 0}};  // not empty
  bool listen_given = false;                                  // endpoint.listen was set
  bool local = true;                                          // a server with TCP also offers unix: and channel:
  transport::ChannelOptions channel;                          // directory: see runtime.directory
  transport::UnixOptions unix_sockets;                        // directory: see runtime.directory
  std::vector<transport::Endpoint> advertised;  // empty: the host listened on; port 0: the port listened on
  NamingSettings naming;
  std::map<std::string, std::string> initial_references;  // -ORBInitRef name=uri
  std::string default_initial_reference;                  // -ORBDefaultInitRef
  std::string id;                                         // -ORBid
  std::string contracts_file;                             // empty: none
  std::shared_ptr<const ContractsFile> contracts;         // the content of the file; null: no file
  std::optional<os::log::Level> log_level;                // nothing: unchanged
  ReservedSettings reserved;
};

// Returns how many connections a client may have to one endpoint: the setting, or a default that depends on the number
// of cores.
std::size_t connections_of(const Settings& settings) noexcept;
// Returns how much memory peers may make this process hold.
transport::MemoryBudget::Bounds memory_bounds_of(const Settings& settings) noexcept;

// One row of the table.
struct SettingsEntry {
  std::string_view key;
  std::string_view fallback;  // the default, as text
  std::string_view help;
  // Returns "" if the value was accepted, otherwise what is expected.
  std::string (*apply)(Settings& settings, std::string_view value);
};
const std::vector<SettingsEntry>& settings_table();

std::string option_of(std::string_view key);    // "client.wait" -> "-ORBClientWait"
std::string variable_of(std::string_view key);  // "client.wait" -> "CORELANE_CLIENT_WAIT"
// Returns the table as Markdown, for docs/configuration.md: the settings that a user needs first, then all others.
std::string settings_documentation();

// SettingsSources holds the environment and the names of configuration files. Tests provide their own.
struct SettingsSources {
  std::map<std::string, std::string> variables;  // the variables that begin with CORELANE_
  std::vector<std::string> files;                // the first that exists is read, if none is named
  static SettingsSources of_process();
};

// Reads all sources and returns the settings. Removes the -ORB options from argc and argv.
Expected<Settings, SettingsFault> load_settings(int& argc, char* argv[], const SettingsSources& sources);

}  // namespace corelane::core
