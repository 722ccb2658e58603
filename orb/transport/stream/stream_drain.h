// StreamDrain sends what waits in a connection's outbox as soon as the link takes more. If the reactor has a thread for
// ordinary work, that thread does it (drains_apart()). Otherwise the reactor's thread does, on the read budget.
//
// Threads: the one that drains.
#pragma once

#include <memory>

#include "orb/transport/detail/link.h"
#include "orb/transport/detail/reactor_impl.h"
#include "orb/transport/detail/read_gate.h"
#include "orb/transport/stream/stream_sender.h"
#include "orb/transport/stream/turn_account.h"

namespace corelane::transport {

class StreamDrain final : public ReadinessHandler {
 public:
  using Handler = std::weak_ptr<ReadinessHandler>;

  StreamDrain(Link& link, StreamSender& sender) noexcept : link_(link), sender_(sender) {}

  // The thread for ordinary work: makes what it does match what waits.
  void update() noexcept;
  // This is the handler of that thread's descriptors. They report that more can be sent.
  void on_readable() noexcept override { on_writable(); }
  void on_writable() noexcept override;
  void on_stopping() noexcept override;

  // The rest is for the reactor's thread, if that one drains. `connection`: its on_writable() calls send_turn().
  // Watches the descriptor for room, if the link has one. Returns false if the system refuses.
  bool watch_room(Reactor::Impl& reactor, const Handler& connection);
  // Makes on_writable() be called once when more can be sent. `bytes`: the descriptor of the link's bytes.
  void arm(Readiness* bytes, const Handler& connection);
  // Sends some of what waits. Returns false if that has to wait for the budget.
  bool send_turn(ReadGate& gate, TurnAccount& account, const Handler& connection);
  // Returns whether a turn of sending waits for the budget.
  bool waits_for_turn() const noexcept { return waits_; }
  // Ends all that, until the next call.
  void stop() noexcept;

 private:
  bool defer(ReadGate& gate, TurnAccount& account, const Handler& connection);
  void try_again(const Handler& handler);

  Link& link_;
  StreamSender& sender_;
  std::unique_ptr<Readiness> room_;      // of a link that has a descriptor for room
  std::unique_ptr<Readiness> writable_;  // of any other link, if another thread reads
  bool armed_ = false;
  bool waits_ = false;
};

}  // namespace corelane::transport
