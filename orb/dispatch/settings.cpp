#include "orb/dispatch/settings.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/base/registry.h"
#include "orb/base/settings/setting_values.h"
#include "orb/sched/admission_test.h"
#include "orb/sched/allocation_strategy.h"
#include "orb/sched/usable_in.h"

namespace corelane::dispatch {
namespace setting_values {
namespace {

template <typename Entry>
std::string server_names(Registry<Entry> registry) {
  const auto entries = sched::for_servers(registry);
  return names_of(Registry<Entry>(entries));
}

template <typename Entry>
std::string server_help(Registry<Entry> registry) {
  const auto entries = sched::for_servers(registry);
  return help_of(Registry<Entry>(entries));
}

// Returns what is expected instead of a policy that does not work in a server, and where it works.
std::string not_in_server(const std::string& expected, std::string_view name, const sched::UsableIn& usable,
                          std::string_view instead) {
  return expected + "; " + std::string(name) + " works in " + sched::text_of(usable) + " only" +
         (instead.empty() ? "" : "; " + std::string(instead));
}

std::string_view admission_help() {
  static const std::string help =
      "How it is decided whether a task is admitted. on: a task is refused if a deadline could be missed. off: no "
      "task is refused. Or the name of a test for cores with fixed priorities, which decides alone; " +
      std::string(sched::default_admission_test()->name) + " is the default. " + server_help(sched::admission_tests());
  return help;
}

std::string_view allocation_help() {
  static const std::string help =
      "The order in which the cores are tried for a task. A task is refused only if its deadlines hold on no core. "
      "With leader-followers it matters only if followers.placement = allocated. " +
      server_help(sched::allocation_strategies());
  return help;
}

std::string admission_test(ExecutiveOptions& s, std::string_view text) {
  bool is_on = false;
  const sched::AdmissionTest* test = find_named(sched::admission_tests(), text);
  if (parse::yes_or_no(text, is_on).empty()) test = is_on ? sched::default_admission_test() : &sched::admission::none;
  const std::string expected = "on, off, " + server_names(sched::admission_tests());
  if (test == nullptr) return expected;
  if (!test->usable_in.server) return not_in_server(expected, test->name, test->usable_in, test->instead);
  return s.admission_test = test, std::string{};
}

std::string allocation(ExecutiveOptions& s, std::string_view text) {
  const auto* const strategy = find_named(sched::allocation_strategies(), text);
  const std::string expected = server_names(sched::allocation_strategies());
  if (strategy == nullptr) return expected;
  if (!strategy->usable_in.server) return not_in_server(expected, strategy->name, strategy->usable_in, {});
  return s.allocation = strategy, std::string{};
}

std::string deadline_cores(ExecutiveOptions& s, std::string_view text) {
  std::vector<CoreId> named;
  if (text != "none" && (text == "all" || text.empty() || !parse::cores(text, named).empty()))
    return "none, or hardware threads such as 2,3";
  s.deadline_cores = std::move(named);
  return {};
}

std::string deadline_policy(ExecutiveOptions& s, std::string_view text) {
  return parse::choice(text, s.deadline_policy,
                       {{"levels", DeadlinePolicy::levels}, {"kernel", DeadlinePolicy::kernel}});
}

std::string best_effort_server(ExecutiveOptions& s, std::string_view text) {
  return parse::choice(text, s.best_effort_server.kind,
                       {{"none", BestEffortServer::none},
                        {"sporadic", BestEffortServer::sporadic},
                        {"deferrable", BestEffortServer::deferrable}});
}

std::string best_effort_concurrency(ExecutiveOptions& s, std::string_view text) {
  sched::ServantLimit limit;
  if (text == "auto")
    limit.is_automatic = true;
  else if (text != "unlimited" && !parse::number<int>(text, limit.most, 1, 4096).empty())
    return "unlimited, auto, or a number from 1 to 4096";
  return s.best_effort_concurrency = limit, std::string{};
}

std::string peer_tasks(ExecutiveOptions& s, std::string_view text) {
  if (text == "half") return s.peer_tasks.reset(), std::string{};
  std::size_t tasks = 0;
  std::string fault = parse::size(text, tasks, 0, 100'000);
  if (!fault.empty()) return "half, or " + fault;
  return s.peer_tasks = tasks, std::string{};
}

std::string peer_utilization(ExecutiveOptions& s, std::string_view text) {
  if (text == "by-user") return s.peer_limit.reset(), std::string{};
  constexpr sched::Ppm most = 1'000'000'000;
  const bool is_percent = text.ends_with('%');
  const sched::Ppm unit = is_percent ? sched::whole_core / 100 : 1;
  sched::Ppm limit = 0;
  if (!parse::number<sched::Ppm>(text.substr(0, text.size() - (is_percent ? 1 : 0)), limit, 0, most / unit).empty())
    return "by-user, a share of one core such as 50%, or a number of parts per million of one from 0 to " +
           std::to_string(most);
  return s.peer_limit = limit * unit, std::string{};
}

std::string idle_tasks(ExecutiveOptions& s, std::string_view text) {
  if (text == "by-user") return s.task_lease.reset(), std::string{};
  Duration lease{};
  std::string fault = parse::span_of_time(text, lease);
  if (!fault.empty()) return "by-user, or " + fault;
  return s.task_lease = lease, std::string{};
}

std::string pool_spin(ExecutiveOptions& s, std::string_view text) {
  std::string fault = parse::span_of_time(text, s.wait.spin);
  if (fault.empty() && s.wait.spin > std::chrono::milliseconds{10}) fault = "a duration up to 10ms";
  return fault;
}

}  // namespace
}  // namespace setting_values

SettingsOf<ExecutiveOptions> executive_settings() {
  using S = ExecutiveOptions;
  using V = std::string_view;
  using namespace setting_values;
  static const Setting<S> all[] = {
      {"dispatch.queue_capacity",
       "1024",
       "How many requests may wait for the manager; further ones get TRANSIENT. One task or client gets at most half "
       "of these places, and less while others take as many as they can get",
       [](S& s, V v) { return parse::size(v, s.queue_capacity, 1, 1'000'000); },
       {.same = same<&S::queue_capacity>}},
      {"dispatch.admission", "on", admission_help(), admission_test, {.same = same<&S::admission_test>}},
      {"dispatch.allocation",
       sched::default_allocation_strategy()->name,
       allocation_help(),
       allocation,
       {.same = same<&S::allocation>, .followers = true}},
      {"dispatch.overshoot",
       "0us",
       "How much later than its time an early job may be released by its own timer. Whatever else happens on its core "
       "in that time releases it first, without an interrupt. Admission takes this delay into account",
       [](S& s, V v) { return parse::span_of_time(v, s.overshoot); },
       {.same = same<&S::overshoot>}},
      {"dispatch.slowdowns",
       "",
       "A file with tables [[slowdown]], such as corelane measure --slowdowns writes it; see scalability.md. Admission "
       "multiplies a budget by what the worst of these tasks on each other core of the cache may slow the task down. "
       "These factors are estimates, so deadlines then hold only as far as the estimates do. A relative name is taken "
       "from the working directory",
       [](S& s, V v) { return parse::any_text(v, s.slowdowns_file); },
       {.same = same<&S::slowdowns_file>}},
      {"pool.cores",
       "all",
       "Hardware threads on which admitted tasks run, such as 0,2-5",
       [](S& s, V v) { return parse::cores(v, s.lease.cores); },
       {.first = 5, .same = same<&S::lease, &LeaseRequest::cores>, .followers = true}},
      {"pool.cache_domains",
       "0",
       "For dispatch.allocation = cache-aware and dispatch.slowdowns: among how many last-level caches the cores are "
       "divided, evenly and in the order of their numbers. 0: as the machine reports it. Virtual machines often report "
       "wrong caches",
       [](S& s, V v) { return parse::size(v, s.cache_domains, 0, 1024); },
       {.same = same<&S::cache_domains>}},
      {"pool.deadline_cores",
       "none",
       "Those of pool.cores, but not all, that run the earliest deadline first instead of fixed priorities. They can "
       "be filled up to their capacity whatever the periods are",
       deadline_cores,
       {.same = same<&S::deadline_cores>}},
      {"pool.deadline_policy",
       "levels",
       "How deadline_cores run. levels: SCHED_FIFO levels that follow the deadlines of the jobs. kernel: "
       "SCHED_DEADLINE, which holds each task to its budget itself. It needs CAP_SYS_NICE, and under cgroup v1 cores "
       "of the server's own; if the kernel refuses it, levels are used",
       deadline_policy,
       {.same = same<&S::deadline_policy>}},
      {"pool.early_jobs",
       "off",
       "on: a job that comes before its time starts if its core is idle, as far as the core is not promised to tasks. "
       "It needs SCHED_FIFO, the ledger, and cores on which no other server has promises. off: it waits for its time",
       [](S& s, V v) { return parse::yes_or_no(v, s.early_jobs); },
       {.same = same<&S::early_jobs>}},
      {"pool.charge_overruns",
       "off",
       "on: a job under report that exceeds its budget or suspension is charged to its own task. It continues below "
       "all tasks until the next job of its task could come, and then in that job's place. So others keep their "
       "bounds. off: the overrun is counted, and tasks below may be late. Cores by deadlines always charge, "
       "leader-followers never does",
       [](S& s, V v) { return parse::yes_or_no(v, s.charge_overruns); },
       {.same = same<&S::charge_overruns>}},
      {"pool.real_time",
       "on",
       "off: no SCHED_FIFO and no binding to cores",
       [](S& s, V v) { return parse::yes_or_no(v, s.real_time); },
       {.same = same<&S::real_time>, .followers = true}},
      {"pool.spare_threads",
       "4",
       "Threads that sleep until a task is admitted, each with its stack; up to twice as many once tasks have left. "
       "Further tasks wait until their thread is made",
       [](S& s, V v) { return parse::size(v, s.spare_threads, 0, 1024); },
       {.same = same<&S::spare_threads>}},
      {"pool.stack",
       "262144",
       "Bytes of stack of each thread that runs a task's jobs, and of those of leader-followers, all of them in memory "
       "from the start. A servant with large arrays on its stack needs more",
       [](S& s, V v) { return parse::bytes(v, s.task_stack, 65536, std::size_t{1} << 30); },
       {.same = same<&S::task_stack>, .followers = true}},
      {"pool.wait",
       "park",
       "How the threads of tasks, and of leader-followers, wait for the next job. park: sleep at once. spin-then-park: "
       "spin for pool.spin, then sleep. adaptive: the same, for as long as waits lately took and a wake-up costs. "
       "spin: only without SCHED_FIFO. Spinning is charged: a task's budget counts as longer by pool.spin. In "
       "leader-followers nothing is charged, and adaptive is spin-then-park",
       [](S& s, V v) { return os::set_wait_mode(v, s.wait.mode); },
       {.same = same<&S::wait, &os::WaitStrategy::mode>, .followers = true}},
      {"pool.spin",
       "50us",
       "How long those threads spin after each job at most, except with spin; at most 10ms",
       pool_spin,
       {.same = same<&S::wait, &os::WaitStrategy::spin>, .followers = true}},
      {"best_effort.threads",
       "0",
       "Threads that read and run requests without a contract. 0: four for each core, at least 64, and one that waits "
       "for new work. With best_effort.server: threads on each of its cores; 0: 2",
       [](S& s, V v) { return parse::size(v, s.best_effort_threads, 0, 256); },
       {.same = same<&S::best_effort_threads>}},
      {"best_effort.waiting",
       "64",
       "How many requests without a contract may wait in calls of their own without taking one of best_effort.threads "
       "from others. While they wait, there are as many threads more; with best_effort.server on each of its cores",
       [](S& s, V v) { return parse::size(v, s.best_effort_waiting, 0, 4096); },
       {.same = same<&S::best_effort_waiting>}},
      {"best_effort.patience",
       "200us",
       "If a servant runs for longer than this without a contract, another thread reads its connection meanwhile",
       [](S& s, V v) { return parse::span_of_time(v, s.best_effort_patience); },
       {.same = same<&S::best_effort_patience>}},
      {"best_effort.concurrency",
       "unlimited",
       "How many servants may run in parallel without a contract. unlimited: as many as there are threads. auto: the "
       "server finds the number with which most of them end; useful if servants wait for each other's locks. Or a "
       "number, but then servants must not wait for other requests. With best_effort.server it has no effect",
       best_effort_concurrency,
       {.same = same<&S::best_effort_concurrency>}},
      {"best_effort.stack",
       "8388608",
       "Bytes of stack of a thread that runs requests without a contract. Memory is taken as it is used",
       [](S& s, V v) { return parse::bytes(v, s.best_effort_stack, 65536, std::size_t{1} << 30); },
       {.same = same<&S::best_effort_stack>}},
      {"best_effort.wait",
       "adaptive",
       "How a thread waits at its connection for the next request without a contract; see client.wait",
       [](S& s, V v) { return os::set_wait_mode(v, s.best_effort_wait.mode); },
       {.same = same<&S::best_effort_wait, &os::WaitStrategy::mode>}},
      {"best_effort.spin",
       "50us",
       "How long spin-then-park spins there, and adaptive at most",
       [](S& s, V v) { return parse::span_of_time(v, s.best_effort_wait.spin); },
       {.same = same<&S::best_effort_wait, &os::WaitStrategy::spin>}},
      {"best_effort.server",
       "none",
       "What requests without a contract get of a core above the admitted tasks. Admission takes it into account. "
       "none; sporadic: best_effort.budget in each best_effort.period, charged like a task; deferrable: the same, kept "
       "until used, which is charged more",
       best_effort_server,
       {.same = same<&S::best_effort_server, &BestEffortServerOptions::kind>}},
      {"best_effort.budget",
       "500us",
       "Budget of that server on each core. Beyond it requests use what the tasks leave",
       [](S& s, V v) { return parse::span_of_time(v, s.best_effort_server.reservation.budget); },
       {.same = same<&S::best_effort_server, &BestEffortServerOptions::reservation, &sched::Reservation::budget>}},
      {"best_effort.period",
       "10ms",
       "See best_effort.budget",
       [](S& s, V v) { return parse::span_of_time(v, s.best_effort_server.reservation.period); },
       {.same = same<&S::best_effort_server, &BestEffortServerOptions::reservation, &sched::Reservation::period>}},
      {"best_effort.cores",
       "all",
       "With a server: those of pool.cores on which requests without a contract run",
       [](S& s, V v) { return parse::cores(v, s.best_effort_server.cores); },
       {.same = same<&S::best_effort_server, &BestEffortServerOptions::cores>}},
      {"platform.budget",
       "20us",
       "What readers, manager and interrupts take of a core at most in each platform.period, above all tasks",
       [](S& s, V v) { return parse::span_of_time(v, s.platform.budget); },
       {.same = same<&S::platform, &sched::PlatformLoad::budget>}},
      {"platform.period",
       "1ms",
       "See platform.budget",
       [](S& s, V v) { return parse::span_of_time(v, s.platform.period); },
       {.same = same<&S::platform, &sched::PlatformLoad::period>}},
      {"platform.blocking",
       "0us",
       "The longest time for which the platform keeps a job from starting: wake-up latency",
       [](S& s, V v) { return parse::span_of_time(v, s.platform.blocking); },
       {.same = same<&S::platform, &sched::PlatformLoad::blocking>}},
      {"limits.tasks",
       "256",
       "Admitted tasks. 0: none, for servers that keep no deadlines",
       [](S& s, V v) { return parse::size(v, s.max_tasks, 0, 100'000); },
       {.same = same<&S::max_tasks>, .followers = true}},
      {"limits.peer_tasks",
       "half",
       "Admitted tasks of one peer (one address, or one user of this host) over all its connections. half: half of "
       "limits.tasks, rounded up. 0: no limit",
       peer_tasks,
       {.same = [](const S& a, const S& b) { return peer_tasks_of(a) == peer_tasks_of(b); }, .followers = true}},
      {"limits.peer_utilization",
       "by-user",
       "The share of a core that the tasks of one peer may hold over all its connections, such as 50%, or parts per "
       "million. A peer is one address, or one user of this host. by-user: half of what all cores of the server hold, "
       "and no limit for processes of this server's user and of root that call through Unix sockets or channels. 0: no "
       "limit",
       peer_utilization,
       {.same = same<&S::peer_limit>}},
      {"limits.peer_urgency",
       "0us",
       "The shortest deadline, minus its jitter, that a remote peer's task may have; its priority follows from that. "
       "0us: no limit",
       [](S& s, V v) { return parse::span_of_time(v, s.peer_urgency); },
       {.same = same<&S::peer_urgency>}},
      {"timeout.idle_tasks",
       "by-user",
       "A task of another process ends if no call of it came for so long and for ten of its periods. Its client learns "
       "it from its next call. 0s: never. by-user: 60s, and never for processes of this server's user and of root that "
       "call through Unix sockets or channels",
       idle_tasks,
       {.same = same<&S::task_lease>}},
      {"recorder.size",
       "8192",
       "Scheduling events of 64 bytes kept for each core and for the manager, rounded up to a power of two. 0: none",
       [](S& s, V v) { return parse::size(v, s.recorder.size, 0, 16 * 1024 * 1024); },
       {.same = same<&S::recorder, &RecorderOptions::size>}},
      {"recorder.directory",
       "",
       "Where traces are written. Without it, the folder traces of the runtime directory",
       [](S& s, V v) { return parse::directory(v, s.recorder.directory); },
       {.same = same<&S::recorder, &RecorderOptions::directory>}},
      {"recorder.dump_on_miss",
       "0",
       "How many traces at most are written when deadlines are missed, 10 s apart",
       [](S& s, V v) { return parse::number<unsigned>(v, s.recorder.dump_on_miss, 0, 1000); },
       {.same = same<&S::recorder, &RecorderOptions::dump_on_miss>}},
      {"recorder.dump_at_exit",
       "off",
       "on: a trace is written when the process ends",
       [](S& s, V v) { return parse::yes_or_no(v, s.recorder.dump_at_exit); },
       {.same = same<&S::recorder, &RecorderOptions::dump_at_exit>}},
  };
  return all;
}

}  // namespace corelane::dispatch
