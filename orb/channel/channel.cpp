#include "orb/channel/channel.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "orb/base/copy.h"
#include "orb/channel/ends/end.h"
#include "orb/channel/ends/setup.h"
#include "orb/channel/ends/waiting.h"
#include "orb/os/clock.h"

namespace corelane::channel {
namespace {

template <typename T>
bool is_over(const Expected<T, Fault>& result) noexcept {
  return result || result.error() != Fault::would_block;
}

// For a wait for room, which may need several things. No single word shows whether they are there.
constexpr auto always = [] { return true; };

// How often a reader of a growing loan looks before it sleeps. That takes longer than the copy of a piece.
constexpr int growing_looks = 1024;

// Lends chunks for so many bytes.
Expected<std::uint32_t, Fault> lend(End& end, std::size_t size) noexcept {
  if (const auto fault = end.unwritable()) return *fault;
  if (size == 0 || size > end.pool.largest()) return Fault::too_long;
  const auto first = end.pool.lend(size);
  if (!first) return Fault::would_block;
  return *first;
}

Expected<void, Fault> send_note(End& end, std::uint32_t first, std::size_t size) noexcept {
  const LoanNote note{first, size};
  const Bytes payload = std::as_bytes(std::span{&note, 1});
  return end.put(RecordKind::loan, {&payload, 1}, sizeof note);
}

Expected<void, Fault> write_through_chunks(End& end, std::span<const Bytes> parts, std::size_t length) noexcept {
  // Checked before the copy, which would be wasted.
  if (!end.writer.has_room(sizeof(LoanNote))) return Fault::would_block;
  const auto first = lend(end, length);
  if (!first) return first.error();
  std::byte* to = end.chunk(*first, length).data();
  for (const Bytes part : parts) {
    copy_to_shared(to, part.data(), part.size());
    to += part.size();
  }
  const auto sent = send_note(end, *first, length);
  if (!sent) end.pool.cancel(*first);
  return sent;
}

}  // namespace

// ---- Loan, Draft

Loan::Loan(std::shared_ptr<End> end, std::uint32_t first, Bytes bytes, std::optional<std::uint64_t> begin) noexcept
    : end_(std::move(end)), first_(first), bytes_(bytes), begin_(begin) {}

Loan& Loan::operator=(Loan&& other) noexcept {
  if (this == &other) return *this;
  release();
  end_ = std::move(other.end_);
  first_ = other.first_;
  bytes_ = other.bytes_;
  begin_ = other.begin_;
  return *this;
}

std::size_t Loan::ready() const noexcept {
  return end_ ? end_->ready({.bytes = bytes_, .first = first_, .begin = begin_}) : 0;
}

// The thread that reads the channel may use the sleep words meanwhile. So this wait looks at times of its own.
Expected<std::size_t, Fault> Loan::await(std::size_t size, Time deadline) const noexcept {
  constexpr std::chrono::microseconds shortest{50}, longest{1000};
  size = std::min(size, bytes_.size());
  for (int look = 0; look < growing_looks; ++look, os::spin_pause())
    if (const std::size_t there = ready(); there >= size) return there;
  if (!end_) return Fault::closed_here;
  // Bound: the deadline.
  for (Duration rest = shortest;; rest = std::min<Duration>(2 * rest, longest)) {
    end_->look_at_peer();
    const bool is_over = end_->unwritable().has_value();
    // The peer may have written the rest before it ended.
    if (const std::size_t there = ready(); there >= size) return there;
    if (is_over) return end_->fate().value_or(Fault::peer_closed);
    const Time now = os::now();
    if (now >= deadline) return Fault::timed_out;
    std::this_thread::sleep_for(std::min<Duration>(rest, deadline - now));
  }
}

void Loan::release() noexcept {
  if (const auto end = std::exchange(end_, nullptr)) end->give_back(first_);
  bytes_ = {};
}

Draft::Draft(std::shared_ptr<End> end, std::uint32_t first, MutableBytes bytes) noexcept
    : end_(std::move(end)), first_(first), bytes_(bytes) {}

Draft::~Draft() {
  if (end_) end_->pool.cancel(first_);
}

// ---- Set-up

Channel::Channel(std::shared_ptr<End> end) noexcept : end_(std::move(end)) {}
Channel::Channel(Channel&&) noexcept = default;

Channel& Channel::operator=(Channel&& other) noexcept {
  if (this == &other) return *this;
  if (end_) end_->close();
  end_ = std::move(other.end_);
  return *this;
}

Channel::~Channel() {
  if (end_) end_->close();
}

Expected<Channel, SetupFault> Channel::of(Expected<EndParts, SetupFault> parts, const Options& options) {
  if (!parts) return parts.error();
  return Channel(std::make_shared<End>(std::move(*parts), options));
}

Expected<Channel, SetupFault> Channel::connect_over(os::Fd socket, const Options& options, Time deadline) {
  return of(connect_end(std::move(socket), options, deadline), options);
}

Expected<Channel, SetupFault> Channel::accept_over(os::Fd socket, const Options& options, Time deadline) {
  return of(accept_end(std::move(socket), options, deadline), options);
}

// ---- Writing

[[gnu::hot]] Expected<void, Fault> Channel::try_write(std::span<const Bytes> parts) noexcept {
  if (const auto fault = end_->unwritable()) return *fault;
  const std::size_t length = length_of(parts);
  if (length <= end_->inline_limit()) return end_->put(RecordKind::message, parts, length);
  return write_through_chunks(*end_, parts, length);
}

[[gnu::hot]] Expected<void, Fault> Channel::try_write(Bytes message) noexcept {
  if (end_->put_short(message)) return {};
  return try_write({&message, 1});
}

Expected<void, Fault> Channel::write(std::span<const Bytes> parts, Time deadline) noexcept {
  Expected<void, Fault> result = try_write(parts);
  if (is_over(result)) return result;
  end_->wait(end_->for_room, deadline, end_->strategy, always, [&] { return is_over(result = try_write(parts)); });
  if (!is_over(result)) return Fault::timed_out;
  return result;
}

Expected<void, Fault> Channel::write(Bytes message, Time deadline) noexcept {
  if (end_->put_short(message)) return {};
  return write({&message, 1}, deadline);
}

Expected<Draft, Fault> Channel::draft(std::size_t size) noexcept {
  const auto first = lend(*end_, size);
  if (!first) return first.error();
  return Draft(end_, *first, end_->chunk(*first, size));
}

Expected<Draft, Fault> Channel::draft(std::size_t size, Time deadline) noexcept {
  Expected<std::uint32_t, Fault> first = Fault::would_block;
  const auto done = [&] { return is_over(first = lend(*end_, size)); };
  if (!end_->wait(end_->for_room, deadline, end_->strategy, always, done)) return Fault::timed_out;
  if (!first) return first.error();
  return Draft(end_, *first, end_->chunk(*first, size));
}

Expected<void, Fault> Channel::try_send(Draft& draft, std::size_t size) noexcept {
  if (const auto fault = end_->unwritable()) return *fault;
  if (draft.end_ != end_ || size > draft.bytes_.size()) return Fault::too_long;
  const auto sent = send_note(*end_, draft.first_, size);
  if (sent) draft.end_.reset();
  return sent;
}

Expected<void, Fault> Channel::send(Draft& draft, std::size_t size, Time deadline) noexcept {
  Expected<void, Fault> result = Fault::would_block;
  end_->wait(end_->for_room, deadline, end_->strategy, always, [&] { return is_over(result = try_send(draft, size)); });
  if (!is_over(result)) return Fault::timed_out;
  return result;
}

Expected<void, Fault> Channel::begin_growing(Bytes head, Bytes tail) noexcept {
  return end_->begin_growing(head, tail);
}
void Channel::write_rest() noexcept { end_->write_rest(); }
void Channel::end_growing() noexcept { end_->end_growing(); }
bool Channel::may_begin_growing() const noexcept { return end_->may_begin_growing(); }
bool Channel::is_growing() const noexcept { return end_->is_growing(); }

[[gnu::hot]] std::uint64_t Channel::written() const noexcept { return end_->writer.position(); }
std::size_t Channel::inline_limit() const noexcept { return end_->inline_limit(); }
[[gnu::hot]] std::size_t Channel::longest_message() const noexcept {
  return std::max<std::size_t>(end_->inline_limit(), end_->pool.largest());
}
bool Channel::was_claimed(std::uint64_t position) const noexcept { return position <= end_->claimed(); }

// ---- Reading

[[gnu::hot]] Expected<Bytes, Fault> Channel::peek() noexcept {
  const auto front = end_->front();
  if (!front) return front.error();
  return *(*front)->bytes;
}

[[gnu::hot]] void Channel::pop() noexcept { end_->pop(); }

void Channel::set_takes_growing(bool takes) noexcept { end_->set_takes_growing(takes); }

std::optional<Loan> Channel::take() noexcept {
  const auto front = end_->front();
  if (!front || (*front)->loan == nullptr) return std::nullopt;
  const LoanedMessage& message = *(*front)->loan;
  Loan loan(end_, message.first, message.bytes, message.begin);
  end_->detach();
  return loan;
}

Expected<std::size_t, Fault> Channel::try_read(MutableBytes buffer) noexcept {
  if (const auto size = end_->take_short(buffer)) return *size;
  const auto front = end_->front();
  if (!front) return front.error();
  const Bytes bytes = *(*front)->bytes;
  if (bytes.size() > buffer.size()) return Fault::too_long;
  copy_bytes(buffer.data(), bytes.data(), bytes.size());
  pop();
  return bytes.size();
}

Expected<std::size_t, Fault> Channel::read(MutableBytes buffer, Time deadline) noexcept {
  // The usual case of a spinner stands apart: a message that comes soon is returned in registers.
  if (end_->spins(end_->strategy) && end_->shows_something(quick_looks))
    if (const auto size = end_->take_short(buffer)) return *size;
  Expected<std::size_t, Fault> result = try_read(buffer);
  if (is_over(result)) return result;
  const auto probe = [&] { return end_->shows_something(); };
  end_->wait(end_->for_record, deadline, end_->strategy, probe, [&] { return is_over(result = try_read(buffer)); });
  if (!is_over(result)) return Fault::timed_out;
  return result;
}

[[gnu::hot]] Expected<void, Fault> Channel::wait(Time deadline) noexcept { return wait(deadline, end_->strategy); }

[[gnu::hot]] Expected<void, Fault> Channel::wait(Time deadline, os::WaitStrategy strategy) noexcept {
  Expected<const Front*, Fault> front = Fault::would_block;
  const auto done = [&] { return is_over(front = end_->front()); };
  const auto probe = [&] { return end_->shows_something(); };
  if (!end_->wait(end_->for_record, deadline, strategy, probe, done)) return Fault::timed_out;
  if (!front) return front.error();
  return {};
}

int Channel::descriptor() const noexcept { return end_->for_record.sleeper.descriptor(); }

bool Channel::arm() noexcept {
  Sleeper& sleeper = end_->for_record.sleeper;
  sleeper.announce_watched();
  const auto front = end_->front();
  if (!front && front.error() == Fault::would_block) return true;
  if (sleeper.withdraw() && descriptor() >= 0) sleeper.drain();
  return false;
}

void Channel::disarm() noexcept {
  end_->for_record.sleeper.withdraw();
  if (descriptor() >= 0) end_->for_record.sleeper.drain();
}

void Channel::make_readable() noexcept { end_->make_readable(); }
void Channel::make_room_readable() noexcept { end_->make_room_readable(); }

int Channel::room_descriptor() const noexcept { return end_->parts.own_events.room.get(); }

bool Channel::arm_for_room(std::size_t size) noexcept {
  end_->for_room.sleeper.announce();
  if (!end_->unwritable() && !end_->has_room(size)) return true;
  disarm_for_room();
  return false;
}

void Channel::disarm_for_room() noexcept {
  end_->for_room.sleeper.withdraw();
  if (room_descriptor() >= 0) end_->for_room.sleeper.drain();
}

// ---- Memory

void Channel::measure_growth(GrowthMeter* meter) noexcept { end_->pool.measure(meter); }

std::size_t Channel::memory() const noexcept {
  const EndParts& parts = end_->parts;
  return parts.grows ? chunks_offset(parts.mine) + end_->pool.memory() : region_size(parts.mine);
}
bool Channel::may_shrink() const noexcept { return end_->pool.may_shrink(); }
bool Channel::was_quiet() noexcept { return end_->pool.was_quiet(); }
bool Channel::give_back_some(std::size_t most) noexcept { return end_->pool.give_back_some(most); }
bool Channel::take_some(std::size_t most) noexcept { return end_->pool.take_some(most); }
void Channel::hold_memory() const noexcept { end_->hold_memory(); }

// ---- Both

void Channel::close() noexcept { end_->close(); }
bool Channel::is_open() const noexcept { return !end_->fate(); }

bool Channel::look_at_peer() noexcept {
  end_->look_at_peer();
  return is_open();
}

int Channel::hang_up_descriptor() const noexcept { return end_->parts.watch.socket(); }
int Channel::process_descriptor() const noexcept { return end_->parts.watch.process_descriptor(); }
const Peer& Channel::peer() const noexcept { return end_->parts.watch.peer(); }
const std::shared_ptr<void>& Channel::attachment() const noexcept { return end_->parts.attachment; }
std::uint64_t Channel::id() const noexcept { return end_->parts.id; }
bool Channel::is_locked() const noexcept { return end_->locked; }
bool Channel::sees_process() const noexcept { return end_->parts.watch.sees_process(); }

}  // namespace corelane::channel
