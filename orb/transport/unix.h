// UnixTransport: byte streams over Unix-domain sockets, for processes of one host that see the same files.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "orb/transport/reactor.h"
#include "orb/transport/transport.h"

namespace corelane::transport {

class ConnectionCensus;

struct UnixOptions {
  std::string directory{};  // where paths are chosen for listening endpoints without one; made when first needed
  mode_t mode = 0600;       // of a listening socket: who may write to it may connect
  // Where everybody looks for a server of a name: one at such a path is called only if root, this user or one of the
  // trusted runs it; else not_trusted.
  std::vector<std::string> guarded{};
  std::vector<uid_t> trusted{};
};

class UnixTransport final : public Transport {
 public:
  // `reactor` outlives the transport. `census`: shared with other transports whose connections count together.
  explicit UnixTransport(Reactor& reactor, UnixOptions options = {}, ConnectionLimits limits = {},
                         std::shared_ptr<ConnectionCensus> census = nullptr);
  ~UnixTransport() override;

  Expected<std::shared_ptr<Connection>> connect(const Endpoint& endpoint, Time deadline) override;
  // The socket's file is removed when the listener stops, and the one of a server that died when its path is wanted
  // again. A live server keeps its path: COMM_FAILURE address_in_use. A socket that systemd passed for the path is
  // taken, as it is (orb/os/passed_socket.h).
  Expected<std::unique_ptr<Listener>> listen(const Endpoint& endpoint, Acceptor acceptor) override;
  const ConnectionLimits& limits() const noexcept override { return limits_; }

 private:
  const std::shared_ptr<Reactor::Impl> reactor_;
  const UnixOptions options_;
  const ConnectionLimits limits_;
  const std::shared_ptr<ConnectionCensus> census_;  // of accepted connections
};

}  // namespace corelane::transport
