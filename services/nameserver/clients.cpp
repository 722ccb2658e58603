#include "services/nameserver/clients.h"

#include <unistd.h>

#include <utility>

#include "orb/core/exception.h"
#include "orb/core/server.h"
#include "services/nameserver/broker/protocol.h"

namespace corelane::nameserver {

Client calling_client() {
  if (core::calling_peer() == PeerId{0}) return {};
  if (const auto known = core::calling_credentials())
    return {.name = "user:" + std::to_string(known->user), .process = known->process};
  return {.name = "host:" + core::calling_host()};
}

Writers::Writers(const core::NamingSettings& settings)
    : access_(settings.writers),
      network_(settings.network_writers == core::NamingSettings::Unknown::on ||
               (settings.network_writers == core::NamingSettings::Unknown::automatic && settings.writers.anyone)) {}

Expected<void, std::string> Writers::admits(const std::optional<transport::PeerCredentials>& client) const {
  const std::string may_not = " may not change names here, only look them up; ";
  if (!client && network_) return {};
  if (!client)
    return "a client over TCP, of whom nobody knows who he is," + may_not +
           "call over the nameserver's Unix socket, or have naming.network_writers turned on";
  const channel::Peer peer{.process = client->process, .user = client->user, .group = client->group};
  if (peer.user == 0 || is_welcome(peer, access_, ::geteuid())) return {};
  return "user " + std::to_string(peer.user) + may_not +
         "naming.writers, a setting of corelane-nameserver, says who may";
}

void Writers::require() const {
  if (core::calling_peer() == PeerId{0}) return;
  if (auto admitted = admits(core::calling_credentials()); !admitted)
    core::raise(Error{ErrorKind::no_permission, Completion::no, 0}, std::move(admitted.error()));
}

}  // namespace corelane::nameserver
