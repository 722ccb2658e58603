#include "orb/transport/stream/stream_connection.h"

#include <atomic>
#include <utility>

#include "orb/base/peer.h"
#include "orb/os/peers/own_user.h"

namespace corelane::transport {
namespace {

PeerId next_id(const std::optional<ConnectionLimiter::Ticket>& ticket,
               const std::optional<PeerCredentials>& peer) noexcept {
  static std::atomic<std::uint64_t> last{0};
  const bool of_own_user = peer && (peer->user == 0 || os::is_own_user(peer->user));
  // relaxed: only uniqueness counts
  return peer_of(last.fetch_add(1, std::memory_order_relaxed) + 1, ticket ? ticket->holder().number() : 0, of_own_user);
}

}  // namespace

StreamIdentity::StreamIdentity(const Link& link, const ConnectionLimits& limits,
                               const std::optional<ConnectionLimiter::Ticket>& ticket)
    : local(link.local()),
      peer(link.peer()),
      credentials(link.credentials()),
      id(next_id(ticket, credentials)),
      memory(ticket && limits.memory
                 ? limits.memory->open(ticket->holder().number(), credentials ? credentials->process : 0)
                 : nullptr) {}

StreamConnection::StreamConnection(std::unique_ptr<Link> link, std::shared_ptr<Reactor::Impl> reactor,
                                   const ConnectionLimits& limits, Ticket ticket)
    : link_(std::move(link)),
      identity_(*link_, limits, ticket),
      times_(limits.idle_timeout),
      sender_(*link_, reactor, times_, limits, identity_.memory),
      receiver_(*link_, mode_, sender_),
      reading_(*link_, std::move(reactor), mode_, times_, sender_, identity_.id),
      eviction_(*link_, times_, sender_, reading_, std::move(ticket)) {}

std::shared_ptr<StreamConnection> StreamConnection::make(std::unique_ptr<Link> link,
                                                         std::shared_ptr<Reactor::Impl> reactor,
                                                         const ConnectionLimits& limits, Ticket ticket) {
  auto made = std::make_shared<StreamConnection>(std::move(link), std::move(reactor), limits, std::move(ticket));
  const std::shared_ptr<StreamReading> reading(made, &made->reading_);
  made->sender_.set_work(reading);
  made->reading_.set_self(reading);
  made->eviction_.begin({made, &made->eviction_});
  return made;
}

}  // namespace corelane::transport
