// Settings: everything that a user may configure, and the one table from which its spellings and documentation come.
//
//   key "dispatch.queue_capacity"   option -ORBDispatchQueueCapacity 512   variable
//   CORELANE_DISPATCH_QUEUE_CAPACITY=512
//                                   file   [dispatch] queue_capacity = 512
//
// Precedence: options, then variables, then the file (-ORBConfig, CORELANE_CONFIG, ./corelane.toml,
// /etc/corelane.toml). An unknown option, variable or key is an error that names the nearest known one; a variable is
// taken for one of ours when its name begins as a section's do, or is a letter or two off.
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
#include "orb/os/wait.h"
#include "orb/transport/channel_options.h"
#include "orb/transport/endpoint.h"
#include "orb/transport/transport.h"
#include "orb/transport/unix.h"

namespace corelane::core {

class ContractsFile;

// Of the Naming Service: where clients find it, and what a nameserver keeps to.
struct NamingSettings {
  std::string service;                        // a reference; empty: this host's
  std::string socket;                         // empty: in the runtime directory; "off": none
  std::string store;                          // empty: a file, see naming.store
  std::string etcd_user, etcd_password_file;  // empty: without a login
  std::string etcd_ca_file, etcd_certificate_file, etcd_key_file;
  std::string etcd_copy;  // empty: a file, see naming.etcd_copy; "off": none
  bool move_aside_damaged = false;
  std::size_t names = 1'000'000;   // that it holds
  std::size_t contexts = 100'000;  // besides the root
  std::size_t depth = 64;          // components of one name
  std::size_t name_length = 1024;  // bytes of an id or a kind
  std::size_t iterators = 1024;    // alive at one time
  Duration iterator_age = std::chrono::minutes{5};
  std::size_t leases = 10'000;
  Duration longest_lease = std::chrono::hours{1};
  std::size_t watches = 1024;
  // Of each client: a user of this host, or a host.
  std::size_t client_names = 10'000;
  std::size_t client_leases = 1000;
  std::size_t client_watches = 64;
  std::size_t client_iterators = 256;
  std::size_t reference_size = 16'384;  // bytes of one as text
  // Calls into contexts of other servers.
  std::size_t foreign_calls = 16;  // at one time
  Duration foreign_time = std::chrono::seconds{3};
  channel::Access writers{};  // who may change names, besides root and the user of the nameserver
  enum class Unknown : std::uint8_t { automatic, off, on };
  Unknown network_writers = Unknown::automatic;  // whether clients may whose user the kernel does not know
  channel::Access trusted{};                     // whose nameserver a client believes; users only
  bool replace = true;                           // whether a server's Registration takes over a name that is bound
};

// Of the reservation daemon, and of those who ask it; docs/reservation.md.
struct ReservedSettings {
  enum class Use : std::uint8_t { automatic, off, required };
  std::string socket;        // where it listens; empty: in the runtime directory
  Use use = Use::automatic;  // of servers: whether they ask for cores
  std::uint16_t cores = 1;   // how many, where pool.cores names none
  // The rest is the daemon's.
  enum class Backend : std::uint8_t { automatic, cgroup_v2, cgroup_v1, affinity };
  Backend backend = Backend::automatic;
  std::string root;           // control group below which it works; empty: the hierarchy's root
  int processes = 0;          // it and what it started may be moved, nobody else; 0: all may
  std::vector<CoreId> keep;   // never given away; empty: the first physical core
  channel::Access users;      // who may reserve, besides root and its own user
  bool interrupts = true;     // steers them away
  unsigned memory_rest = 10;  // per cent of the host's memory that nobody can reserve
};

struct Settings {
  dispatch::ExecutiveOptions executive;           // of the first ORB of the process that needs one
  leader_followers::PoolOptions followers;        // threads and placement; the rest is the executive's
  bool ledger = true;                             // false: unguarded, see runtime.ledger
  std::string runtime_directory;                  // empty: chosen by the host ledger
  os::WaitStrategy wait{os::WaitMode::adaptive};  // of client threads
  bool channels = true;                           // whether clients take them
  std::size_t client_connections = 0;             // to one endpoint; 0: see connections_of()
  int io_priority = 50;                           // above the tasks: their requests are not to wait for them
  bool io_within_platform = true;                 // io.budget is "platform"; else executive.reader has it
  giop::Limits giop;
  std::size_t memory = 0;  // 0: see memory_bounds_of()
  transport::ConnectionLimits connections;
  std::size_t requests_per_connection = 1024;
  std::size_t requests_parallel = 0;          // of one connection, without a contract; 0: two for each core
  std::optional<OverrunPolicy> peer_overrun;  // the least of other processes' contracts; nothing: by their user
  int forwards = 8;
  Duration request_timeout = std::chrono::seconds{30};
  Duration connect_timeout = std::chrono::seconds{5};
  Duration flush_timeout = std::chrono::seconds{5};
  std::vector<transport::Endpoint> listen{{"127.0.0.1", 0}};  // not empty
  bool listen_given = false;                                  // somebody said where
  bool local = true;                            // a server with TCP offers unix: and channel: of its own accord
  transport::ChannelOptions channel;            // directory: see runtime.directory
  transport::UnixOptions unix_sockets;          // directory: see runtime.directory
  std::vector<transport::Endpoint> advertised;  // empty: the host listened on; a port of 0: the one listened at
  NamingSettings naming;
  std::map<std::string, std::string> initial_references;  // -ORBInitRef name=uri
  std::string default_initial_reference;                  // -ORBDefaultInitRef
  std::string id;                                         // -ORBid
  std::string contracts_file;                             // empty: none
  std::shared_ptr<const ContractsFile> contracts;         // what is in it; null: none
  std::optional<os::log::Level> log_level;                // nothing: as it is
  ReservedSettings reserved;
};

// How many connections a client may have to one endpoint: as the setting says, or by the number of cores.
std::size_t connections_of(const Settings& settings) noexcept;
// What peers may make this process hold.
transport::MemoryBudget::Bounds memory_bounds_of(const Settings& settings) noexcept;

// One row of the table.
struct SettingsEntry {
  std::string_view key;
  std::string_view fallback;  // its default, as text
  std::string_view help;
  // Empty when the value was taken; else what is expected.
  std::string (*apply)(Settings& settings, std::string_view value);
};
const std::vector<SettingsEntry>& settings_table();

std::string option_of(std::string_view key);    // "client.wait" -> "-ORBClientWait"
std::string variable_of(std::string_view key);  // "client.wait" -> "CORELANE_CLIENT_WAIT"
// The table as Markdown, for docs/configuration.md.
std::string settings_documentation();

// The environment and the working directory, so that tests bring their own.
struct SettingsSources {
  std::map<std::string, std::string> variables;  // those that begin with CORELANE_
  std::vector<std::string> files;                // the first that exists counts, when no option names one
  static SettingsSources of_process();
};

// Takes the -ORB options out of argc and argv.
Expected<Settings, SettingsFault> load_settings(int& argc, char* argv[], const SettingsSources& sources);

}  // namespace corelane::core
