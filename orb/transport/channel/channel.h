// ChannelTransport carries byte streams through channels (docs/channel.md), between processes of one host that see the
// same files. An endpoint of kind channel is the Unix socket at which channels are set up. A listener admits its own
// user, and the peers that ChannelOptions::access names. A caller connects to any server, as with a socket.
//
// Threads: as Transport. Each listener has one more thread, "cl-handshake", which does the handshakes under
// SCHED_OTHER.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

#include "orb/base/thread_safety.h"
#include "orb/os/mutex.h"
#include "orb/transport/channel_options.h"
#include "orb/transport/reactor.h"
#include "orb/transport/transport.h"
#include "orb/transport/transport_parts.h"

namespace corelane::transport {

class ChannelTransport final : public Transport {
 public:
  // See TransportParts for `reactor` and `limiter`.
  explicit ChannelTransport(Reactor& reactor, ChannelOptions options = {}, ConnectionLimits limits = {},
                            std::shared_ptr<ConnectionLimiter> limiter = nullptr);
  ~ChannelTransport() override;

  // Connects to a channel listener. If no channel is made, logs the reason: once for each path, until a channel is made
  // there, or until many other paths have failed.
  Expected<std::shared_ptr<Connection>> connect(const Endpoint& endpoint, Time deadline) override;
  // The path is claimed as by UnixTransport. It is for this user alone unless others are admitted.
  Expected<std::unique_ptr<Listener>> listen(const Endpoint& endpoint, Acceptor acceptor) override;
  const ConnectionLimits& limits() const noexcept override { return parts_.limits; }

 private:
  static constexpr std::size_t logged_at_most = 64;  // limited, because paths come from references, and so from anybody

  void say_once(const std::string& path, const std::string& why);
  void forget(const std::string& path);

  const TransportParts parts_;
  const ChannelOptions options_;

  os::Mutex mutex_;
  std::deque<std::string> logged_ CORELANE_GUARDED_BY(mutex_);  // oldest first
};

}  // namespace corelane::transport
