// Settings holds everything that a user may configure. Each component declares the names of its settings and their
// documentation (orb/base/settings/setting.h); settings_table() has them all.
//
//   key        "dispatch.queue_capacity"
//   option     -ORBDispatchQueueCapacity 512
//   variable   CORELANE_DISPATCH_QUEUE_CAPACITY=512
//   file       [dispatch] queue_capacity = 512
//
// Precedence: options, then variables, then the file (-ORBConfig, CORELANE_CONFIG, ./corelane.toml,
// /etc/corelane.toml), then the file that `corelane tune` has written (runtime.tuned, ./corelane.tuned.toml). An
// unknown option, variable or key is an error that names the nearest known one. Other variables that begin with
// CORELANE_ are ignored, unless their name begins with that of a section or differs from a known one in a letter or
// two.
//
// Threads: values; read at start.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/time.h"
#include "orb/channel/access.h"
#include "orb/core/settings_fault.h"
#include "orb/core/settings_of_services.h"
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
class SlowdownsFile;

// NamingSettings says where a program finds the Naming Service.
struct NamingSettings {
  std::string service;        // a reference; empty: this host's nameserver
  std::string socket;         // empty: in the runtime directory; "off": none
  channel::Access trusted{};  // the users whose nameserver a client trusts; no groups
};

// ReservedSettings says how a server gets reserved cores; see docs/reservation.md.
struct ReservedSettings {
  enum class Use : std::uint8_t { automatic, off, required };
  std::string socket;        // where the daemon listens; empty: in the runtime directory
  Use use = Use::automatic;  // whether servers ask for reserved cores
  std::uint16_t cores = 1;   // how many cores, if pool.cores names none
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
  std::string tuned_file;                                 // see runtime.tuned; empty: the usual one; "off": none
  // What became of the tuned file, for the log; empty: there is none.
  std::string tuned_note;
  bool tuned_elsewhere = false;      // the tuned file is of another host, and was not used
  std::set<std::string_view> given;  // keys of settings that an option, a variable or the configuration file sets
  std::shared_ptr<const ContractsFile> contracts;  // the content of the file; null: no file
  std::shared_ptr<const SlowdownsFile> slowdowns;  // the content of dispatch.slowdowns; null: no file
  std::optional<os::log::Level> log_level;         // nothing: unchanged
  ReservedSettings reserved;
  SettingsOfServices services;  // those that other folders declare
};

// Returns how many connections a client may have to one endpoint: the setting, or a default that depends on the number
// of cores.
std::size_t connections_of(const Settings& settings) noexcept;
// Returns how much memory peers may make this process hold.
transport::MemoryBudget::Bounds memory_bounds_of(const Settings& settings) noexcept;

// One row of the table: a Setting (orb/base/settings/setting.h) whose values are a part of Settings.
struct SettingsEntry {
  std::string_view key;
  std::string_view fallback;  // the default, as text
  std::string_view help;
  // Returns "" if the value was accepted, otherwise what is expected.
  std::function<std::string(Settings& settings, std::string_view value)> apply;
  unsigned first;  // see SettingTraits
  std::function<bool(const Settings& a, const Settings& b)> same;
  bool followers;
};
// Returns the settings of all components, also of the services, because all programs may share one configuration file.
const std::vector<SettingsEntry>& settings_table();

std::string option_of(std::string_view key);    // "client.wait" -> "-ORBClientWait"
std::string variable_of(std::string_view key);  // "client.wait" -> "CORELANE_CLIENT_WAIT"
// Returns the table as Markdown, for docs/configuration.md: the settings that a user needs first, then all others.
std::string settings_documentation();

// SettingsSources holds the environment and the names of configuration files. Tests provide their own.
struct SettingsSources {
  std::map<std::string, std::string> variables;  // the variables that begin with CORELANE_
  std::vector<std::string> files;                // the first that exists is read, if none is named
  std::string tuned{};                           // the tuned file that is read if it exists; empty: none
  static SettingsSources of_process();
};

// Reads all sources and returns the settings. Removes the -ORB options from argc and argv.
Expected<Settings, SettingsFault> load_settings(int& argc, char* argv[], const SettingsSources& sources);

}  // namespace corelane::core
