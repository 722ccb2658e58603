#include "services/nameserver/clients.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "orb/core/exception.h"
#include "orb/core/server/server.h"
#include "orb/os/clock.h"
#include "orb/os/log.h"

namespace corelane::nameserver {

std::string network_of(const std::string& host) {
  const std::size_t scope = std::min(host.find('%'), host.size());
  in6_addr address{};
  if (::inet_pton(AF_INET6, host.substr(0, scope).c_str(), &address) != 1) return host;
  if (IN6_IS_ADDR_V4MAPPED(&address) || IN6_IS_ADDR_LOOPBACK(&address)) return host;
  std::fill_n(address.s6_addr + 8, 8, std::uint8_t{0});
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, &address, text.data(), text.size());
  return text.data() + host.substr(scope) + "/64";
}

Client calling_client() {
  if (core::calling_peer() == PeerId{0}) return {};
  if (const auto known = core::calling_credentials())
    return {.name = "user:" + std::to_string(known->user), .process = known->process};
  return {.name = "host:" + network_of(core::calling_host())};
}

std::string text_of_client(const std::string& name) {
  std::string text = name;
  if (const auto colon = text.find(':'); colon != text.npos) text[colon] = ' ';
  return text;
}

std::vector<std::string> privileged_clients() { return {"user:0", "user:" + std::to_string(::geteuid())}; }

Writers::Writers(const NameserverSettings& settings)
    : access_(settings.writers),
      network_(settings.network_writers == NameserverSettings::Unknown::on ||
               (settings.network_writers == NameserverSettings::Unknown::automatic && settings.writers.anyone)) {}

Expected<void, std::string> Writers::admits(const std::optional<transport::PeerCredentials>& client,
                                            std::span<const gid_t> groups) const {
  const std::string may_not = " may not change names here, only look them up";
  if (!client && network_) return {};
  if (!client)
    return "a client over TCP" + may_not +
           ", because the kernel does not tell its user: call over the nameserver's Unix socket, or start "
           "corelane-nameserver with naming.network_writers on (-ORBNamingNetworkWriters on)";
  if (access_.admits(client->user, groups)) return {};
  return "user " + std::to_string(client->user) + may_not +
         ": naming.writers, a setting of corelane-nameserver, says which users may (-ORBNamingWriters NAME,...)";
}

void Writers::require() const {
  if (core::calling_peer() == PeerId{0}) return;
  auto admitted = admits(core::calling_credentials(), core::calling_groups());
  if (admitted) return;
  const Time now = os::now();
  Time next = told_next_.load(std::memory_order_relaxed);  // relaxed: it only decides which thread writes the line
  if (now >= next && told_next_.compare_exchange_strong(next, now + told_again, std::memory_order_relaxed))
    os::log::warn("naming: a change was refused (" + text_of_client(calling_client().name) + "): " + admitted.error());
  core::raise_as_servant(Error{ErrorKind::no_permission, Completion::no, 0}, std::move(admitted.error()));
}

}  // namespace corelane::nameserver
