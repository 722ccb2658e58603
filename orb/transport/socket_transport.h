// SocketTransport: TCP, Unix-domain sockets and channels behind one Transport; the endpoint says which. All count
// against the same limits. The transport of an ORB.
#pragma once

#include <memory>

#include "orb/transport/channel.h"
#include "orb/transport/tcp.h"
#include "orb/transport/unix.h"

namespace corelane::transport {

class SocketTransport final : public Transport {
 public:
  // `reactor` outlives the transport.
  explicit SocketTransport(Reactor& reactor, ConnectionLimits limits = {}, UnixOptions unix_options = {},
                           ChannelOptions channel_options = {});

  Expected<std::shared_ptr<Connection>> connect(const Endpoint& endpoint, Time deadline) override {
    return of(endpoint).connect(endpoint, deadline);
  }
  // One at a path makes its socket again when somebody removes that.
  Expected<std::unique_ptr<Listener>> listen(const Endpoint& endpoint, Acceptor acceptor) override;
  const ConnectionLimits& limits() const noexcept override { return tcp_.limits(); }

 private:
  SocketTransport(Reactor& reactor, ConnectionLimits limits, UnixOptions unix_options, ChannelOptions channel_options,
                  const std::shared_ptr<ConnectionCensus>& census);
  Transport& of(const Endpoint& endpoint) noexcept;

  TcpTransport tcp_;
  UnixTransport unix_;
  ChannelTransport channels_;
};

}  // namespace corelane::transport
