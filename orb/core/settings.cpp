#include "orb/core/settings.h"

#include <sched.h>

#include <algorithm>

#include "orb/core/setting_values.h"
#include "orb/os/cpu_mask.h"

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
       "how a task's calls reach their thread: manager (queue and manager take part in each); direct (each task "
       "admitted over the network gets a connection of its own, which its thread reads); leader-followers (whichever "
       "thread reads a call runs it: the way of older ORBs, to compare with; analyses nothing and promises nothing)",
       mode},
      {"dispatch.queue_capacity", "1024",
       "requests that may wait for the manager; more get TRANSIENT. One task or client gets half of them at most, and "
       "less while others take as many as they can get",
       [](S& s, V v) { return size(v, s.executive.queue_capacity, 1, 1'000'000); }},
      {"dispatch.admission", "on", "off: admit every task, whether its deadlines hold or not",
       [](S& s, V v) { return yes_or_no(v, s.executive.admission); }},
      {"dispatch.overshoot", "0us",
       "how much later than its time a job that came early may be released by its own timer, so that whatever else "
       "happens on its core releases it first, without an interrupt; tasks are admitted with it in mind",
       [](S& s, V v) { return span_of_time(v, s.executive.overshoot); }},
      {"pool.cores", "all", "hardware threads that admitted tasks run on, such as 0,2-5",
       [](S& s, V v) { return cores(v, s.executive.lease.cores); }},
      {"pool.deadline_cores", "none",
       "those of pool.cores, but not all, that run the earliest deadline first instead of fixed priorities: they can "
       "be filled up to their capacity whatever the periods are",
       deadline_cores},
      {"pool.deadline_policy", "levels",
       "how those run: levels (SCHED_FIFO levels that follow the deadlines of the jobs) or kernel (SCHED_DEADLINE, "
       "which holds each task to its budget itself, and by levels where the kernel refuses that: it takes cores of the "
       "server's own under cgroup v1, and CAP_SYS_NICE)",
       deadline_policy},
      {"pool.early_jobs", "off",
       "on: a job that comes before its time starts where its core is idle, as far as the core is not promised to "
       "tasks; needs SCHED_FIFO, the ledger, and cores that no other server has promises on. off: it waits for its "
       "time",
       [](S& s, V v) { return yes_or_no(v, s.executive.early_jobs); }},
      {"pool.charge_overruns", "off",
       "on: a job under report that exceeds its budget or suspension is charged to its own task: it goes on below all "
       "tasks until the next one of its task could come, and then in that one's place. So others keep their bounds "
       "whatever it does. off: it is counted, and those below may be late. Cores by deadlines charge in any case, "
       "leader-followers never",
       [](S& s, V v) { return yes_or_no(v, s.executive.charge_overruns); }},
      {"pool.real_time", "on", "off: no SCHED_FIFO and no binding to cores",
       [](S& s, V v) { return yes_or_no(v, s.executive.real_time); }},
      {"pool.spare_threads", "4",
       "threads that sleep until a task is admitted, each with its stack, and up to twice as many once tasks have "
       "left; tasks beyond them wait until theirs is made",
       [](S& s, V v) { return size(v, s.executive.spare_threads, 0, 1024); }},
      {"pool.stack", "262144",
       "bytes of stack of a thread that runs a task's jobs, and of those of leader-followers, all of them in memory "
       "from its start; a servant that puts large arrays on its stack needs more",
       [](S& s, V v) { return bytes(v, s.executive.task_stack, 65536, std::size_t{1} << 30); }},
      {"pool.wait", "park",
       "how the threads of tasks, and of leader-followers, wait for what comes next: park (sleep at once), "
       "spin-then-park (spin for pool.spin, then sleep), adaptive (the same, for as long as it lately took and a "
       "wake-up costs), spin (without SCHED_FIFO only). Spinning is charged: a task's budget counts as longer by "
       "pool.spin. In leader-followers nothing is charged, and adaptive does what spin-then-park does",
       [](S& s, V v) { return wait_mode(v, s.executive.wait.mode); }},
      {"pool.spin", "50us", "how long those threads spin after each job at most, unless by spin; 10ms at most",
       pool_spin},
      {"followers.threads", "4", "threads of the mode leader-followers",
       [](S& s, V v) { return number<int>(v, s.followers.threads, 1, 256); }},
      {"followers.placement", "unbound",
       "where they run: unbound, round-robin (bound to the cores by count) or single-core (all on the first core)",
       placement},
      {"best_effort.threads", "0",
       "threads that read and run requests without a contract; 0: four for each core, at least 64, and one that waits "
       "for new work. With best_effort.server: threads on each of its cores, 0: 2",
       [](S& s, V v) { return size(v, s.executive.best_effort_threads, 0, 256); }},
      {"best_effort.waiting", "64",
       "requests without a contract that may wait in calls of their own without taking one of best_effort.threads from "
       "others: while they do, as many more threads are there; with best_effort.server on each of its cores",
       [](S& s, V v) { return size(v, s.executive.best_effort_waiting, 0, 4096); }},
      {"best_effort.parallel", "0",
       "requests without a contract of one connection that may run at one time; more wait. 0: two for each core, and "
       "at least 8",
       [](S& s, V v) { return size(v, s.requests_parallel, 0, 4096); }},
      {"best_effort.patience", "200us",
       "when a servant runs for longer than this without a contract, another thread reads its connection meanwhile",
       [](S& s, V v) { return span_of_time(v, s.executive.best_effort_patience); }},
      {"best_effort.stack", "8388608",
       "bytes of stack of a thread that runs requests without a contract; memory is taken as it is used",
       [](S& s, V v) { return bytes(v, s.executive.best_effort_stack, 65536, std::size_t{1} << 30); }},
      {"best_effort.wait", "adaptive",
       "how a thread waits at its connection for the next request without a contract: as client.wait",
       [](S& s, V v) { return wait_mode(v, s.executive.best_effort_wait.mode); }},
      {"best_effort.spin", "50us", "how long spin-then-park spins there, and adaptive at most",
       [](S& s, V v) { return span_of_time(v, s.executive.best_effort_wait.spin); }},
      {"best_effort.server", "none",
       "what requests without a contract get of a core above the admitted tasks, which are admitted with it in mind: "
       "none; sporadic (best_effort.budget in each best_effort.period, charged like a task); deferrable (the same, "
       "kept until used, which is charged more)",
       best_effort_server},
      {"best_effort.budget", "500us", "of the server on each core; beyond it requests live on what the tasks leave",
       [](S& s, V v) { return span_of_time(v, s.executive.best_effort_server.reservation.budget); }},
      {"best_effort.period", "10ms", "see best_effort.budget",
       [](S& s, V v) { return span_of_time(v, s.executive.best_effort_server.reservation.period); }},
      {"best_effort.cores", "all", "with a server: those of pool.cores on which requests without a contract run",
       [](S& s, V v) { return cores(v, s.executive.best_effort_server.cores); }},
      {"platform.budget", "20us",
       "what readers, manager and interrupts take of a core at most in each platform.period, above all tasks",
       [](S& s, V v) { return span_of_time(v, s.executive.platform.budget); }},
      {"platform.period", "1ms", "see platform.budget",
       [](S& s, V v) { return span_of_time(v, s.executive.platform.period); }},
      {"platform.blocking", "0us", "the longest that the platform keeps a job from starting: wake-up latency",
       [](S& s, V v) { return span_of_time(v, s.executive.platform.blocking); }},
      {"io.priority", "50",
       "SCHED_FIFO priority of the thread that reads connections, above all tasks by default; 0: SCHED_OTHER",
       [](S& s, V v) { return number<int>(v, s.io_priority, 0, 99); }},
      {"io.budget", "platform",
       "what that thread may use for reading; what exceeds it is read later. platform: platform.budget in each "
       "platform.period, for what no contract of a task foresees; requests of tasks within their contracts are "
       "read at once, and nothing is charged beside platform.budget. A time: in each io.period, for all "
       "reading; half of it is for connections with requests for tasks, and tasks are admitted with it in mind."
       " 0us: no limit",
       io_budget},
      {"io.period", "1ms", "see io.budget", [](S& s, V v) { return span_of_time(v, s.executive.reader.period); }},
      {"limits.message_size", "16777216", "bytes of one message after reassembly, both directions",
       [](S& s, V v) { return bytes(v, s.giop.message_size, 1024, 2047 * mebi); }},
      {"limits.memory", "0",
       "bytes that the clients of an ORB make it hold, all together, beyond the first 64 KiB of each connection: "
       "requests that wait or run, halves of messages, and replies that are not taken yet. The clients of one address, "
       "or of one user of this host, get a quarter of it, and one whole message at least. Clients that use up their "
       "part are read no further until some of it is free. Channels grow only as far as it has room, and are counted "
       "beside the others. 0: 64 MiB, or four times limits.message_size where that is more",
       [](S& s, V v) { return bytes(v, s.memory, 0, std::size_t{1} << 40); }},
      {"limits.connections", "1024",
       "accepted connections at one time. When one more comes, an idle one ends, which has neither a request under way "
       "nor an admitted task: the one that was quiet for longest, or, if more than a quarter of all connections have "
       "sent no whole message yet, the oldest of those. Its client connects anew with its next call. If none is idle, "
       "and in leader-followers always, the new connection is refused",
       [](S& s, V v) { return size(v, s.connections.connections, 1, 1'000'000); }},
      {"limits.connections_per_peer", "256",
       "accepted connections at one time of one peer: of one address, or of one user of this host. When one more "
       "comes, an idle one of the same peer ends, as for limits.connections",
       [](S& s, V v) { return size(v, s.connections.connections_per_peer, 1, 1'000'000); }},
      {"limits.backlog", "33554432",
       "bytes that wait for a peer which reads more slowly than it is sent to, or not at all. Calling threads and "
       "replies without a contract leave half of it free and wait for room; real-time threads, that is tasks' and the "
       "reader's, wait for nobody, and what they send beyond it closes the connection. Twice the largest message at "
       "least; one that nothing waits before may be longer",
       [](S& s, V v) { return bytes(v, s.connections.backlog, 1024, 2047 * mebi); }},
      {"limits.requests", "1024", "requests of one connection under way; more get TRANSIENT",
       [](S& s, V v) { return size(v, s.requests_per_connection, 1, 1'000'000); }},
      {"limits.tasks", "256", "admitted tasks; 0: none, for servers that keep no deadlines",
       [](S& s, V v) { return size(v, s.executive.max_tasks, 0, 100'000); }},
      {"limits.forwards", "8", "how often one call follows a forwarded reference",
       [](S& s, V v) { return number<int>(v, s.forwards, 0, 100); }},
      {"limits.peer_tasks", "half",
       "admitted tasks of one peer, over all its connections: of one address, or of one user of this host; half: of "
       "limits.tasks, rounded up; 0: no limit of its own",
       peer_tasks},
      {"limits.peer_utilization", "by-user",
       "share of a core, such as 50%, or parts per million of one, that the tasks of one peer may hold, over all its "
       "connections: of one address, or of one user of this host; by-user: half of what all cores of the server hold, "
       "and no limit for "
       "processes of this server's user and of root that call through Unix sockets or channels; 0: no limit",
       peer_utilization},
      {"limits.peer_urgency", "0us",
       "the shortest deadline, less its jitter, that a remote peer's task may have, which is what its priority "
       "follows from; 0us: no limit",
       [](S& s, V v) { return span_of_time(v, s.executive.peer_urgency); }},
      {"limits.peer_overrun", "by-user",
       "the least strict policy for jobs that overrun which a contract from another process gets, whatever it asks "
       "for: report, demote or cancel; by-user: demote, and report for processes of this server's user and of root "
       "that call through Unix sockets or channels. Nothing where nobody watches budgets (leader-followers)",
       peer_overrun},
      {"timeout.idle_tasks", "by-user",
       "a task of another process of which no call came for so long, and for ten of its periods, ends: its client is "
       "told so when it calls; 0s: never; by-user: 60s, and never for processes of this server's user and of root that "
       "call through Unix sockets or channels",
       idle_tasks},
      {"timeout.request", "30s", "how long a call waits for its reply; 0s: for ever",
       [](S& s, V v) { return span_of_time(v, s.request_timeout); }},
      {"timeout.connect", "5s",
       "how long connecting may take; a server that sets a channel up waits as long for the client's part, and 2s at "
       "least",
       [](S& s, V v) { return some_time(v, s.connect_timeout); }},
      {"timeout.flush", "5s",
       "how long destroy() goes on sending oneway requests that servers have not taken yet; what is left then is lost",
       [](S& s, V v) { return span_of_time(v, s.flush_timeout); }},
      {"timeout.idle", "0s",
       "connections over which nothing came or went for so long, while no request was under way, are closed, and the "
       "tasks that were admitted over them leave: so a client that hangs or is stopped keeps its promise no longer. "
       "More than the longest pause between two calls of a client with tasks; others connect anew by themselves. A "
       "client closes its own connections after such a time, too, but none that a task lives by; 0s: never",
       [](S& s, V v) { return span_of_time(v, s.connections.idle_timeout); }},
      {"timeout.backlog", "10s",
       "how long a peer may take nothing of what waits for it while a thread or a burst of oneways waits for room "
       "to send it more; then its connection is closed",
       [](S& s, V v) { return some_time(v, s.connections.backlog_timeout); }},
      {"timeout.header", "10s", "how long half a message may wait for its rest",
       [](S& s, V v) { return span_of_time(v, s.connections.header_timeout); }},
      {"client.wait", "adaptive",
       "how calling threads wait for replies: park (sleep at once), spin (burn the core), spin-then-park (spin for "
       "client.spin, then sleep), adaptive. Adaptive spins only where replies lately came sooner than a wake-up takes, "
       "no longer than that, and while no other thread needs the core. It is park in a task's job, on a machine "
       "with one core, and where a quota of CPU time is worth one core",
       [](S& s, V v) { return wait_mode(v, s.wait.mode); }},
      {"client.spin", "50us", "how long spin-then-park spins, and adaptive at most",
       [](S& s, V v) { return span_of_time(v, s.wait.spin); }},
      {"client.connections", "auto",
       "the most connections that a client has to one server. Each thread that calls gets one for itself, and threads "
       "share when there are more of them. auto: four for each core, from 16 to 64. A channel has eight descriptors: "
       "those to one server take at most an eighth of what ulimit -n allows, and there are at least four",
       client_connections},
      {"client.channel", "on", "on: calls take a channel where the reference names one. off: they take sockets",
       [](S& s, V v) { return yes_or_no(v, s.channels); }},
      {"channel.allow", "",
       "other users whose clients may call through channels, separated by commas: names or numbers, groups as @name "
       "(all who are in them), or anyone. Clients of all others use sockets. These users have to reach the channel's "
       "path: where they may not enter the runtime directory, listen at channel:/path in a directory that they may "
       "enter",
       allowed},
      {"channel.pool", "4521984",
       "bytes that each end of a channel lends for messages of more than 4 KiB, so that they need not be copied: by "
       "default four of 1 MiB on their way at once; what is longer than all of it, or finds none free, is copied in "
       "pieces. Between ends of one user it takes memory only while it is used; for another user it is at most 1152 "
       "KiB",
       [](S& s, V v) { return bytes(v, s.channel.pool, 64 * 1024, transport::largest_channel_pool); }},
      {"endpoint.listen", "127.0.0.1:0",
       "where a server listens: one or more of host:port (port 0: any free one), unix:/path and channel:/path (shared "
       "memory, see channel.md; unix: or channel: alone chooses a path in the runtime directory), separated by commas; "
       "references name all of them",
       listen},
      {"endpoint.local", "on",
       "a server that listens at host:port offers a channel: and a unix: of its own accord, for clients of its host; "
       "off: what endpoint.listen says and no more",
       [](S& s, V v) { return yes_or_no(v, s.local); }},
      {"endpoint.unix_mode", "0600", "permissions of Unix sockets, octal: who may write to one may connect",
       socket_mode},
      {"endpoint.host", "",
       "hosts that references name, each with a port where clients reach the server at another one (behind a NAT or a "
       "container's published port): plant.example:47090, [2001:db8::1]. Clients try them in this order. Without it "
       "the one listened on, or this host's first address where that is all of them (0.0.0.0, [::])",
       host},
      {"naming.service", "",
       "reference of the Naming Service, such as corbaloc::host:2809/NameService; without it this host's nameserver: "
       "at naming.socket, then at port 2809. -ORBInitRef NameService=REFERENCE goes before it",
       [](S& s, V v) { return s.naming.service = v, std::string{}; }},
      {"naming.socket", "",
       "the Unix socket at which this host's nameserver listens and is looked for; without it nameserver.sock in the "
       "runtime directory, then in /run/corelane unless runtime.directory is set; off: none",
       nameserver_path},
      {"naming.store", "",
       "where corelane-nameserver keeps names: memory (they end with it), sqlite:PATH or etcd:URL; without it the file "
       "names.db, in /var/lib/corelane for root, in $XDG_STATE_HOME/corelane or ~/.local/state/corelane for others",
       [](S& s, V v) { return s.naming.store = v, std::string{}; }},
      {"naming.etcd_user", "", "who corelane-nameserver is to etcd; without it, it does not log in",
       [](S& s, V v) { return s.naming.etcd_user = v, std::string{}; }},
      {"naming.etcd_password_file", "", "the file whose first line is his password",
       [](S& s, V v) { return s.naming.etcd_password_file = v, std::string{}; }},
      {"naming.etcd_ca_file", "", "certificates in PEM of who may vouch for an etcd at https; without it the system's",
       [](S& s, V v) { return s.naming.etcd_ca_file = v, std::string{}; }},
      {"naming.etcd_certificate_file", "", "the certificate, in PEM, that corelane-nameserver shows to such an etcd",
       [](S& s, V v) { return s.naming.etcd_certificate_file = v, std::string{}; }},
      {"naming.etcd_key_file", "", "its key; without it in the same file",
       [](S& s, V v) { return s.naming.etcd_key_file = v, std::string{}; }},
      {"naming.etcd_copy", "",
       "the file in which corelane-nameserver keeps a copy of the names that etcd has, to start from while etcd is "
       "away; without it etcd-copy.db, where names.db would be; off: none",
       [](S& s, V v) { return s.naming.etcd_copy = v, std::string{}; }},
      {"naming.move_aside_damaged", "off",
       "on: a damaged file of names is renamed to FILE.damaged-1, and a new one begins with no names; off: "
       "corelane-nameserver refuses to start",
       [](S& s, V v) { return yes_or_no(v, s.naming.move_aside_damaged); }},
      {"naming.names", "1000000", "names that corelane-nameserver holds; more get IMP_LIMIT, as with the limits below",
       [](S& s, V v) { return size(v, s.naming.names, 1, 100'000'000); }},
      {"naming.contexts", "100000", "contexts that it holds",
       [](S& s, V v) { return size(v, s.naming.contexts, 0, 10'000'000); }},
      {"naming.depth", "64", "components of one name", [](S& s, V v) { return size(v, s.naming.depth, 1, 1024); }},
      {"naming.name_length", "1024", "bytes of an id, and of a kind",
       [](S& s, V v) { return bytes(v, s.naming.name_length, 1, 65'536); }},
      {"naming.iterators", "1024", "binding iterators alive at one time; with more the one unused for longest goes",
       [](S& s, V v) { return size(v, s.naming.iterators, 1, 100'000); }},
      {"naming.iterator_age", "300s", "how long an iterator that nobody uses stays",
       [](S& s, V v) { return span_of_time(v, s.naming.iterator_age); }},
      {"naming.leases", "10000", "leases of ephemeral names alive at one time",
       [](S& s, V v) { return size(v, s.naming.leases, 0, 1'000'000); }},
      {"naming.longest_lease", "3600s", "how long a lease may last between two renewals, from 100ms to 366 days",
       [](S& s, V v) { return longest_lease(v, s.naming.longest_lease); }},
      {"naming.watches", "1024", "listeners to changes",
       [](S& s, V v) { return size(v, s.naming.watches, 0, 100'000); }},
      {"naming.client_names", "10000",
       "names of one client: of all processes of a user of the nameserver's host, or of all that come from one "
       "address. Root and the user of corelane-nameserver have no such limit",
       [](S& s, V v) { return size(v, s.naming.client_names, 0, 100'000'000); }},
      {"naming.client_leases", "1000",
       "leases of one client: of all processes of a user of the nameserver's host, or of all that come from one "
       "address",
       [](S& s, V v) { return size(v, s.naming.client_leases, 0, 1'000'000); }},
      {"naming.client_watches", "64", "listeners of one client",
       [](S& s, V v) { return size(v, s.naming.client_watches, 0, 100'000); }},
      {"naming.client_iterators", "256", "binding iterators of one client; with more his oldest goes",
       [](S& s, V v) { return size(v, s.naming.client_iterators, 1, 100'000); }},
      {"naming.reference_size", "16384", "bytes of a reference that is bound, as IOR: text",
       [](S& s, V v) { return bytes(v, s.naming.reference_size, 1024, 1024 * 1024); }},
      {"naming.foreign_calls", "16",
       "calls at one time of corelane-nameserver into contexts of other servers; beyond it, as where they do not "
       "answer, clients get CannotProceed, and go on there themselves. At most best_effort.waiting, or one fewer than "
       "best_effort.threads where that is more",
       [](S& s, V v) { return size(v, s.naming.foreign_calls, 0, 10'000); }},
      {"naming.foreign_time", "3s", "how long such a call may take",
       [](S& s, V v) { return span_of_time(v, s.naming.foreign_time); }},
      {"naming.writers", "",
       "who may change names (bind, unbind, make and destroy contexts, take leases), besides root and the user of "
       "corelane-nameserver: users by name or number, groups as @name (all who are in them), or anyone, separated by "
       "commas. A name that one of them has bound is changed by its owner, root and the user of corelane-nameserver "
       "alone. Others may resolve, list and watch",
       name_writers},
      {"naming.network_writers", "auto",
       "whether clients over TCP may change names, whose user the kernel does not know; ORBs other than Corelane need "
       "it: on, off, or auto: where naming.writers is anyone",
       name_network_writers},
      {"naming.trusted", "",
       "users whose nameserver a client believes at naming.socket besides root's and his own, by name or number, "
       "separated by commas; anyone: whoever listens there",
       trusted_nameservers},
      {"naming.replace", "on",
       "off: a server whose name is bound already does not take it over (corelane::naming::Registration raises "
       "AlreadyBound), so that a second copy of it does not start; on: it does, and its log says whose the name was",
       [](S& s, V v) { return yes_or_no(v, s.naming.replace); }},
      {"contracts.file", "",
       "contracts of operations, over those of their IDL; see using.md. A relative name is taken from the working "
       "directory",
       [](S& s, V v) { return s.contracts_file = v, std::string{}; }},
      {"log.level", "info",
       "how much is said on standard error, for all ORBs of the process: debug, info (also which way calls take), "
       "warn, error or off",
       log_level},
      {"recorder.size", "8192",
       "scheduling events kept for each core and for the manager, of 64 bytes, rounded up to a power of two; 0: none",
       [](S& s, V v) { return size(v, s.executive.recorder.size, 0, 16 * mebi); }},
      {"recorder.directory", "", "where traces are written; without it the folder traces of the runtime directory",
       [](S& s, V v) { return s.executive.recorder.directory = v, std::string{}; }},
      {"recorder.dump_on_miss", "0", "so many traces at most are written when deadlines are missed, 10 s apart",
       [](S& s, V v) { return number<unsigned>(v, s.executive.recorder.dump_on_miss, 0, 1000); }},
      {"recorder.dump_at_exit", "off", "on: a trace is written when the process ends",
       [](S& s, V v) { return yes_or_no(v, s.executive.recorder.dump_at_exit); }},
      {"reserved.use", "auto",
       "whether a server asks corelane-reserved for cores of its own: auto (where it runs; else the server shares "
       "cores with others), off, or required (it does not start without); see reservation.md",
       reserved_use},
      {"reserved.cores", "1", "how many it asks for where pool.cores is all",
       [](S& s, V v) { return number<std::uint16_t>(v, s.reserved.cores, 1, 4096); }},
      {"reserved.backend", "auto",
       "how corelane-reserved keeps others away from reserved cores: cgroup-v2, cgroup-v1, affinity (nobody is kept "
       "away who sets his own affinity), or auto: the first of these that works here",
       reserved_backend},
      {"reserved.root", "/", "the control group below which corelane-reserved makes its own: / is all of the host",
       reserved_root},
      {"reserved.processes", "all",
       "whom corelane-reserved moves: all, or the number of a process: that one and those that it starts; nobody else "
       "is touched, nor kept out, and nobody else may reserve. A number takes the backend affinity",
       reserved_processes},
      {"reserved.socket", "",
       "the Unix socket at which corelane-reserved listens and servers look for it; without it reserved.sock in the "
       "runtime directory, then in /run/corelane unless runtime.directory is set",
       reserved_socket},
      {"reserved.keep", "",
       "hardware threads that corelane-reserved gives to nobody, such as 0,4-5; without it those of the first core",
       [](S& s, V v) {
         return v.empty() ? std::string{} : v == "all" ? "hardware threads such as 0,4-5" : cores(v, s.reserved.keep);
       }},
      {"reserved.users", "none",
       "who may reserve cores, besides root and the daemon's own user: anyone, none, or names or numbers of users, and "
       "of groups as @name (all who are in them)",
       reserving_users},
      {"reserved.interrupts", "on", "off: corelane-reserved leaves interrupts where they are",
       [](S& s, V v) { return yes_or_no(v, s.reserved.interrupts); }},
      {"reserved.memory_rest", "10", "per cent of the host's memory that corelane-reserved promises to nobody",
       [](S& s, V v) { return number<unsigned>(v, s.reserved.memory_rest, 0, 100); }},
      {"runtime.directory", "",
       "where servers keep their ledger of promised cores; without it root's meet in /run/corelane, another user's in "
       "$XDG_RUNTIME_DIR/corelane or /tmp/corelane-<uid> (where another user has made that, $HOME/.corelane-<host>): "
       "servers of different users do not know of each other; it is made when the directory above it is there",
       [](S& s, V v) { return s.runtime_directory = v, std::string{}; }},
      {"runtime.ledger", "on", "off: promise cores without asking the other processes of this host (unguarded)",
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

std::string settings_documentation() {
  std::string text = "| key in corelane.toml | option | variable | default | meaning |\n|---|---|---|---|---|\n";
  for (const SettingsEntry& entry : settings_table()) {
    text.append("| `").append(entry.key).append("` | `").append(option_of(entry.key)).append("` | `");
    text.append(variable_of(entry.key)).append("` | ");
    text.append(entry.fallback.empty() ? "(empty)" : entry.fallback).append(" | ").append(entry.help).append(" |\n");
  }
  return text;
}

}  // namespace corelane::core
