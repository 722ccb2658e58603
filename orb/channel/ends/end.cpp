#include "orb/channel/ends/end.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "orb/os/privileges.h"

namespace corelane::channel {
namespace {

// Larger messages go through chunks, where the reader need not copy them, and where they do not fill up the ring.
constexpr std::size_t inline_at_most = 4096;

WakeUp with_event(WakeUp wake_up, const os::Fd& event, const Events& of) noexcept {
  wake_up.event = event.get();
  wake_up.is_shared = of.are_shared;
  return wake_up;
}

// A thread that waits for a record may sleep at the socket. A thread that waits for room may not, because only one
// thread can take the packets that come there.
WakeUp for_record_of(WakeUp wake_up, const Events& events, const EndParts& parts) noexcept {
  if (parts.far_sleep) wake_up.socket = parts.watch.socket();
  return with_event(wake_up, events.record, events);
}

WakeUp for_room_of(WakeUp wake_up, const Events& events) noexcept { return with_event(wake_up, events.room, events); }

WakeUp of_peer(WakeUp wake_up, const EndParts& parts) noexcept {
  wake_up.watch = &parts.watch;
  return wake_up;
}

const Slot* slots_of(const Mapping& region) noexcept {
  return reinterpret_cast<const Slot*>(region.at(slots_offset()));
}

std::size_t limit_of(const EndParts& parts) noexcept {
  const std::size_t ring = RingGeometry(parts.mine.slots).longest_payload();
  return parts.loans && parts.mine.chunks != 0 ? std::min(ring, inline_at_most) : ring;
}

}  // namespace

End::End(EndParts made, const Options& options)
    : parts(std::move(made)),
      strategy(options.wait),
      writer(reinterpret_cast<Slot*>(parts.own.at(slots_offset())), RingGeometry(parts.mine.slots), peer()),
      pool(parts.loans ? parts.mine : Shape{.slots = parts.mine.slots, .chunks = 0}, peer(),
           parts.grows ? &parts.own : nullptr),
      for_room{Sleeper(words(false).room.sleeper, for_room_of(parts.own_wake, parts.own_events), parts.watch)},
      for_record{
          Sleeper(words(false).record.sleeper, for_record_of(parts.own_wake, parts.own_events, parts), parts.watch)},
      reader_(slots_of(parts.peer), RingGeometry(parts.theirs.slots), own()),
      peer_record_(words(true).record.sleeper,
                   for_record_of(of_peer(parts.peer_wake, parts), parts.peer_events, parts)),
      peer_room_(words(true).room.sleeper, for_room_of(of_peer(parts.peer_wake, parts), parts.peer_events)),
      own_record_(words(false).record.sleeper, with_event(parts.own_wake, parts.own_events.record, parts.own_events)),
      own_room_(words(false).room.sleeper, for_room_of(parts.own_wake, parts.own_events)),
      inline_limit_(limit_of(parts)) {
  if (!options.lock_memory) return;
  while (pool.take_some(parts.own.size())) continue;  // bound: the chunks
  locked = parts.own.lock() && parts.peer.lock() && parts.sleep.lock();
}

void End::hold_memory() const noexcept {
  if (parts.grows && host_allows_huge_pages()) parts.own.use_huge_pages();
  parts.own.map_pages();
  parts.peer.map_pages();
  if (!os::privileges().memlock) return;
  parts.own.lock();
  parts.peer.lock();
}

SleepPage::End& End::words(bool of_peer) const noexcept {
  return page().ends[(parts.side == Side::acceptor) != of_peer ? 1 : 0];
}

// ---- Fate

Fault End::fail(Fault fault) noexcept {
  std::uint8_t open = 0;
  // PAIR end.fate: release here -> acquire in fate(). relaxed on failure: fate() loads it again.
  fate_.compare_exchange_strong(open, static_cast<std::uint8_t>(1 + static_cast<std::uint8_t>(fault)),
                                std::memory_order_release, std::memory_order_relaxed);
  return fate().value_or(fault);
}

void End::look_at_peer() noexcept {
  if (!parts.watch.is_gone() || fate()) return;
  if (for_record.sleeper.was_misused()) return (void)fail(Fault::spoiled);
  // PAIR end.state: acquire here <- release in close() of the peer, which comes before its hang-up.
  const bool closed = load_shared(peer().state, std::memory_order_acquire) == state_closed;
  fail(closed ? Fault::peer_closed : Fault::peer_died);
}

void End::close() noexcept {
  constexpr auto closed_here = static_cast<std::uint8_t>(1 + static_cast<std::uint8_t>(Fault::closed_here));
  // PAIR end.fate: release here -> acquire in fate().
  if (fate_.exchange(closed_here, std::memory_order_acq_rel) == closed_here) return;
  // PAIR end.state: release here -> acquire in look_at_peer() and is_open() of the peer. After its last record.
  SharedWord(own().state).store(state_closed, std::memory_order_release);
  for (const Ringer& ringer : {peer_record_, peer_room_, own_record_, own_room_}) ringer.ring();
  shutdown(parts.watch.socket(), SHUT_RDWR);  // this ends a far sleep on either side
}

// ---- Writing

[[gnu::hot]] std::optional<Fault> End::unwritable() noexcept {
  if (is_open()) return std::nullopt;
  if (const auto known = fate()) return known;
  return fail(Fault::peer_closed);
}

Fault End::fault_of(Put put) noexcept {
  switch (put) {
    case Put::full:
      return Fault::would_block;
    case Put::too_long:
      return Fault::too_long;
    case Put::done:
    case Put::spoiled:
      break;
  }
  return fail(Fault::spoiled);
}

bool End::has_room(std::size_t length) noexcept {
  if (length <= inline_limit()) return writer.has_room(length);
  return writer.has_room(sizeof(LoanNote)) && pool.has_room(length);
}

MutableBytes End::chunk(std::uint32_t first, std::size_t size) noexcept {
  return {parts.own.at(chunks_offset(parts.mine) + std::size_t{first} * parts.mine.chunk_size), size};
}

// This end may be the acceptor: then the connector takes the beginning, so its wake-up and the copy overlap. Otherwise
// the peer is the acceptor. If that sleeps, it is woken once all is there, because it may take whole messages only. A
// channel that keeps its memory is for real-time callers: their reader must not wait for a thread of another process.
bool End::may_begin_growing() const noexcept {
  const bool peer_takes_beginning = parts.side == Side::acceptor || !peer_record_.finds_sleeper();
  return parts.growing_loans && !pool.keeps() && !is_growing() && peer_takes_beginning;
}

Expected<void, Fault> End::begin_growing(Bytes head, Bytes tail) noexcept {
  const std::size_t length = head.size() + tail.size();
  if (length < least_growing || head.size() > growing_piece || !may_begin_growing()) return Fault::would_block;
  if (!writer.has_room(sizeof(GrowingNote))) return Fault::would_block;
  if (const auto fault = unwritable()) return *fault;
  const auto first = pool.lend(length);
  if (!first) return Fault::would_block;
  const GrowingNote note{*first, length, written_};
  grows_ = {chunk(*first, length).data(), head, *first};
  write_piece();
  grows_.rest = tail;
  write_piece();
  const Bytes payload = std::as_bytes(std::span{&note, 1});
  const auto sent = put(RecordKind::growing, {&payload, 1}, sizeof note);
  if (!sent) return pool.cancel(*first), sent.error();
  pool.set_written(*first, true);
  growing_.store(true, std::memory_order_relaxed);  // relaxed: end_growing() publishes
  return {};
}

// Copies one piece, or all of a head. Bound: the piece.
void End::write_piece() noexcept {
  const Bytes piece = grows_.rest.first(std::min(grows_.rest.size(), growing_piece));
  copy_to_shared(grows_.to, piece.data(), piece.size());
  grows_.to += piece.size();
  grows_.rest = grows_.rest.subspan(piece.size());
  written_ += piece.size();
  // PAIR growing.written: release here -> acquire in ready() of the peer. The bytes are in the chunks.
  SharedWord(own().written).store(written_, std::memory_order_release);
}

void End::write_rest() noexcept {
  while (!grows_.rest.empty()) write_piece();  // bound: the message
  peer_record_.ring();                         // for a reader that asks for whole messages, and sleeps
}

void End::end_growing() noexcept {
  pool.set_written(grows_.first, false);
  // PAIR end.growing: release here -> acquire in is_growing().
  growing_.store(false, std::memory_order_release);
}

// ---- Reading

[[gnu::hot]] Expected<const Front*, Fault> End::front() noexcept {
  if (front_.bytes != nullptr) return &front_;
  if (const auto known = fate(); known == Fault::closed_here || known == Fault::spoiled) return *known;
  Look look = reader_.peek();
  if (look == Look::empty) {
    // The peer's last record was written before the peer ended. So check again after seeing the end.
    if (!unwritable()) return Fault::would_block;
    look = reader_.peek();
  }
  switch (look) {
    case Look::record:
      if (reader_.front().kind != RecordKind::message) return front_in_chunks();
      front_ = {&reader_.front().payload};
      return &front_;
    case Look::empty:
      return fate().value_or(Fault::would_block);
    case Look::spoiled:
      break;
  }
  return fail(Fault::spoiled);
}

Expected<const Front*, Fault> End::front_in_chunks() noexcept {
  const bool grows = reader_.front().kind == RecordKind::growing;
  GrowingNote note{};  // a copy: the peer may change its own. A LoanNote is its beginning
  std::memcpy(&note, reader_.front().payload.data(), grows ? sizeof note : sizeof(LoanNote));
  const Shape& shape = parts.theirs;
  if (!parts.loans || note.first >= shape.chunks || note.length > (shape.chunks - note.first) * shape.chunk_size)
    return fail(Fault::spoiled);
  if (grows && (!parts.growing_loans || note.length < least_growing)) return fail(Fault::spoiled);
  const std::byte* at = parts.peer.at(chunks_offset(shape) + note.first * shape.chunk_size);
  loaned_ = {{at, note.length}, static_cast<std::uint32_t>(note.first), {}};
  if (grows) loaned_.begin = note.begin;
  if (!takes_growing_) {
    if (ready(loaned_) < note.length) {
      if (!unwritable()) return Fault::would_block;
      // The peer may have written the rest before it ended.
      if (ready(loaned_) < note.length) return fate().value_or(Fault::would_block);
    }
    loaned_.begin.reset();  // from now on it is whole, whatever the peer writes
  }
  front_ = {&loaned_.bytes, &loaned_};
  return &front_;
}

// The peer may write any number to the word. The result is never more than the message has.
std::size_t End::ready(const LoanedMessage& message) const noexcept {
  if (!message.begin) return message.bytes.size();
  // PAIR growing.written: acquire here <- release in write_piece() of the peer.
  const std::uint64_t written = load_shared(peer().written, std::memory_order_acquire) - *message.begin;
  if (written > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return 0;  // before the message
  return std::min<std::size_t>(written, message.bytes.size());
}

void End::give_back(std::uint32_t chunk) noexcept {
  count_return(chunk);
  peer_room_.ring();
}

void End::count_return(std::uint32_t chunk) noexcept {
  // PAIR chunk.returned: release here -> acquire in ChunkPool::collect(). This side's reads of the chunks are over.
  SharedWord(own().returned[chunk]).add(1, std::memory_order_release);
}

}  // namespace corelane::channel
