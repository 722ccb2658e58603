#include "orb/core/config/setting_values.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "orb/base/settings/overrun_name.h"
#include "orb/base/settings/setting_values.h"
#include "orb/channel/access.h"
#include "orb/core/config/advertised_host.h"

namespace corelane::core::values {
namespace {

bool is_socket_path(std::string_view text) {
  return text.starts_with('/') && text.size() <= transport::longest_unix_path;
}

std::string socket_path_rule() {
  return "a path with a slash at its beginning and " + std::to_string(transport::longest_unix_path) + " bytes at most";
}

}  // namespace

std::string client_connections(Settings& settings, std::string_view text) {
  if (text == "auto") return settings.client_connections = 0, std::string{};
  const std::string fault = parse::size(text, settings.client_connections, 1, 1024);
  return fault.empty() ? fault : "auto, or " + fault;
}

std::string mode(Settings& s, std::string_view text, bool has_ace) {
  using dispatch::DispatchMode;
  if (text == "leader-followers" && !has_ace)
    return "manager or direct, because this Corelane was built without ACE, which leader-followers needs. Mend it: "
           "install ACE (Debian: libace-dev) and build Corelane with -DCORELANE_WITH_ACE=ON";
  return parse::choice(text, s.executive.mode,
                       {{"manager", DispatchMode::manager},
                        {"direct", DispatchMode::direct},
                        {"leader-followers", DispatchMode::leader_followers}});
}

std::string io_budget(Settings& s, std::string_view text) {
  s.io_within_platform = text == "platform";
  if (s.io_within_platform) return s.executive.reader.budget = {}, std::string{};
  std::string fault = parse::span_of_time(text, s.executive.reader.budget);
  return fault.empty() ? fault : "platform, or " + fault;
}

std::string peer_overrun(Settings& s, std::string_view text) {
  if (text == "by-user") return s.peer_overrun.reset(), std::string{};
  if (const auto policy = overrun_policy_of(text)) return s.peer_overrun = *policy, std::string{};
  return "by-user, report, demote or cancel";
}

std::string listen(Settings& s, std::string_view text) {
  auto endpoints = transport::parse_endpoints(text);
  if (!endpoints) return endpoints.error().text;
  s.listen = std::move(*endpoints);
  s.listen_given = true;
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

std::string nameserver_path(Settings& s, std::string_view text) {
  if (!text.empty() && text != "off" && !is_socket_path(text)) return "off, or " + socket_path_rule();
  return s.naming.socket = text, std::string{};
}

std::string trusted_nameservers(Settings& s, std::string_view text) {
  channel::Access access;
  if (std::string fault = channel::parse_access(text, access); !fault.empty()) return fault;
  if (!access.groups.empty()) return "anyone, or users of this host; a group does not say which user runs a server";
  s.naming.trusted = std::move(access);
  return {};
}

std::string log_level(Settings& s, std::string_view text) {
  using os::log::Level;
  return parse::choice(text, s.log_level,
                       {{"debug", Level::debug},
                        {"info", Level::info},
                        {"warn", Level::warn},
                        {"error", Level::error},
                        {"off", Level::off}});
}

std::string reserved_use(Settings& s, std::string_view text) {
  using Use = ReservedSettings::Use;
  return parse::choice(text, s.reserved.use,
                       {{"auto", Use::automatic}, {"off", Use::off}, {"required", Use::required}});
}

std::string reserved_socket(Settings& s, std::string_view text) {
  if (!text.empty() && !is_socket_path(text)) return socket_path_rule();
  return s.reserved.socket = text, std::string{};
}

}  // namespace corelane::core::values
