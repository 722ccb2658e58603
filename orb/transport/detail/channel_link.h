// ChannelLink: a Link through a channel (docs/channel.md): the bytes of one send are one message or, above piece_size
// and where no room is free for all of them, several. A reader copies them out, but for long messages of its own user,
// which it may get where they lie. What a hostile peer changes meanwhile changes this connection's bytes and no more.
//
// Threads: as Link. Invariant: armed_ says that the peer rings for the next message; whoever looked last and left
// nothing, or may have left something, has seen to it that the descriptor tells (await_bytes()).
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

// The descriptors that a link takes.
struct ChannelWatch {
  os::Fd all;   // an epoll of all that concerns a reader: message, hang-up, the peer's end
  os::Fd more;  // with a descriptor for messages: an epoll of the other two; else an eventfd by which a reader wakes
                // itself

  // For a channel with that peer, set up with ChannelLink::options().
  static ChannelWatch make(const channel::Peer& peer, const ChannelOptions& granted) noexcept;
  // False: the system has none left, and errno says why.
  explicit operator bool() const noexcept { return all && more; }
};

class ChannelLink final : public Link {
 public:
  static constexpr std::size_t piece_size = 32 * 1024;  // of a long message: one chunk

  // How both ends of a connection set its channel up. Either is woken in a way that a reactor can watch: by a
  // descriptor of its own where both are of one user, otherwise at the socket.
  static channel::Options options(const ChannelOptions& granted);

  // NO_RESOURCES no_descriptor: without a watch, or when the system watches no more. COMM_FAILURE: nobody can be
  // woken.
  static Expected<std::unique_ptr<Link>> make(channel::Channel channel, ChannelWatch watch, Endpoint local,
                                              Endpoint peer);

  IoResult receive_some(MutableBytes buffer, Lent* lent) noexcept override;
  IoResult receive_until(MutableBytes buffer, Time deadline, os::WaitStrategy strategy, Lent* lent) noexcept override;
  IoResult glance(MutableBytes buffer, Lent* lent) noexcept override;
  IoResult take(MutableBytes buffer, Time& arrived, Lent* lent) noexcept override;
  IoResult send_some(std::span<const Bytes> parts) noexcept override;
  Berthed lend(std::size_t bytes) override;
  void give_back(std::uint64_t number) noexcept override;
  std::uint64_t position() const noexcept override { return channel_.written(); }
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
  void nudge() noexcept override;
  Room room() const noexcept override { return room_descriptor() >= 0 ? Room::readable : Room::untold; }
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
  bool take_front(Lent& lent) noexcept;
  std::optional<IoResult> send_berthed(Bytes message) noexcept;
  bool all_claimed() const noexcept;
  std::size_t longest_piece() const noexcept;
  IoResult send_pieces(std::span<const Bytes> parts) noexcept;
  // It is told of messages by a descriptor of its own, and not at the socket.
  bool has_own() const noexcept { return channel_.descriptor() != channel_.hang_up_descriptor(); }

  // Constant but for its state.
  channel::Channel channel_;
  const ChannelWatch watch_;
  const Endpoint local_, peer_;
  const bool of_own_user_;  // the other end is
  // Owner: who reads.
  std::size_t read_ = 0;  // bytes of the front message that were given
  bool armed_ = false;
  bool nudged_ = false;     // by itself
  Time look_at_peer_at_{};  // for who glances
  // Owner: who writes.
  struct Berth {
    std::uint64_t number;
    channel::Draft draft;
  };
  std::list<Berth> berths_;
  std::uint64_t last_berth_ = 0;
  bool room_armed_ = false;
  // Shared.
  std::atomic<bool> peer_died_{false}, spoiled_{false};
  std::atomic<std::uint64_t> sent_{0}, received_{0};  // uncopied
};

}  // namespace corelane::transport
