#include "orb/transport/detail/channel_link.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <new>
#include <utility>

#include "orb/base/copy.h"
#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/os/peers/own_user.h"
#include "orb/os/peers/peer_groups.h"

namespace corelane::transport {
namespace {

using channel::Fault;

constexpr int messages_per_read = 1024;  // so a peer that sends empty messages cannot hold the reader longer
constexpr std::size_t parts_per_piece = 16;
constexpr std::chrono::milliseconds peer_period{1};  // between two checks of the peer in poll_receive()
// Bytes of chunks for another user. All are taken at set-up. They fit one message of 1 MiB with its header.
constexpr std::size_t largest_pool_for_others = 1152 * 1024;

bool add(const os::Fd& epoll, int fd, std::uint32_t events) noexcept {
  epoll_event event{.events = events, .data = {}};
  return fd < 0 || epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

// A loan whose bytes may still be arriving.
class BorrowedLoan final : public ArrivingBytes {
 public:
  explicit BorrowedLoan(channel::Loan loan) noexcept : loan_(std::move(loan)) {}

  Bytes bytes() const noexcept { return loan_.bytes(); }
  std::size_t ready() const noexcept override { return loan_.ready(); }
  Expected<std::size_t> await(std::size_t size, Time deadline) noexcept override {
    const auto there = loan_.await(size, deadline);
    if (there) return *there;
    if (there.error() == Fault::timed_out) return errors::deadline_passed;
    return Error{.kind = ErrorKind::comm_failure, .minor = minor::connection_lost};
  }

 private:
  channel::Loan loan_;
};

// The parts after the first `skip` bytes, at most `size` bytes of them.
struct Piece {
  std::array<Bytes, parts_per_piece> parts;
  std::size_t count = 0;
  std::size_t bytes = 0;

  Piece(std::span<const Bytes> all, std::size_t skip, std::size_t size) noexcept {
    for (const Bytes part : all) {
      const std::size_t skipped = std::min(skip, part.size());
      skip -= skipped;
      const Bytes rest = part.subspan(skipped).first(std::min(part.size() - skipped, size - bytes));
      if (rest.empty()) continue;
      if (count == parts.size()) return;
      parts[count++] = rest;
      bytes += rest.size();
    }
  }
};

}  // namespace

// Every connection gets such a share of memory. What does not fit waits in the backlog.
channel::Options ChannelLink::options(const ChannelOptions& granted) {
  const auto shape = [&](std::size_t at_most) {
    const auto chunks = static_cast<std::uint32_t>(std::min(granted.pool, at_most) / piece_size);
    return channel::Shape{.slots = 1024, .chunks = chunks, .chunk_size = piece_size};
  };
  return {.shape = shape(largest_channel_pool),
          .shape_by_others = shape(largest_pool_for_others),
          .grows = true,
          .wake = granted.wake_by_descriptor ? channel::Wake::eventfd : channel::Wake::futex,
          .wake_by_others = channel::Wake::futex,
          .access = granted.access,
          .access_setting = "channel.allow, -ORBChannelAllow",
          .largest_peer = largest_channel_pool + (1u << 20),
          .handshake = granted.handshake};
}

ChannelWatch ChannelWatch::make(const channel::Peer& peer, const ChannelOptions& granted) noexcept {
  const bool by_descriptor = granted.wake_by_descriptor && os::is_own_user(peer.user);
  ChannelWatch made{.all = os::Fd(epoll_create1(EPOLL_CLOEXEC)), .more = {}};
  if (made.all) made.more.reset(by_descriptor ? epoll_create1(EPOLL_CLOEXEC) : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return made;
}

Expected<std::unique_ptr<Link>> ChannelLink::make(channel::Channel channel, ChannelWatch watch, Endpoint local,
                                                  Endpoint peer) {
  if (channel.descriptor() < 0) return Error{.kind = ErrorKind::comm_failure, .minor = minor::connection_lost};
  std::unique_ptr<ChannelLink> made(
      new ChannelLink(std::move(channel), std::move(watch), std::move(local), std::move(peer)));
  if (!made->watch_all()) return errors::no_descriptor;
  // Without this, a thread that watches the descriptor before the first read would not learn of bytes.
  if (!made->await_bytes()) made->make_readable();
  return std::unique_ptr<Link>(std::move(made));
}

ChannelLink::ChannelLink(channel::Channel channel, ChannelWatch watch, Endpoint local, Endpoint peer)
    : channel_(std::move(channel)),
      watch_(std::move(watch)),
      local_(std::move(local)),
      peer_(std::move(peer)),
      of_own_user_(os::is_own_user(channel_.peer().user)) {}

bool ChannelLink::watch_all() const noexcept {
  const os::Fd& of_end = has_own() ? watch_.more : watch_.all;
  const std::uint32_t of_socket = has_own() ? EPOLLRDHUP : EPOLLRDHUP | EPOLLIN;
  return watch_ && add(of_end, channel_.hang_up_descriptor(), of_socket) &&
         add(of_end, channel_.process_descriptor(), EPOLLIN) && add(watch_.all, watch_.more.get(), EPOLLIN) &&
         (!has_own() || add(watch_.all, channel_.descriptor(), EPOLLIN));
}

std::optional<PeerCredentials> ChannelLink::credentials() const noexcept {
  const channel::Peer& peer = channel_.peer();
  return PeerCredentials{.process = peer.process, .user = peer.user};
}

std::vector<gid_t> ChannelLink::groups() const { return os::peer_groups(channel_.hang_up_descriptor()); }

IoResult ChannelLink::end_of(Fault fault) noexcept {
  if (fault == Fault::would_block || fault == Fault::timed_out) return {Io::would_block};
  // PAIR channel_link.peer_died: release here -> acquire in may_have_been_read().
  if (fault == Fault::peer_died) peer_died_.store(true, std::memory_order_release);
  if (fault == Fault::spoiled) spoiled_.store(true, std::memory_order_relaxed);  // relaxed: a report
  return {fault == Fault::peer_closed ? Io::done : Io::failed};
}

// Returns whether the message may be read in place. Another user could change it while it is read. Channels carry such
// long messages in chunks.
bool ChannelLink::lends(Bytes front) const noexcept {
  return read_ == 0 && front.size() >= Connection::longest_copied && of_own_user_;
}

// would_block: the message was not taken, and has to be copied.
IoResult ChannelLink::take_front(BorrowedBytes& borrowed) noexcept try {
  const auto storage = std::make_shared<std::optional<BorrowedLoan>>();
  auto loan = channel_.take();
  if (!loan) return {Io::would_block};
  BorrowedLoan& kept = storage->emplace(std::move(*loan));
  const bool is_whole = kept.ready() == kept.bytes().size();
  borrowed = {.bytes = kept.bytes(), .storage = storage, .arriving = is_whole ? nullptr : &kept};
  received_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
  return {Io::done, kept.bytes().size()};
} catch (const std::bad_alloc&) {
  channel_.set_takes_growing(false);  // from now on all that is copied is whole
  return channel_.peek() ? IoResult{Io::would_block} : IoResult{Io::failed};
}

[[gnu::hot]] IoResult ChannelLink::receive_some(MutableBytes buffer, BorrowedBytes* borrowed) noexcept {
  IoResult result;
  for (int i = 0; i < messages_per_read && result.count < buffer.size(); ++i) {
    const auto front = channel_.peek();
    if (!front && result.count != 0) return result;
    if (!front && (front.error() != Fault::would_block || channel_.look_at_peer())) return end_of(front.error());
    // The peer has ended. peek() says how, after the messages that are still there.
    if (!front) continue;
    if (borrowed != nullptr && lends(*front)) {
      if (result.count != 0) return result;
      if (const IoResult taken = take_front(*borrowed); taken.outcome != Io::would_block) return taken;
    }
    const Bytes rest = front->subspan(read_);
    const std::size_t count = std::min(rest.size(), buffer.size() - result.count);
    copy_bytes(buffer.data() + result.count, rest.data(), count);
    result.count += count;
    read_ += count;
    if (read_ == front->size()) {
      channel_.pop();
      read_ = 0;
    }
  }
  return result.count != 0 ? result : IoResult{Io::failed};
}

[[gnu::hot]] IoResult ChannelLink::receive_until(MutableBytes buffer, Time deadline, os::WaitStrategy strategy,
                                                 BorrowedBytes* borrowed) noexcept {
  if (deadline == Time{} || (deadline != never && deadline <= os::now())) {
    stop_awaiting();
    const IoResult result = receive_some(buffer, borrowed);
    if (!await_bytes()) make_readable();
    return result;
  }
  stop_awaiting();
  if (const auto came = channel_.wait(deadline, strategy); !came) return end_of(came.error());
  return receive_some(buffer, borrowed);
}

// Makes two checks of memory. Neither this end nor the peer that writes makes a system call for it.
IoResult ChannelLink::poll_receive(MutableBytes buffer, BorrowedBytes* borrowed) noexcept {
  stop_awaiting();
  const auto front = channel_.peek();
  if (front || front.error() != Fault::would_block) return receive_some(buffer, borrowed);
  const Time now = os::now();
  if (now < look_at_peer_at_) return {Io::would_block};
  look_at_peer_at_ = now + peer_period;
  return receive_some(buffer, borrowed);
}

IoResult ChannelLink::take(MutableBytes buffer, Time& arrived, BorrowedBytes* borrowed) noexcept {
  const IoResult result = receive_until(buffer, Time{}, {}, borrowed);
  arrived = os::now();
  return result;
}

bool ChannelLink::await_bytes() noexcept {
  armed_ = true;
  return channel_.arm();
}

void ChannelLink::stop_awaiting() noexcept {
  if (std::exchange(armed_, false)) channel_.disarm();
  eventfd_t ignored;
  if (std::exchange(made_readable_, false)) eventfd_read(watch_.more.get(), &ignored);
}

void ChannelLink::make_readable() noexcept {
  if (has_own()) return channel_.make_readable();
  made_readable_ = true;
  eventfd_write(watch_.more.get(), 1);
}

void ChannelLink::await_room(std::size_t size) noexcept {
  room_armed_ = true;
  const auto has_none = [&](std::size_t of) { return channel_.arm_for_room(std::min(size, of)); };
  if (has_none(longest_piece()) && (!all_claimed() || has_none(channel_.inline_limit()))) return;
  channel_.make_room_readable();
}

Link::LentBytes ChannelLink::lend(std::size_t bytes) {
  const std::size_t whole = (bytes + piece_size - 1) / piece_size * piece_size;  // with all of the run's last chunk
  if (whole > channel_.longest_message()) return {};
  auto draft = channel_.draft(whole);
  if (!draft) return {};
  reserved_.push_back({++last_reserved_, std::move(*draft)});
  return {reserved_.back().draft.bytes(), last_reserved_};
}

void ChannelLink::give_back(std::uint64_t number) noexcept {
  reserved_.remove_if([&](const ReservedSendBuffer& send_buffer) { return send_buffer.number == number; });
}

// Sends a message that lies in a ReservedSendBuffer. Returns nothing if it lies somewhere else.
std::optional<IoResult> ChannelLink::send_lent(Bytes message) noexcept {
  const auto send_buffer = std::find_if(reserved_.begin(), reserved_.end(), [&](const ReservedSendBuffer& b) {
    return b.draft.bytes().data() == message.data();
  });
  if (send_buffer == reserved_.end()) return std::nullopt;
  const auto sent = channel_.try_send(send_buffer->draft, message.size());
  if (!sent) return IoResult{sent.error() == Fault::would_block ? Io::would_block : Io::failed};
  reserved_.erase(send_buffer);
  sent_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
  return IoResult{Io::done, message.size()};
}

bool ChannelLink::sends_arriving(std::size_t bytes) const noexcept {
  return bytes >= channel::least_growing && bytes + piece_size <= channel_.longest_message() &&
         channel_.may_begin_growing();
}

bool ChannelLink::begin_arriving(std::span<const Bytes> parts) noexcept {
  if (parts.size() != 2 || !channel_.begin_growing(parts[0], parts[1])) return false;
  sent_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
  return true;
}

[[gnu::hot]] IoResult ChannelLink::send_some(std::span<const Bytes> parts) noexcept {
  if (std::exchange(room_armed_, false)) channel_.disarm_for_room();
  if (parts.size() == 1 && !reserved_.empty())
    if (const auto sent = send_lent(parts.front())) return *sent;
  const std::size_t length = length_of(parts);
  if (length > piece_size) {
    if (begin_arriving(parts)) return {Io::begun, length};
    if (channel_.try_write(parts)) return {Io::done, length};
  }
  return send_pieces(parts);
}

// Returns whether the peer has looked at all records. Then it keeps the chunks that have not come back, or is about to
// give them back.
bool ChannelLink::all_claimed() const noexcept { return channel_.was_claimed(channel_.written()); }

// Returns the size of one chunk; if there are no chunks, what fits into the ring.
std::size_t ChannelLink::longest_piece() const noexcept { return std::min(piece_size, channel_.longest_message()); }

// Sends the parts piece by piece. If the peer has looked at all records and still keeps chunks, they may not come back
// for as long as a servant runs. What must not wait for that goes through the ring alone, in smaller pieces.
[[gnu::hot]] IoResult ChannelLink::send_pieces(std::span<const Bytes> parts) noexcept {
  IoResult result;
  std::size_t size = longest_piece();
  // Bound: each turn sends something, switches to smaller pieces, or ends.
  while (true) {
    const Piece piece(parts, result.count, size);
    if (piece.count == 0) return result;
    const auto written = channel_.try_write(std::span(piece.parts).first(piece.count));
    if (written) {
      result.count += piece.bytes;
    } else if (written.error() == Fault::would_block && piece.bytes > channel_.inline_limit() && all_claimed()) {
      size = channel_.inline_limit();
    } else {
      return {written.error() == Fault::would_block ? Io::would_block : Io::failed, result.count};
    }
  }
}

bool ChannelLink::may_have_been_read(std::uint64_t position) const noexcept {
  // PAIR channel_link.peer_died: acquire here <- release in end_of(). A living peer may still read what was written.
  return !peer_died_.load(std::memory_order_acquire) || channel_.was_claimed(position + 1);
}

Error ChannelLink::failure() const noexcept {
  const bool spoiled = spoiled_.load(std::memory_order_relaxed);  // relaxed: a report
  return {.kind = ErrorKind::comm_failure, .minor = spoiled ? minor::channel_spoiled : minor::connection_lost};
}

// relaxed: counts
Connection::Loans ChannelLink::loans() const noexcept {
  return {sent_.load(std::memory_order_relaxed), received_.load(std::memory_order_relaxed)};
}

}  // namespace corelane::transport
