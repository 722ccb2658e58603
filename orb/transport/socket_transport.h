// SocketTransport is the transport of an ORB: TCP, Unix-domain sockets and channels behind one Transport. The
// endpoint's kind selects one. All count against the same limits.
#pragma once

#include <memory>

#include "orb/transport/channel/channel.h"
#include "orb/transport/tcp/tcp.h"
#include "orb/transport/unix/unix.h"

namespace corelane::transport {

class SocketTransport final : public Transport {
 public:
  // `reactor` outlives the transport.
  explicit SocketTransport(Reactor& reactor, ConnectionLimits limits = {}, UnixOptions unix_options = {},
                           ChannelOptions channel_options = {});

  Expected<std::shared_ptr<Connection>> connect(const Endpoint& endpoint, Time deadline) override {
    return of(endpoint).connect(endpoint, deadline);
  }
  // Listens. A listener at a path makes its socket again if it is removed.
  Expected<std::unique_ptr<Listener>> listen(const Endpoint& endpoint, Acceptor acceptor) override;
  const ConnectionLimits& limits() const noexcept override { return tcp_.limits(); }

 private:
  SocketTransport(Reactor& reactor, ConnectionLimits limits, UnixOptions unix_options, ChannelOptions channel_options,
                  const std::shared_ptr<ConnectionLimiter>& limiter);
  Transport& of(const Endpoint& endpoint) noexcept;

  TcpTransport tcp_;
  UnixTransport unix_;
  ChannelTransport channels_;
};

}  // namespace corelane::transport
