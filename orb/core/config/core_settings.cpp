#include "orb/core/config/core_settings.h"

#include <string>
#include <string_view>

#include "orb/base/settings/setting_values.h"
#include "orb/core/config/setting_help.h"
#include "orb/core/config/setting_values.h"

namespace corelane::core {

SettingsOf<Settings> core_settings() {
  using S = Settings;
  using V = std::string_view;
  using namespace values;
  constexpr std::size_t mebi = 1024 * 1024;
  static const Setting<S> all[] = {
      {"dispatch.mode",
       "manager",
       "How calls reach their task's thread. manager: the manager takes part in each call. direct: each task admitted "
       "over the network gets a connection of its own, which its thread reads. leader-followers: the thread that reads "
       "a call runs it, as in older ORBs; for comparison only, since it analyzes nothing and promises nothing. It "
       "needs a Corelane that was built with ACE",
       [](S& s, V v) { return mode(s, v, leader_followers::ThreadPool::is_built()); },
       {.same = same<&S::executive, &dispatch::ExecutiveOptions::mode>, .followers = true}},
      {"best_effort.parallel", "0",
       "How many requests without a contract of one connection may run at one time; further ones wait. 0: two for each "
       "core, and at least 8",
       [](S& s, V v) { return parse::size(v, s.requests_parallel, 0, 4096); }},
      {"io.priority",
       "50",
       "SCHED_FIFO priority of the thread that reads connections; the default is above all tasks. 0: SCHED_OTHER",
       [](S& s, V v) { return parse::number<int>(v, s.io_priority, 0, 99); },
       {.same = same<&S::io_priority>, .followers = true}},
      {"io.budget",
       "platform",
       "How long that thread may read; what exceeds it is read later. platform: platform.budget in each "
       "platform.period, for requests that no contract of a task foresees. Requests of tasks within their contracts "
       "are read at once, and nothing is charged beside platform.budget. A time: in each io.period, for all reading; "
       "half of it is for connections with requests for tasks, and admission takes it into account. 0us: no limit",
       io_budget,
       {.same =
            [](const S& a, const S& b) {
              return a.io_within_platform == b.io_within_platform &&
                     a.executive.reader.budget == b.executive.reader.budget;
            }}},
      {"io.period",
       "1ms",
       "See io.budget",
       [](S& s, V v) { return parse::span_of_time(v, s.executive.reader.period); },
       {.same = same<&S::executive, &dispatch::ExecutiveOptions::reader, &sched::PlatformLoad::period>}},
      {"io.server",
       "sporadic",
       "What holds all reading to io.budget, if that is a time. sporadic: what was used returns io.period after it "
       "became usable. pibs: reading pauses for io.period after it has used its budget; each step costs less, but "
       "admission counts a release jitter",
       [](S& s, V v) {
         return parse::choice(v, s.executive.reader_server,
                              {{"sporadic", sched::ReaderServer::sporadic}, {"pibs", sched::ReaderServer::io}});
       },
       {.same = same<&S::executive, &dispatch::ExecutiveOptions::reader_server>}},
      {"limits.message_size", "16777216", "Bytes of one message after reassembly, in both directions",
       [](S& s, V v) { return parse::bytes(v, s.giop.message_size, 1024, 2047 * mebi); }},
      {"limits.memory", "0",
       "Bytes that the clients of an ORB make it hold, all together, beyond the first 64 KiB of each connection: "
       "requests that wait or run, incomplete messages, and replies that were not taken yet. The clients of one "
       "address, or of one user of this host, get a quarter of it, and at least one whole message. Clients that use up "
       "their part are not read until some of it is free. Channels grow only as far as there is room. 0: 64 MiB, or "
       "four times limits.message_size if that is more",
       [](S& s, V v) { return parse::bytes(v, s.memory, 0, std::size_t{1} << 40); }},
      {"limits.requests", "1024", "Requests of one connection under way; further ones get TRANSIENT",
       [](S& s, V v) { return parse::size(v, s.requests_per_connection, 1, 1'000'000); }},
      {"limits.forwards", "8", "How often one call follows a forwarded reference",
       [](S& s, V v) { return parse::number<int>(v, s.forwards, 0, 100); }},
      {"limits.peer_overrun", "by-user",
       "The least strict policy for overruns that a contract of another process gets, whatever it asks for: report, "
       "demote or cancel. by-user: demote, and report for processes of this server's user and of root that call "
       "through Unix sockets or channels. In leader-followers, which watches no budgets, it has no effect",
       peer_overrun},
      {"timeout.request",
       "30s",
       "How long a call waits for its reply. 0s: for ever",
       [](S& s, V v) { return parse::span_of_time(v, s.request_timeout); },
       {.first = 8}},
      {"timeout.propagate", "off",
       "on: each request says how long its client waits for the reply. A Corelane server does not run the request "
       "after that time, and calls that the servant makes end by then. off: only the client knows",
       [](S& s, V v) { return parse::yes_or_no(v, s.propagate_deadlines); }},
      {"timeout.connect", "5s",
       "How long connecting may take. A server that sets up a channel waits as long for the client's part, and at "
       "least 2s",
       [](S& s, V v) { return parse::some_time(v, s.connect_timeout); }},
      {"timeout.flush", "5s",
       "How long destroy() continues to send oneway requests that servers have not taken yet. What is left then is "
       "lost",
       [](S& s, V v) { return parse::span_of_time(v, s.flush_timeout); }},
      {"client.wait", "adaptive",
       "How calling threads wait for replies. park: sleep at once. spin: use the core. spin-then-park: spin for "
       "client.spin, then sleep. adaptive: spin only if replies lately came sooner than a wake-up takes, no longer "
       "than that, and while no other thread needs the core. It is park in a task's job, on a machine with one core, "
       "and if a quota of CPU time is worth one core",
       [](S& s, V v) { return os::set_wait_mode(v, s.wait.mode); }},
      {"client.spin", "50us", "How long spin-then-park spins, and adaptive at most",
       [](S& s, V v) { return parse::span_of_time(v, s.wait.spin); }},
      {"client.connections", "auto",
       "The most connections that a client has to one server. Each calling thread gets one of its own, and threads "
       "share if there are more of them. auto: four for each core, from 16 to 64. A channel has eight descriptors: "
       "channels to one server take at most an eighth of what ulimit -n allows, and there are at least four",
       client_connections},
      {"client.channel", "on", "on: calls use a channel if the reference names one. off: they use sockets",
       [](S& s, V v) { return parse::yes_or_no(v, s.channels); }},
      {"endpoint.listen", "127.0.0.1:0", listen_help(), listen, {.first = 1}},
      {"endpoint.local", "on", local_help(), [](S& s, V v) { return parse::yes_or_no(v, s.local); }},
      {"endpoint.host",
       "",
       "Hosts that references name, such as plant.example:47090, [2001:db8::1]. A port is needed if clients reach the "
       "server at another one (behind a NAT, or a container's published port). Clients try them in this order. Without "
       "it, the host listened on, or this host's first address if that is all of them (0.0.0.0, [::])",
       host,
       {.first = 2}},
      {"naming.service",
       "",
       "Reference of the Naming Service, such as corbaloc::host:2809/NameService. Without it, this host's nameserver: "
       "at naming.socket, then at port 2809. -ORBInitRef NameService=REFERENCE comes first",
       [](S& s, V v) { return parse::any_text(v, s.naming.service); },
       {.first = 3}},
      {"naming.socket", "",
       "The Unix socket at which this host's nameserver listens and is looked for. Without it, nameserver.sock in the "
       "runtime directory, then in /run/corelane unless runtime.directory is set. off: none",
       nameserver_path},
      {"naming.trusted", "",
       "Users whose nameserver a client trusts at naming.socket, besides root's and its own user's: names or numbers, "
       "separated by commas; anyone: any user",
       trusted_nameservers},
      {"contracts.file",
       "",
       "A file with contracts of operations, which come before those of their IDL; see using.md. A relative name is "
       "taken from the working directory",
       [](S& s, V v) { return parse::any_text(v, s.contracts_file); },
       {.first = 6}},
      {"log.level",
       "info",
       "How much all ORBs of the process write to standard error: debug (also which transport calls take), info, warn, "
       "error or off",
       log_level,
       {.first = 9}},
      {"reserved.use",
       "auto",
       "Whether a server asks corelane-reserved for cores of its own. auto: if it runs, else the server shares cores "
       "with others. off: never. required: the server does not start without them. See reservation.md",
       reserved_use,
       {.first = 7, .same = same<&S::reserved, &ReservedSettings::use>, .followers = true}},
      {"reserved.cores",
       "1",
       "How many cores a server asks for if pool.cores is all",
       [](S& s, V v) { return parse::number<std::uint16_t>(v, s.reserved.cores, 1, 4096); },
       {.same = same<&S::reserved, &ReservedSettings::cores>, .followers = true}},
      {"reserved.socket", "",
       "The Unix socket at which corelane-reserved listens and servers look for it. Without it, reserved.sock in the "
       "runtime directory, then in /run/corelane unless runtime.directory is set",
       reserved_socket},
      {"runtime.directory",
       "",
       "Where servers keep their ledger of promised cores. Without it, root's servers meet in /run/corelane, and "
       "another user's in $XDG_RUNTIME_DIR/corelane or /tmp/corelane-<uid> (if another user has made that, in "
       "$HOME/.corelane-<host>). Servers of different users do not know of each other. It is made if the directory "
       "above it exists",
       [](S& s, V v) { return parse::directory(v, s.runtime_directory); },
       {.first = 10, .same = same<&S::runtime_directory>, .followers = true}},
      {"runtime.ledger",
       "on",
       "off: cores are promised without asking the other processes of this host (unguarded)",
       [](S& s, V v) { return parse::yes_or_no(v, s.ledger); },
       {.same = same<&S::ledger>}},
      {"runtime.tuned", "",
       "A file that corelane tune has written. Its values count where no option, variable or configuration file sets "
       "another one. It is ignored, with a warning, on another host than the one that was tuned; see tune.md. Without "
       "it, ./corelane.tuned.toml if that exists. off: none",
       [](S& s, V v) { return parse::any_text(v, s.tuned_file); }},
  };
  return all;
}

}  // namespace corelane::core
