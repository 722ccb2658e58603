#include "orb/core/config/setting_values.h"

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "orb/base/overrun_name.h"
#include "orb/core/config/access_text.h"
#include "orb/core/config/advertised_host.h"
#include "orb/sched/admission_test.h"
#include "orb/sched/allocation_strategy.h"

namespace corelane::core::values {
namespace {

// The longest duration of a setting. Added to the current time, it cannot overflow Time.
constexpr std::chrono::hours longest_span{366 * 24};

bool is_socket_path(std::string_view text) {
  return text.starts_with('/') && text.size() <= transport::longest_unix_path;
}

std::string socket_path_rule() {
  return "a path with a slash at its beginning and " + std::to_string(transport::longest_unix_path) + " bytes at most";
}

template <typename Value>
struct Choice {
  std::string_view name;
  Value value;
};

// Sets `out` to the value of the choice with that name. If there is none, returns all names: "a, b or c".
template <typename Value>
std::string choose(std::string_view text, Value& out,
                   std::initializer_list<Choice<std::type_identity_t<Value>>> choices) {
  std::string names;
  std::size_t left = choices.size();
  for (const auto& choice : choices) {
    if (choice.name == text) return out = choice.value, std::string{};
    --left;
    names.append(choice.name).append(left > 1 ? ", " : left == 1 ? " or " : "");
  }
  return names;
}

}  // namespace

std::string size(std::string_view text, std::size_t& out, std::size_t least, std::size_t most) {
  return number<std::size_t>(text, out, least, most);
}

std::string bytes(std::string_view text, std::size_t& out, std::size_t least, std::size_t most) {
  struct Unit {
    std::string_view name;
    unsigned shift;
  };
  constexpr Unit units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
  const auto unit = std::ranges::find_if(units, [&](const Unit& u) { return text.ends_with(u.name); });
  const unsigned shift = unit == std::end(units) ? 0 : unit->shift;
  std::size_t value = 0;
  const std::string_view digits = shift == 0 ? text : text.substr(0, text.size() - unit->name.size());
  const bool is_number =
      number<std::size_t>(digits, value, 0, std::numeric_limits<std::size_t>::max() >> shift).empty();
  value <<= shift;
  if (is_number && value >= least && value <= most) return out = value, std::string{};
  return "a number of bytes, such as 64KiB, 64MiB or 1GiB, from " + std::to_string(least) + " to " +
         std::to_string(most);
}

std::string client_connections(Settings& settings, std::string_view text) {
  if (text == "auto") return settings.client_connections = 0, std::string{};
  const std::string fault = size(text, settings.client_connections, 1, 1024);
  return fault.empty() ? fault : "auto, or " + fault;
}

std::string span_of_time(std::string_view text, Duration& out) {
  const std::optional<Duration> value = parse_duration(text);
  if (!value) return "a duration such as 500ms (a whole number and ns, us, ms or s)" + duration_hint(text);
  if (*value > longest_span) return "a duration of 366 days (31622400s) at most";
  out = *value;
  return {};
}

std::string some_time(std::string_view text, Duration& out) {
  Duration span{};
  if (std::string fault = span_of_time(text, span); !fault.empty()) return fault;
  if (span <= Duration::zero()) return "a duration of more than 0s, such as 500ms";
  return out = span, std::string{};
}

std::string longest_lease(std::string_view text, Duration& out) {
  Duration span{};
  if (!span_of_time(text, span).empty() || span < std::chrono::milliseconds{100})
    return "a duration from 100ms to 366 days, such as 3600s";
  return out = span, std::string{};
}

std::string yes_or_no(std::string_view text, bool& out) {
  if (text == "on" || text == "true" || text == "1") return out = true, std::string{};
  if (text == "off" || text == "false" || text == "0") return out = false, std::string{};
  return "on or off";
}

std::string mode(Settings& s, std::string_view text, bool has_ace) {
  using dispatch::DispatchMode;
  if (text == "leader-followers" && !has_ace)
    return "manager or direct, because this Corelane was built without ACE, which leader-followers needs. Mend it: "
           "install ACE (Debian: libace-dev) and build Corelane with -DCORELANE_WITH_ACE=ON";
  return choose(text, s.executive.mode,
                {{"manager", DispatchMode::manager},
                 {"direct", DispatchMode::direct},
                 {"leader-followers", DispatchMode::leader_followers}});
}

std::string admission_test(Settings& s, std::string_view text) {
  bool is_on = false;
  const sched::AdmissionTest* test = find_named(sched::admission_tests(), text);
  if (yes_or_no(text, is_on).empty()) test = is_on ? sched::default_admission_test() : &sched::admission::none;
  if (test == nullptr) return "on, off, " + names_of(sched::admission_tests());
  return s.executive.admission_test = test, std::string{};
}

std::string allocation(Settings& s, std::string_view text) {
  const auto* const strategy = find_named(sched::allocation_strategies(), text);
  if (strategy == nullptr) return names_of(sched::allocation_strategies());
  return s.executive.allocation = strategy, std::string{};
}

std::string placement(Settings& s, std::string_view text) {
  using leader_followers::Placement;
  return choose(text, s.followers.placement,
                {{"unbound", Placement::unbound},
                 {"round-robin", Placement::round_robin},
                 {"single-core", Placement::single_core}});
}

std::string cores(std::string_view text, std::vector<CoreId>& out) {
  constexpr std::string_view expected = "all, or hardware threads such as 0,2-5";
  std::vector<CoreId> result;
  if (text.empty()) return std::string(expected);
  if (text == "all") text = {};
  while (!text.empty()) {  // bound: the text
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t dash = item.find('-');
    std::int16_t first = 0, last = 0;
    if (!number<std::int16_t>(item.substr(0, dash), first, 0, 4095).empty()) return std::string(expected);
    last = first;
    if (dash != item.npos && !number<std::int16_t>(item.substr(dash + 1), last, first, 4095).empty())
      return std::string(expected);
    for (std::int16_t core = first; core <= last; ++core) result.push_back(CoreId{core});  // bound: 4096
  }
  out = std::move(result);
  return {};
}

std::string deadline_cores(Settings& s, std::string_view text) {
  std::vector<CoreId> named;
  if (text != "none" && (text == "all" || text.empty() || !cores(text, named).empty()))
    return "none, or hardware threads such as 2,3";
  s.executive.deadline_cores = std::move(named);
  return {};
}

std::string deadline_policy(Settings& s, std::string_view text) {
  using dispatch::DeadlinePolicy;
  return choose(text, s.executive.deadline_policy,
                {{"levels", DeadlinePolicy::levels}, {"kernel", DeadlinePolicy::kernel}});
}

std::string best_effort_server(Settings& s, std::string_view text) {
  using dispatch::BestEffortServer;
  return choose(text, s.executive.best_effort_server.kind,
                {{"none", BestEffortServer::none},
                 {"sporadic", BestEffortServer::sporadic},
                 {"deferrable", BestEffortServer::deferrable}});
}

std::string wait_mode(std::string_view text, os::WaitMode& out) {
  const auto mode = os::parse_wait_mode(text);
  if (!mode) return "park, spin-then-park, adaptive or spin";
  return out = *mode, std::string{};
}

std::string io_budget(Settings& s, std::string_view text) {
  s.io_within_platform = text == "platform";
  if (s.io_within_platform) return s.executive.reader.budget = {}, std::string{};
  std::string fault = span_of_time(text, s.executive.reader.budget);
  return fault.empty() ? fault : "platform, or " + fault;
}

std::string peer_tasks(Settings& s, std::string_view text) {
  if (text == "half") return s.executive.peer_tasks.reset(), std::string{};
  std::size_t tasks = 0;
  std::string fault = size(text, tasks, 0, 100'000);
  if (!fault.empty()) return "half, or " + fault;
  return s.executive.peer_tasks = tasks, std::string{};
}

std::string peer_overrun(Settings& s, std::string_view text) {
  if (text == "by-user") return s.peer_overrun.reset(), std::string{};
  if (const auto policy = overrun_policy_of(text)) return s.peer_overrun = *policy, std::string{};
  return "by-user, report, demote or cancel";
}

std::string peer_utilization(Settings& s, std::string_view text) {
  if (text == "by-user") return s.executive.peer_limit.reset(), std::string{};
  constexpr sched::Ppm most = 1'000'000'000;
  const bool is_percent = text.ends_with('%');
  const sched::Ppm unit = is_percent ? sched::whole_core / 100 : 1;
  sched::Ppm limit = 0;
  if (!number<sched::Ppm>(text.substr(0, text.size() - (is_percent ? 1 : 0)), limit, 0, most / unit).empty())
    return "by-user, a share of one core such as 50%, or a number of parts per million of one from 0 to " +
           std::to_string(most);
  return s.executive.peer_limit = limit * unit, std::string{};
}

std::string idle_tasks(Settings& s, std::string_view text) {
  if (text == "by-user") return s.executive.task_lease.reset(), std::string{};
  Duration lease{};
  std::string fault = span_of_time(text, lease);
  if (!fault.empty()) return "by-user, or " + fault;
  return s.executive.task_lease = lease, std::string{};
}

std::string pool_spin(Settings& s, std::string_view text) {
  std::string fault = span_of_time(text, s.executive.wait.spin);
  if (fault.empty() && s.executive.wait.spin > std::chrono::milliseconds{10}) fault = "a duration up to 10ms";
  return fault;
}

std::string listen(Settings& s, std::string_view text) {
  auto endpoints = transport::parse_endpoints(text);
  if (!endpoints) return endpoints.error().text;
  s.listen = std::move(*endpoints);
  s.listen_given = true;
  return {};
}

std::string socket_mode(Settings& s, std::string_view text) {
  mode_t mode = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (fault != std::errc{} || end != text.data() + text.size() || mode > 0777)
    return "octal digits such as 0600 or 0666";
  s.unix_sockets.mode = mode;
  return {};
}

std::string allowed(Settings& s, std::string_view text) {
  auto access = parse_access(text);
  if (!access) return access.error();
  s.channel.access = std::move(*access);
  return {};
}

std::string host(Settings& s, std::string_view text) {
  auto hosts = text.empty() ? std::vector<transport::Endpoint>{} : parse_advertised(text);
  if (std::ranges::any_of(hosts, [](const transport::Endpoint& one) { return is_everywhere(one.host); }))
    return "hosts that clients can call: 0.0.0.0 and :: stand for all addresses of this host, where a server listens "
           "(endpoint.listen); name one of them";
  if (hosts.empty() && !text.empty())
    return "hosts, each with a port where that is another one, such as plant.example:47090, [2001:db8::1]:2809";
  s.advertised = std::move(hosts);
  return {};
}

std::string directory(std::string_view text, std::string& out) {
  if (!text.empty() && !text.starts_with('/')) return "a path that begins with /";
  return out = text, std::string{};
}

std::string nameserver_path(Settings& s, std::string_view text) {
  if (!text.empty() && text != "off" && !is_socket_path(text)) return "off, or " + socket_path_rule();
  return s.naming.socket = text, std::string{};
}

std::string name_writers(Settings& s, std::string_view text) {
  auto access = parse_access(text);
  if (!access) return access.error();
  s.naming.writers = std::move(*access);
  return {};
}

std::string name_network_writers(Settings& s, std::string_view text) {
  using Unknown = NamingSettings::Unknown;
  return choose(text, s.naming.network_writers,
                {{"auto", Unknown::automatic}, {"on", Unknown::on}, {"off", Unknown::off}});
}

std::string trusted_nameservers(Settings& s, std::string_view text) {
  auto access = parse_access(text);
  if (!access) return access.error();
  if (!access->groups.empty()) return "anyone, or users of this host; a group does not say which user runs a server";
  s.naming.trusted = std::move(*access);
  return {};
}

std::string log_level(Settings& s, std::string_view text) {
  using os::log::Level;
  return choose(text, s.log_level,
                {{"debug", Level::debug},
                 {"info", Level::info},
                 {"warn", Level::warn},
                 {"error", Level::error},
                 {"off", Level::off}});
}

std::string reserved_use(Settings& s, std::string_view text) {
  using Use = ReservedSettings::Use;
  return choose(text, s.reserved.use, {{"auto", Use::automatic}, {"off", Use::off}, {"required", Use::required}});
}

std::string reserved_backend(Settings& s, std::string_view text) {
  using Backend = ReservedSettings::Backend;
  return choose(text, s.reserved.backend,
                {{"auto", Backend::automatic},
                 {"cgroup-v2", Backend::cgroup_v2},
                 {"cgroup-v1", Backend::cgroup_v1},
                 {"affinity", Backend::affinity}});
}

std::string reserved_root(Settings& s, std::string_view text) {
  while (text.starts_with('/')) text.remove_prefix(1);
  if (text.ends_with('/') || text.find("..") != text.npos || text.find_first_of("\t\n") != text.npos)
    return "a control group such as /machine, without .. and without a slash at its end";
  s.reserved.root = text;
  return {};
}

std::string reserved_socket(Settings& s, std::string_view text) {
  if (!text.empty() && !is_socket_path(text)) return socket_path_rule();
  return s.reserved.socket = text, std::string{};
}

std::string reserved_processes(Settings& s, std::string_view text) {
  constexpr int highest = 1 << 22;  // PID_MAX_LIMIT of Linux
  if (text == "all") return s.reserved.processes = 0, std::string{};
  return number(text, s.reserved.processes, 1, highest).empty() ? std::string{} : "all, or the number of a process";
}

std::string reserving_users(Settings& s, std::string_view text) {
  auto access = parse_access(text);
  if (!access) return access.error();
  s.reserved.users = std::move(*access);
  return {};
}

}  // namespace corelane::core::values
