// StreamListener accepts connections on one socket and passes them to its acceptor. If no file descriptor is left, a
// new connection takes the place of the idle connection that was quiet for longest, or is refused at once.
// Threads: AcceptLoop runs on the reactor's ordinary thread. The listener is the handle that any thread may stop.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "orb/os/fd.h"
#include "orb/os/process/descriptor_limit.h"
#include "orb/os/socket_path.h"
#include "orb/transport/detail/address.h"
#include "orb/transport/detail/connection_limiter.h"
#include "orb/transport/detail/reactor_impl.h"
#include "orb/transport/detail/read_budget.h"
#include "orb/transport/transport.h"

namespace corelane::transport {

class AcceptLoop final : public ReadinessHandler, public std::enable_shared_from_this<AcceptLoop> {
 public:
  // `path`: that of a Unix socket, given up when the loop stops. `reactor`: that of the connections; the loop itself
  // runs on its ordinary thread.
  AcceptLoop(os::Fd fd, std::optional<os::SocketPath> path, std::shared_ptr<Reactor::Impl> reactor,
             std::shared_ptr<ConnectionLimiter> limiter, const ConnectionLimits& limits, Acceptor acceptor);

  // Call it before the start. Holds a spare descriptor, with which a client can be answered when no other is left.
  // Returns false if there is none.
  bool hold_spare() noexcept { return spare_.hold(fd_); }
  void start_on_reactor();
  void stop_on_reactor();
  const std::shared_ptr<Reactor::Impl>& reactor() const noexcept { return reactor_; }

  void on_readable() noexcept override;
  void on_writable() noexcept override {}
  void on_stopping() noexcept override { stop_on_reactor(); }

 private:
  enum class Turn { accepted, displaced, refused, drained, starved };  // displaced: accepted in place of another

  Turn try_accept() noexcept;
  Turn accept_one();
  Turn none_accepted(int error);
  os::Fd accept_next(Address& address) noexcept;
  Expected<ConnectionLimiter::Ticket, std::string> place_for(const std::string& peer, int lack);
  bool make_room(int lack);
  template <typename Ask>
  bool evict(Ask ask);
  void turn_away(const os::Fd& fd, const std::string& why);
  static bool may_say(Time& next) noexcept;
  void pause_on_reactor();

  // Constant after construction.
  const std::shared_ptr<Reactor::Impl> connections_;  // the reactor of the connections
  const std::shared_ptr<Reactor::Impl> reactor_;      // the reactor of the loop
  const std::shared_ptr<ConnectionLimiter> limiter_;
  const ConnectionLimits limits_;

  // Owner: the reactor's thread.
  os::Fd fd_;
  os::SpareDescriptor spare_;
  std::optional<os::SocketPath> path_;
  Acceptor acceptor_;
  std::unique_ptr<Readiness> readiness_;
  ReadAccount reads_;                         // charged to connections without tasks
  Time refusing_{}, starving_{}, crowded_{};  // when each may be logged again
};

class StreamListener final : public Listener {
 public:
  // Starts the loop. BAD_INV_ORDER shutting_down: the reactor has stopped. NO_RESOURCES no_descriptor: none is left, so
  // the listener could not answer a client.
  static Expected<std::unique_ptr<Listener>> start(std::shared_ptr<AcceptLoop> loop, Endpoint endpoint);
  ~StreamListener() override { stop(); }

  const Endpoint& endpoint() const noexcept override { return endpoint_; }
  void stop() noexcept override;

 private:
  StreamListener(std::shared_ptr<AcceptLoop> loop, Endpoint endpoint)
      : loop_(std::move(loop)), endpoint_(std::move(endpoint)) {}

  const std::shared_ptr<AcceptLoop> loop_;
  const Endpoint endpoint_;
};

}  // namespace corelane::transport
