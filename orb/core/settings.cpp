#include "orb/core/settings.h"

#include <sched.h>

#include <algorithm>
#include <array>

#include "orb/core/config/setting_help.h"
#include "orb/core/config/setting_values.h"
#include "orb/os/machine/cpu_mask.h"

namespace corelane::core {
namespace {

using namespace values;
constexpr std::size_t mebi = 1024 * 1024;
using S = Settings;
using V = std::string_view;

}  // namespace

std::size_t connections_of(const Settings& settings) noexcept {
  if (settings.client_connections > 0) return settings.client_connections;
  const auto cores = static_cast<std::size_t>(CPU_COUNT_S(os::CpuMask::native_size, os::process_affinity().native()));
  return std::clamp<std::size_t>(4 * cores, 16, 64);
}

transport::MemoryBudget::Bounds memory_bounds_of(const Settings& settings) noexcept {
  const Duration patience = settings.connections.header_timeout;
  const std::size_t all = settings.memory > 0 ? settings.memory : std::max(64 * mebi, 4 * settings.giop.message_size);
  return transport::MemoryBudget::bounds_of(all, settings.giop.message_size,
                                            (patience > Duration::zero() ? patience : std::chrono::seconds{10}) / 4);
}

const std::vector<SettingsEntry>& settings_table() {
  static const std::vector<SettingsEntry> table = {
      {"dispatch.mode", "manager",
       "How calls reach their task's thread. manager: the manager takes part in each call. direct: each task admitted "
       "over the network gets a connection of its own, which its thread reads. leader-followers: the thread that reads "
       "a call runs it, as in older ORBs; for comparison only, since it analyzes nothing and promises nothing. It "
       "needs a Corelane that was built with ACE",
       [](S& s, V v) { return mode(s, v, leader_followers::ThreadPool::is_built()); }},
      {"dispatch.queue_capacity", "1024",
       "How many requests may wait for the manager; further ones get TRANSIENT. One task or client gets at most half "
       "of these places, and less while others take as many as they can get",
       [](S& s, V v) { return size(v, s.executive.queue_capacity, 1, 1'000'000); }},
      {"dispatch.admission", "on", admission_help(), admission_test},
      {"dispatch.allocation", sched::default_allocation_strategy()->name, allocation_help(), allocation},
      {"dispatch.overshoot", "0us",
       "How much later than its time an early job may be released by its own timer. Whatever else happens on its core "
       "in that time releases it first, without an interrupt. Admission takes this delay into account",
       [](S& s, V v) { return span_of_time(v, s.executive.overshoot); }},
      {"pool.cores", "all", "Hardware threads on which admitted tasks run, such as 0,2-5",
       [](S& s, V v) { return cores(v, s.executive.lease.cores); }},
      {"pool.deadline_cores", "none",
       "Those of pool.cores, but not all, that run the earliest deadline first instead of fixed priorities. They can "
       "be filled up to their capacity whatever the periods are",
       deadline_cores},
      {"pool.deadline_policy", "levels",
       "How deadline_cores run. levels: SCHED_FIFO levels that follow the deadlines of the jobs. kernel: "
       "SCHED_DEADLINE, which holds each task to its budget itself. It needs CAP_SYS_NICE, and under cgroup v1 cores "
       "of the server's own; if the kernel refuses it, levels are used",
       deadline_policy},
      {"pool.early_jobs", "off",
       "on: a job that comes before its time starts if its core is idle, as far as the core is not promised to tasks. "
       "It needs SCHED_FIFO, the ledger, and cores on which no other server has promises. off: it waits for its time",
       [](S& s, V v) { return yes_or_no(v, s.executive.early_jobs); }},
      {"pool.charge_overruns", "off",
       "on: a job under report that exceeds its budget or suspension is charged to its own task. It continues below "
       "all tasks until the next job of its task could come, and then in that job's place. So others keep their "
       "bounds. off: the overrun is counted, and tasks below may be late. Cores by deadlines always charge, "
       "leader-followers never does",
       [](S& s, V v) { return yes_or_no(v, s.executive.charge_overruns); }},
      {"pool.real_time", "on", "off: no SCHED_FIFO and no binding to cores",
       [](S& s, V v) { return yes_or_no(v, s.executive.real_time); }},
      {"pool.spare_threads", "4",
       "Threads that sleep until a task is admitted, each with its stack; up to twice as many once tasks have left. "
       "Further tasks wait until their thread is made",
       [](S& s, V v) { return size(v, s.executive.spare_threads, 0, 1024); }},
      {"pool.stack", "262144",
       "Bytes of stack of each thread that runs a task's jobs, and of those of leader-followers, all of them in memory "
       "from the start. A servant with large arrays on its stack needs more",
       [](S& s, V v) { return bytes(v, s.executive.task_stack, 65536, std::size_t{1} << 30); }},
      {"pool.wait", "park",
       "How the threads of tasks, and of leader-followers, wait for the next job. park: sleep at once. spin-then-park: "
       "spin for pool.spin, then sleep. adaptive: the same, for as long as waits lately took and a wake-up costs. "
       "spin: only without SCHED_FIFO. Spinning is charged: a task's budget counts as longer by pool.spin. In "
       "leader-followers nothing is charged, and adaptive is spin-then-park",
       [](S& s, V v) { return wait_mode(v, s.executive.wait.mode); }},
      {"pool.spin", "50us", "How long those threads spin after each job at most, except with spin; at most 10ms",
       pool_spin},
      {"followers.threads", "4", "Threads of the mode leader-followers",
       [](S& s, V v) { return number<int>(v, s.followers.threads, 1, 256); }},
      {"followers.placement", "unbound",
       "Where they run: unbound, round-robin (bound to the cores in turn) or single-core (all on the first core)",
       placement},
      {"best_effort.threads", "0",
       "Threads that read and run requests without a contract. 0: four for each core, at least 64, and one that waits "
       "for new work. With best_effort.server: threads on each of its cores; 0: 2",
       [](S& s, V v) { return size(v, s.executive.best_effort_threads, 0, 256); }},
      {"best_effort.waiting", "64",
       "How many requests without a contract may wait in calls of their own without taking one of best_effort.threads "
       "from others. While they wait, there are as many threads more; with best_effort.server on each of its cores",
       [](S& s, V v) { return size(v, s.executive.best_effort_waiting, 0, 4096); }},
      {"best_effort.parallel", "0",
       "How many requests without a contract of one connection may run at one time; further ones wait. 0: two for each "
       "core, and at least 8",
       [](S& s, V v) { return size(v, s.requests_parallel, 0, 4096); }},
      {"best_effort.patience", "200us",
       "If a servant runs for longer than this without a contract, another thread reads its connection meanwhile",
       [](S& s, V v) { return span_of_time(v, s.executive.best_effort_patience); }},
      {"best_effort.stack", "8388608",
       "Bytes of stack of a thread that runs requests without a contract. Memory is taken as it is used",
       [](S& s, V v) { return bytes(v, s.executive.best_effort_stack, 65536, std::size_t{1} << 30); }},
      {"best_effort.wait", "adaptive",
       "How a thread waits at its connection for the next request without a contract; see client.wait",
       [](S& s, V v) { return wait_mode(v, s.executive.best_effort_wait.mode); }},
      {"best_effort.spin", "50us", "How long spin-then-park spins there, and adaptive at most",
       [](S& s, V v) { return span_of_time(v, s.executive.best_effort_wait.spin); }},
      {"best_effort.server", "none",
       "What requests without a contract get of a core above the admitted tasks. Admission takes it into account. "
       "none; sporadic: best_effort.budget in each best_effort.period, charged like a task; deferrable: the same, kept "
       "until used, which is charged more",
       best_effort_server},
      {"best_effort.budget", "500us", "Budget of that server on each core. Beyond it requests use what the tasks leave",
       [](S& s, V v) { return span_of_time(v, s.executive.best_effort_server.reservation.budget); }},
      {"best_effort.period", "10ms", "See best_effort.budget",
       [](S& s, V v) { return span_of_time(v, s.executive.best_effort_server.reservation.period); }},
      {"best_effort.cores", "all", "With a server: those of pool.cores on which requests without a contract run",
       [](S& s, V v) { return cores(v, s.executive.best_effort_server.cores); }},
      {"platform.budget", "20us",
       "What readers, manager and interrupts take of a core at most in each platform.period, above all tasks",
       [](S& s, V v) { return span_of_time(v, s.executive.platform.budget); }},
      {"platform.period", "1ms", "See platform.budget",
       [](S& s, V v) { return span_of_time(v, s.executive.platform.period); }},
      {"platform.blocking", "0us", "The longest time for which the platform keeps a job from starting: wake-up latency",
       [](S& s, V v) { return span_of_time(v, s.executive.platform.blocking); }},
      {"io.priority", "50",
       "SCHED_FIFO priority of the thread that reads connections; the default is above all tasks. 0: SCHED_OTHER",
       [](S& s, V v) { return number<int>(v, s.io_priority, 0, 99); }},
      {"io.budget", "platform",
       "How long that thread may read; what exceeds it is read later. platform: platform.budget in each "
       "platform.period, for requests that no contract of a task foresees. Requests of tasks within their contracts "
       "are read at once, and nothing is charged beside platform.budget. A time: in each io.period, for all reading; "
       "half of it is for connections with requests for tasks, and admission takes it into account. 0us: no limit",
       io_budget},
      {"io.period", "1ms", "See io.budget", [](S& s, V v) { return span_of_time(v, s.executive.reader.period); }},
      {"limits.message_size", "16777216", "Bytes of one message after reassembly, in both directions",
       [](S& s, V v) { return bytes(v, s.giop.message_size, 1024, 2047 * mebi); }},
      {"limits.memory", "0",
       "Bytes that the clients of an ORB make it hold, all together, beyond the first 64 KiB of each connection: "
       "requests that wait or run, incomplete messages, and replies that were not taken yet. The clients of one "
       "address, or of one user of this host, get a quarter of it, and at least one whole message. Clients that use up "
       "their part are not read until some of it is free. Channels grow only as far as there is room. 0: 64 MiB, or "
       "four times limits.message_size if that is more",
       [](S& s, V v) { return bytes(v, s.memory, 0, std::size_t{1} << 40); }},
      {"limits.connections", "1024",
       "Accepted connections at one time. If one more comes, an idle one ends, which has neither a request under way "
       "nor an admitted task. That is the one that was quiet for longest. If more than a quarter of all connections "
       "have sent no whole message yet, it is the oldest of those. Its client connects again with its next call. If "
       "none is idle, and in leader-followers always, the new connection is refused",
       [](S& s, V v) { return size(v, s.connections.connections, 1, 1'000'000); }},
      {"limits.connections_per_peer", "256",
       "Accepted connections at one time from one address, or from one user of this host. If one more comes, an idle "
       "one of the same peer ends, as for limits.connections",
       [](S& s, V v) { return size(v, s.connections.connections_per_peer, 1, 1'000'000); }},
      {"limits.backlog", "33554432",
       "Bytes that wait for a peer that reads more slowly than it is sent to, or not at all. Calling threads and "
       "replies without a contract leave half of it free and wait for room. Real-time threads (those of tasks, and the "
       "reader) do not wait; what they send beyond it closes the connection. At least twice the largest message. A "
       "message that nothing waits before may be longer",
       [](S& s, V v) { return bytes(v, s.connections.backlog, 1024, 2047 * mebi); }},
      {"limits.requests", "1024", "Requests of one connection under way; further ones get TRANSIENT",
       [](S& s, V v) { return size(v, s.requests_per_connection, 1, 1'000'000); }},
      {"limits.tasks", "256", "Admitted tasks. 0: none, for servers that keep no deadlines",
       [](S& s, V v) { return size(v, s.executive.max_tasks, 0, 100'000); }},
      {"limits.forwards", "8", "How often one call follows a forwarded reference",
       [](S& s, V v) { return number<int>(v, s.forwards, 0, 100); }},
      {"limits.peer_tasks", "half",
       "Admitted tasks of one peer (one address, or one user of this host) over all its connections. half: half of "
       "limits.tasks, rounded up. 0: no limit",
       peer_tasks},
      {"limits.peer_utilization", "by-user",
       "The share of a core that the tasks of one peer may hold over all its connections, such as 50%, or parts per "
       "million. A peer is one address, or one user of this host. by-user: half of what all cores of the server hold, "
       "and no limit for processes of this server's user and of root that call through Unix sockets or channels. 0: no "
       "limit",
       peer_utilization},
      {"limits.peer_urgency", "0us",
       "The shortest deadline, minus its jitter, that a remote peer's task may have; its priority follows from that. "
       "0us: no limit",
       [](S& s, V v) { return span_of_time(v, s.executive.peer_urgency); }},
      {"limits.peer_overrun", "by-user",
       "The least strict policy for overruns that a contract of another process gets, whatever it asks for: report, "
       "demote or cancel. by-user: demote, and report for processes of this server's user and of root that call "
       "through Unix sockets or channels. In leader-followers, which watches no budgets, it has no effect",
       peer_overrun},
      {"timeout.idle_tasks", "by-user",
       "A task of another process ends if no call of it came for so long and for ten of its periods. Its client learns "
       "it from its next call. 0s: never. by-user: 60s, and never for processes of this server's user and of root that "
       "call through Unix sockets or channels",
       idle_tasks},
      {"timeout.request", "30s", "How long a call waits for its reply. 0s: for ever",
       [](S& s, V v) { return span_of_time(v, s.request_timeout); }},
      {"timeout.propagate", "off",
       "on: each request says how long its client waits for the reply. A Corelane server does not run the request "
       "after that time, and calls that the servant makes end by then. off: only the client knows",
       [](S& s, V v) { return yes_or_no(v, s.propagate_deadlines); }},
      {"timeout.connect", "5s",
       "How long connecting may take. A server that sets up a channel waits as long for the client's part, and at "
       "least 2s",
       [](S& s, V v) { return some_time(v, s.connect_timeout); }},
      {"timeout.flush", "5s",
       "How long destroy() continues to send oneway requests that servers have not taken yet. What is left then is "
       "lost",
       [](S& s, V v) { return span_of_time(v, s.flush_timeout); }},
      {"timeout.idle", "0s",
       "A connection over which nothing came or went for so long, while no request was under way, is closed, and the "
       "tasks that were admitted over it leave. So a client that hangs or is stopped does not keep its promises. Set "
       "it to more than the longest pause between two calls of a client with tasks. Other clients connect again by "
       "themselves. A client closes its own connections after such a time, too, except those that a task needs. 0s: "
       "never",
       [](S& s, V v) { return span_of_time(v, s.connections.idle_timeout); }},
      {"timeout.backlog", "10s",
       "How long a peer may take nothing of what waits for it, while a thread or a burst of oneways waits for room to "
       "send more. Then its connection is closed",
       [](S& s, V v) { return some_time(v, s.connections.backlog_timeout); }},
      {"timeout.header", "10s", "How long an incomplete message may wait for its rest",
       [](S& s, V v) { return span_of_time(v, s.connections.header_timeout); }},
      {"client.wait", "adaptive",
       "How calling threads wait for replies. park: sleep at once. spin: use the core. spin-then-park: spin for "
       "client.spin, then sleep. adaptive: spin only if replies lately came sooner than a wake-up takes, no longer "
       "than that, and while no other thread needs the core. It is park in a task's job, on a machine with one core, "
       "and if a quota of CPU time is worth one core",
       [](S& s, V v) { return wait_mode(v, s.wait.mode); }},
      {"client.spin", "50us", "How long spin-then-park spins, and adaptive at most",
       [](S& s, V v) { return span_of_time(v, s.wait.spin); }},
      {"client.connections", "auto",
       "The most connections that a client has to one server. Each calling thread gets one of its own, and threads "
       "share if there are more of them. auto: four for each core, from 16 to 64. A channel has eight descriptors: "
       "channels to one server take at most an eighth of what ulimit -n allows, and there are at least four",
       client_connections},
      {"client.channel", "on", "on: calls use a channel if the reference names one. off: they use sockets",
       [](S& s, V v) { return yes_or_no(v, s.channels); }},
      {"channel.allow", "",
       "Other users whose clients may call through channels, separated by commas: names or numbers, groups as @name "
       "(all members), or anyone. Clients of all other users use sockets. These users have to reach the channel's "
       "path. If they may not enter the runtime directory, listen at channel:/path in a directory that they may enter",
       allowed},
      {"channel.pool", "4521984",
       "Bytes that each end of a channel lends for messages of more than 4 KiB, so that they need not be copied; by "
       "default four of 1 MiB at once. A message that is longer than all of it, or finds none free, is copied in "
       "pieces. Between ends of one user it takes memory only while it is used. For another user it is at most 1152 "
       "KiB",
       [](S& s, V v) { return bytes(v, s.channel.pool, 64 * 1024, transport::largest_channel_pool); }},
      {"endpoint.listen", "127.0.0.1:0", listen_help(), listen},
      {"endpoint.local", "on", local_help(), [](S& s, V v) { return yes_or_no(v, s.local); }},
      {"endpoint.unix_mode", "0600", "Permissions of Unix sockets, octal. A user who may write to one may connect",
       socket_mode},
      {"endpoint.host", "",
       "Hosts that references name, such as plant.example:47090, [2001:db8::1]. A port is needed if clients reach the "
       "server at another one (behind a NAT, or a container's published port). Clients try them in this order. Without "
       "it, the host listened on, or this host's first address if that is all of them (0.0.0.0, [::])",
       host},
      {"naming.service", "",
       "Reference of the Naming Service, such as corbaloc::host:2809/NameService. Without it, this host's nameserver: "
       "at naming.socket, then at port 2809. -ORBInitRef NameService=REFERENCE comes first",
       [](S& s, V v) { return s.naming.service = v, std::string{}; }},
      {"naming.socket", "",
       "The Unix socket at which this host's nameserver listens and is looked for. Without it, nameserver.sock in the "
       "runtime directory, then in /run/corelane unless runtime.directory is set. off: none",
       nameserver_path},
      {"naming.store", "",
       "Where corelane-nameserver keeps names: memory (they end with it), sqlite:PATH or etcd:URL. Without it, the "
       "file names.db, in /var/lib/corelane for root, in $XDG_STATE_HOME/corelane or ~/.local/state/corelane for "
       "others",
       [](S& s, V v) { return s.naming.store = v, std::string{}; }},
      {"naming.etcd_user", "",
       "The user name with which corelane-nameserver logs in to etcd. Without it, it does not log in",
       [](S& s, V v) { return s.naming.etcd_user = v, std::string{}; }},
      {"naming.etcd_password_file", "", "The file whose first line is that user's password",
       [](S& s, V v) { return s.naming.etcd_password_file = v, std::string{}; }},
      {"naming.etcd_ca_file", "",
       "Certificates in PEM of the authorities that may vouch for an etcd at https. Without it, the system's",
       [](S& s, V v) { return s.naming.etcd_ca_file = v, std::string{}; }},
      {"naming.etcd_certificate_file", "", "The certificate in PEM that corelane-nameserver shows to such an etcd",
       [](S& s, V v) { return s.naming.etcd_certificate_file = v, std::string{}; }},
      {"naming.etcd_key_file", "", "The key of that certificate. Without it, the key is in the same file",
       [](S& s, V v) { return s.naming.etcd_key_file = v, std::string{}; }},
      {"naming.etcd_copy", "",
       "The file in which corelane-nameserver keeps a copy of the names in etcd, to start from while etcd is away. "
       "Without it, etcd-copy.db, in the directory of names.db. off: none",
       [](S& s, V v) { return s.naming.etcd_copy = v, std::string{}; }},
      {"naming.move_aside_damaged", "off",
       "on: a damaged file of names is renamed to FILE.damaged-1, and a new one begins without names. off: "
       "corelane-nameserver refuses to start",
       [](S& s, V v) { return yes_or_no(v, s.naming.move_aside_damaged); }},
      {"naming.names", "1000000",
       "Names that corelane-nameserver holds. Beyond this and the limits below clients get IMP_LIMIT",
       [](S& s, V v) { return size(v, s.naming.names, 1, 100'000'000); }},
      {"naming.contexts", "100000", "Contexts that it holds",
       [](S& s, V v) { return size(v, s.naming.contexts, 0, 10'000'000); }},
      {"naming.depth", "64", "Components of one name", [](S& s, V v) { return size(v, s.naming.depth, 1, 1024); }},
      {"naming.name_length", "1024", "Bytes of an id, and of a kind",
       [](S& s, V v) { return bytes(v, s.naming.name_length, 1, 65'536); }},
      {"naming.iterators", "1024",
       "Binding iterators that exist at one time. Beyond it, the one unused for longest ends",
       [](S& s, V v) { return size(v, s.naming.iterators, 1, 100'000); }},
      {"naming.iterator_age", "300s", "How long an unused iterator stays",
       [](S& s, V v) { return span_of_time(v, s.naming.iterator_age); }},
      {"naming.leases", "10000", "Leases of ephemeral names that exist at one time",
       [](S& s, V v) { return size(v, s.naming.leases, 0, 1'000'000); }},
      {"naming.longest_lease", "3600s", "How long a lease may last between two renewals, from 100ms to 366 days",
       [](S& s, V v) { return longest_lease(v, s.naming.longest_lease); }},
      {"naming.watches", "1024", "Listeners to changes",
       [](S& s, V v) { return size(v, s.naming.watches, 0, 100'000); }},
      {"naming.client_names", "10000",
       "Names of one client, that is of all processes of a user of the nameserver's host, or of all that come from one "
       "address. Root and the user of corelane-nameserver have no such limit",
       [](S& s, V v) { return size(v, s.naming.client_names, 0, 100'000'000); }},
      {"naming.client_leases", "1000",
       "Leases of one client, that is of all processes of a user of the nameserver's host, or of all that come from "
       "one address",
       [](S& s, V v) { return size(v, s.naming.client_leases, 0, 1'000'000); }},
      {"naming.client_watches", "64", "Listeners of one client",
       [](S& s, V v) { return size(v, s.naming.client_watches, 0, 100'000); }},
      {"naming.client_iterators", "256", "Binding iterators of one client. Beyond it, its oldest one ends",
       [](S& s, V v) { return size(v, s.naming.client_iterators, 1, 100'000); }},
      {"naming.reference_size", "16384", "Bytes of a reference that is bound, as IOR: text",
       [](S& s, V v) { return bytes(v, s.naming.reference_size, 1024, 1024 * 1024); }},
      {"naming.foreign_calls", "16",
       "Calls at one time of corelane-nameserver into contexts of other servers. Beyond it, and if they do not answer, "
       "clients get CannotProceed and continue there themselves. At most best_effort.waiting, or one fewer than "
       "best_effort.threads if that is more",
       [](S& s, V v) { return size(v, s.naming.foreign_calls, 0, 10'000); }},
      {"naming.foreign_time", "3s", "How long such a call may take",
       [](S& s, V v) { return span_of_time(v, s.naming.foreign_time); }},
      {"naming.writers", "",
       "Users who may change names (bind, unbind, make and destroy contexts, take leases), besides root and the user "
       "of corelane-nameserver: names or numbers, groups as @name (all members), or anyone, separated by commas. Only "
       "its owner, root and the user of corelane-nameserver change a name that one of them has bound. Others may "
       "resolve, list and watch",
       name_writers},
      {"naming.network_writers", "auto",
       "Whether clients over TCP, whose user the kernel does not know, may change names: on, off, or auto (on if "
       "naming.writers is anyone). ORBs other than Corelane need it",
       name_network_writers},
      {"naming.trusted", "",
       "Users whose nameserver a client trusts at naming.socket, besides root's and its own user's: names or numbers, "
       "separated by commas; anyone: any user",
       trusted_nameservers},
      {"naming.replace", "on",
       "off: a server whose name is bound already does not take it over (corelane::naming::Registration raises "
       "AlreadyBound), so a second copy of it does not start. on: it takes the name over, and its log says which "
       "process had it",
       [](S& s, V v) { return yes_or_no(v, s.naming.replace); }},
      {"contracts.file", "",
       "A file with contracts of operations, which come before those of their IDL; see using.md. A relative name is "
       "taken from the working directory",
       [](S& s, V v) { return s.contracts_file = v, std::string{}; }},
      {"log.level", "info",
       "How much all ORBs of the process write to standard error: debug (also which transport calls take), info, warn, "
       "error or off",
       log_level},
      {"recorder.size", "8192",
       "Scheduling events of 64 bytes kept for each core and for the manager, rounded up to a power of two. 0: none",
       [](S& s, V v) { return size(v, s.executive.recorder.size, 0, 16 * mebi); }},
      {"recorder.directory", "", "Where traces are written. Without it, the folder traces of the runtime directory",
       [](S& s, V v) { return s.executive.recorder.directory = v, std::string{}; }},
      {"recorder.dump_on_miss", "0", "How many traces at most are written when deadlines are missed, 10 s apart",
       [](S& s, V v) { return number<unsigned>(v, s.executive.recorder.dump_on_miss, 0, 1000); }},
      {"recorder.dump_at_exit", "off", "on: a trace is written when the process ends",
       [](S& s, V v) { return yes_or_no(v, s.executive.recorder.dump_at_exit); }},
      {"reserved.use", "auto",
       "Whether a server asks corelane-reserved for cores of its own. auto: if it runs, else the server shares cores "
       "with others. off: never. required: the server does not start without them. See reservation.md",
       reserved_use},
      {"reserved.cores", "1", "How many cores a server asks for if pool.cores is all",
       [](S& s, V v) { return number<std::uint16_t>(v, s.reserved.cores, 1, 4096); }},
      {"reserved.backend", "auto",
       "How corelane-reserved keeps others away from reserved cores: cgroup-v2, cgroup-v1, affinity (it cannot keep "
       "out a thread that sets its own affinity), or auto (the first of these that works here)",
       reserved_backend},
      {"reserved.root", "/", "The control group below which corelane-reserved makes its own. /: all of the host",
       reserved_root},
      {"reserved.processes", "all",
       "Which processes corelane-reserved moves. all, or the number of a process: that process and those that it "
       "starts. Then other processes are neither touched nor kept out, cannot reserve, and the backend is affinity",
       reserved_processes},
      {"reserved.socket", "",
       "The Unix socket at which corelane-reserved listens and servers look for it. Without it, reserved.sock in the "
       "runtime directory, then in /run/corelane unless runtime.directory is set",
       reserved_socket},
      {"reserved.keep", "",
       "Hardware threads that corelane-reserved never gives away, such as 0,4-5. Without it, those of the first core",
       [](S& s, V v) {
         return v.empty() ? std::string{} : v == "all" ? "hardware threads such as 0,4-5" : cores(v, s.reserved.keep);
       }},
      {"reserved.users", "none",
       "Users who may reserve cores, besides root and the daemon's own user: anyone, none, or names or numbers of "
       "users, and groups as @name (all members)",
       reserving_users},
      {"reserved.interrupts", "on", "off: corelane-reserved leaves interrupts where they are",
       [](S& s, V v) { return yes_or_no(v, s.reserved.interrupts); }},
      {"reserved.memory_rest", "10", "Percent of the host's memory that corelane-reserved never promises",
       [](S& s, V v) { return number<unsigned>(v, s.reserved.memory_rest, 0, 100); }},
      {"runtime.directory", "",
       "Where servers keep their ledger of promised cores. Without it, root's servers meet in /run/corelane, and "
       "another user's in $XDG_RUNTIME_DIR/corelane or /tmp/corelane-<uid> (if another user has made that, in "
       "$HOME/.corelane-<host>). Servers of different users do not know of each other. It is made if the directory "
       "above it exists",
       [](S& s, V v) { return s.runtime_directory = v, std::string{}; }},
      {"runtime.ledger", "on", "off: cores are promised without asking the other processes of this host (unguarded)",
       [](S& s, V v) { return yes_or_no(v, s.ledger); }},
  };
  return table;
}

std::string option_of(std::string_view key) {
  std::string result = "-ORB";
  bool upper = true;
  for (const char c : key) {
    if (c == '.' || c == '_') {
      upper = true;
      continue;
    }
    result += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    upper = false;
  }
  return result;
}

std::string variable_of(std::string_view key) {
  std::string result = "CORELANE_";
  for (const char c : key) result += c == '.' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return result;
}

namespace {

// The settings that a user needs first, in this order.
constexpr std::array<V, 10> first_settings{"endpoint.listen", "endpoint.host",    "naming.service", "naming.writers",
                                           "pool.cores",      "contracts.file",   "reserved.use",   "timeout.request",
                                           "log.level",       "runtime.directory"};

bool comes_first(V key) { return std::ranges::find(first_settings, key) != first_settings.end(); }

V section_of(V key) { return key.substr(0, key.find('.')); }

void begin_table(std::string& text) {
  text += "| key in corelane.toml | option | variable | default | meaning |\n|---|---|---|---|---|\n";
}

void add_row(std::string& text, const SettingsEntry& entry) {
  text.append("| `").append(entry.key).append("` | `").append(option_of(entry.key)).append("` | `");
  text.append(variable_of(entry.key)).append("` | ");
  text.append(entry.fallback.empty() ? "(empty)" : entry.fallback).append(" | ").append(entry.help).append(" |\n");
}

void add_first_settings(std::string& text) {
  begin_table(text);
  for (const V key : first_settings) add_row(text, *std::ranges::find(settings_table(), key, &SettingsEntry::key));
}

// Adds all other settings, with a table for each section.
void add_expert_settings(std::string& text) {
  V section;
  for (const SettingsEntry& entry : settings_table()) {
    if (comes_first(entry.key)) continue;
    if (section != section_of(entry.key)) {
      section = section_of(entry.key);
      text.append("\n### ").append(section).append("\n\n");
      begin_table(text);
    }
    add_row(text, entry);
  }
}

}  // namespace

std::string settings_documentation() {
  std::string text = "## The first ten settings\n\n";
  add_first_settings(text);
  text +=
      "\n## Expert settings\n\nThe defaults fit most programs. Change one of these when a page or a message says so.\n";
  add_expert_settings(text);
  return text;
}

}  // namespace corelane::core
