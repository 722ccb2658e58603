// ChannelLink is a Link through a channel (docs/channel.md). The bytes of one send are one message. If they are longer
// than piece_size, and there is no room for all of them, they are several messages.
// A reader copies the bytes out. It may get long messages of its own user in place. A hostile peer that changes bytes
// meanwhile changes only the bytes of this connection.
//
// Threads: as Link. Invariant: armed_ means that the peer makes the descriptor readable for the next message. A reader
// that found nothing, or may have left something, has made sure of that (await_bytes()).
#pragma once

#include <atomic>
#include <list>
#include <optional>
#include <span>

#include "orb/channel/channel.h"
#include "orb/os/fd.h"
#include "orb/transport/channel_options.h"
#include "orb/transport/detail/link.h"

namespace corelane::transport {

// ChannelWatch holds the descriptors that a link needs.
struct ChannelWatch {
  os::Fd all;  // an epoll of all events for a reader: message, hang-up, end of the peer
  // With a descriptor for messages, `more` is an epoll of the other two events. Otherwise it is an eventfd by which a
  // reader wakes itself.
  os::Fd more;

  // Makes the descriptors for a channel with that peer that was set up with ChannelLink::options().
  static ChannelWatch make(const channel::Peer& peer, const ChannelOptions& granted) noexcept;
  // Returns false if the system has no descriptors left; errno says why.
  explicit operator bool() const noexcept { return all && more; }
};

class ChannelLink final : public Link {
 public:
  static constexpr std::size_t piece_size = 32 * 1024;  // of a long message; the size of one chunk

  // Returns the options with which both ends of a connection set up its channel. Each end is woken in a way that a
  // reactor can watch: by a descriptor of its own if both belong to one user, otherwise at the socket.
  static channel::Options options(const ChannelOptions& granted);

  // Makes a link. NO_RESOURCES no_descriptor: the watch has no descriptors, or the system allows no more watches.
  // COMM_FAILURE: this end cannot be woken.
  static Expected<std::unique_ptr<Link>> make(channel::Channel channel, ChannelWatch watch, Endpoint local,
                                              Endpoint peer);

  IoResult receive_some(MutableBytes buffer, BorrowedBytes* borrowed) noexcept override;
  IoResult receive_until(MutableBytes buffer, Time deadline, os::WaitStrategy strategy,
                         BorrowedBytes* borrowed) noexcept override;
  IoResult poll_receive(MutableBytes buffer, BorrowedBytes* borrowed) noexcept override;
  IoResult take(MutableBytes buffer, Time& arrived, BorrowedBytes* borrowed) noexcept override;
  void take_arriving(bool takes) noexcept override { channel_.set_takes_growing(takes); }
  IoResult send_some(std::span<const Bytes> parts) noexcept override;
  void write_rest() noexcept override { channel_.write_rest(); }
  void end_rest() noexcept override { channel_.end_growing(); }
  bool sends_arriving(std::size_t bytes) const noexcept override;
  bool has_arrived() const noexcept override { return !channel_.is_growing(); }
  LentBytes lend(std::size_t bytes) override;
  void give_back(std::uint64_t number) noexcept override;
  [[gnu::hot]] std::uint64_t position() const noexcept override { return channel_.written(); }
  bool may_have_been_read(std::uint64_t position) const noexcept override;
  Error failure() const noexcept override;
  Connection::Loans loans() const noexcept override;
  void shut() noexcept override { channel_.close(); }
  int descriptor() const noexcept override { return watch_.all.get(); }
  int bytes_descriptor() const noexcept override { return has_own() ? channel_.descriptor() : watch_.all.get(); }
  int end_descriptor() const noexcept override { return has_own() ? watch_.more.get() : -1; }
  int hang_up_descriptor() const noexcept override { return channel_.hang_up_descriptor(); }
  bool has_unread() noexcept override { return channel_.peek().has_value(); }
  bool await_bytes() noexcept override;
  void stop_awaiting() noexcept override;
  void make_readable() noexcept override;
  WriteReadiness write_readiness() const noexcept override {
    return room_descriptor() >= 0 ? WriteReadiness::readable : WriteReadiness::unknown;
  }
  int room_descriptor() const noexcept override { return channel_.room_descriptor(); }
  void await_room(std::size_t size) noexcept override;
  Endpoint local() const override { return local_; }
  Endpoint peer() const override { return peer_; }
  channel::Channel* channel() noexcept override { return &channel_; }
  std::optional<PeerCredentials> credentials() const noexcept override;
  std::vector<gid_t> groups() const override;

 private:
  ChannelLink(channel::Channel channel, ChannelWatch watch, Endpoint local, Endpoint peer);
  bool watch_all() const noexcept;
  IoResult end_of(channel::Fault fault) noexcept;
  bool lends(Bytes front) const noexcept;
  IoResult take_front(BorrowedBytes& borrowed) noexcept;
  bool begin_arriving(std::span<const Bytes> parts) noexcept;
  std::optional<IoResult> send_lent(Bytes message) noexcept;
  bool all_claimed() const noexcept;
  std::size_t longest_piece() const noexcept;
  IoResult send_pieces(std::span<const Bytes> parts) noexcept;
  // Returns whether a descriptor of its own reports messages, rather than the socket.
  bool has_own() const noexcept { return channel_.descriptor() != channel_.hang_up_descriptor(); }

  // Constant, except for the state inside.
  channel::Channel channel_;
  const ChannelWatch watch_;
  const Endpoint local_, peer_;
  const bool of_own_user_;  // the other end belongs to this process's user
  // Owner: the reader.
  std::size_t read_ = 0;  // bytes of the front message that the caller already has
  bool armed_ = false;
  bool made_readable_ = false;  // by this end itself
  Time look_at_peer_at_{};      // for poll_receive()
  // Owner: the writer.
  struct ReservedSendBuffer {
    std::uint64_t number;
    channel::Draft draft;
  };
  std::list<ReservedSendBuffer> reserved_;
  std::uint64_t last_reserved_ = 0;
  bool room_armed_ = false;
  // Shared.
  std::atomic<bool> peer_died_{false}, spoiled_{false};
  std::atomic<std::uint64_t> sent_{0}, received_{0};  // messages that were not copied
};

}  // namespace corelane::transport
