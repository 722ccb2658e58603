#include "orb/transport/stream/stream_drain.h"

#include <chrono>
#include <new>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/transport/stream/link_handlers.h"

namespace corelane::transport {
namespace {

// The writes for one connection, until the thread serves the others.
constexpr int writes_per_turn = 8;
// Between two attempts to send over a link that does not report room.
constexpr std::chrono::milliseconds between_tries{1};

}  // namespace

void StreamDrain::update() noexcept try {
  if (!sender_.goes_on_draining()) return stop();
  constexpr auto end = Reactor::Impl::Interest::end;
  Reactor::Impl& drainer = sender_.drainer();
  const std::shared_ptr<ReadinessHandler> self(sender_.work(), this);
  const Link::WriteReadiness room = link_.write_readiness();
  if (room == Link::WriteReadiness::readable) {
    if (!room_) room_ = drainer.watch(link_.room_descriptor(), self);
  } else if (room == Link::WriteReadiness::writable && !writable_) {
    writable_ = drainer.watch(link_.bytes_descriptor(), self, end);
  }
  if (room_ || writable_ || room == Link::WriteReadiness::unknown) return arm(writable_.get(), self);
  sender_.close_for(ended_by(drainer.is_stopping() ? minor::shutting_down : minor::connection_lost));
} catch (const std::bad_alloc&) {
  sender_.close_for(errors::no_memory);
  stop();
}

void StreamDrain::on_writable() noexcept {
  armed_ = false;
  for (int turn = 0; turn < writes_per_turn && sender_.drain_some(false); ++turn) continue;
  sender_.tell_if_drained();
  update();
}

void StreamDrain::on_stopping() noexcept {
  sender_.close_for(ended_by(minor::shutting_down));
  stop();
}

bool StreamDrain::watch_room(Reactor::Impl& reactor, const Handler& connection) {
  if (link_.write_readiness() != Link::WriteReadiness::readable) return true;
  if (!room_) room_ = reactor.watch(link_.room_descriptor(), std::make_shared<WritableHandler>(connection.lock()));
  return room_ != nullptr;
}

void StreamDrain::arm(Readiness* bytes, const Handler& connection) {
  if (std::exchange(armed_, true)) return;
  if (link_.write_readiness() == Link::WriteReadiness::unknown) return try_again(connection);
  if (!room_) return bytes->arm_write();
  sender_.await_room();
  room_->arm_read();
}

void StreamDrain::try_again(const Handler& handler) {
  sender_.drainer().schedule(os::now() + between_tries, [this, handler] {
    if (const auto kept = handler.lock(); kept && armed_) kept->on_writable();
  });
}

// With a limit, one turn sends as many bytes as one turn of reading reads. The rest waits for the next turn. If that
// would be a millisecond away, this turn sends several such pieces.
bool StreamDrain::send_turn(ReadGate& gate, TurnAccount& account, const Handler& connection) {
  armed_ = false;
  if (defer(gate, account, connection)) return false;
  const bool limited = gate.limits(ReadLimit::everything);
  const bool once = limited && link_.write_readiness() != Link::WriteReadiness::unknown;
  for (int turn = 0; turn < (once ? 1 : writes_per_turn) && sender_.drain_some(limited); ++turn) continue;
  if (gate.limits(ReadLimit::everything)) gate.charge(account.account());
  sender_.tell_if_drained();
  return true;
}

// Returns whether sending has to wait. Sending that waits counts as armed: its turn comes without another readiness.
bool StreamDrain::defer(ReadGate& gate, TurnAccount& account, const Handler& connection) {
  waits_ = sender_.is_open() && gate.limits(ReadLimit::everything) &&
           gate.defers(account.account_for_turn(), connection, ReadinessHandler::Turn::write);
  armed_ = armed_ || waits_;
  return waits_;
}

void StreamDrain::stop() noexcept {
  room_.reset();
  writable_.reset();
  armed_ = waits_ = false;
}

}  // namespace corelane::transport
