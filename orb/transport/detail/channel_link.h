// ChannelLink: a Link through a channel (docs/channel.md): the bytes of one send are one message or, above piece_size,
// several; a reader copies them out. What a hostile peer changes meanwhile changes this connection's bytes and no more.
//
// Threads: as Link. Invariant: armed_ says that the peer rings for the next message; whoever looked last and left
// nothing, or may have left something, has seen to it that the descriptor tells (await_bytes()).
#pragma once

#include <optional>
#include <span>

#include "orb/channel/channel.h"
#include "orb/os/fd.h"
#include "orb/transport/detail/link.h"

namespace corelane::transport {

class ChannelLink final : public Link {
 public:
  static constexpr std::size_t piece_size = 32 * 1024;  // of a long message: one chunk

  // How both ends of a connection set its channel up: woken by eventfd, which a reactor can watch.
  static channel::Options options();

  // The descriptor that a link takes, for make(); none: the system has none left.
  static os::Fd make_watch() noexcept;
  // NO_RESOURCES no_descriptor: without `watched`, or when the system watches no more.
  static Expected<std::unique_ptr<Link>> make(channel::Channel channel, os::Fd watched, Endpoint local, Endpoint peer);

  IoResult receive_some(MutableBytes buffer) noexcept override;
  IoResult receive_until(MutableBytes buffer, Time deadline, os::WaitStrategy strategy) noexcept override;
  IoResult glance(MutableBytes buffer) noexcept override;
  IoResult take(MutableBytes buffer, Time& arrived) noexcept override;
  IoResult send_some(std::span<const Bytes> parts) noexcept override;
  void shut() noexcept override { channel_.close(); }
  int descriptor() const noexcept override { return watched_.get(); }
  void await_bytes() noexcept override;
  void stop_awaiting() noexcept override;
  int room_descriptor() const noexcept override { return channel_.room_descriptor(); }
  void await_room(std::size_t size) noexcept override;
  Endpoint local() const override { return local_; }
  Endpoint peer() const override { return peer_; }
  std::optional<PeerCredentials> credentials() const noexcept override;

 private:
  ChannelLink(channel::Channel channel, os::Fd watched, Endpoint local, Endpoint peer);

  // Constant but for its state.
  channel::Channel channel_;
  const os::Fd watched_;  // an epoll of all that concerns a reader: message, hang-up, the peer's end
  const Endpoint local_, peer_;
  // Owner: who reads.
  std::size_t read_ = 0;  // bytes of the front message that were given
  bool armed_ = false;
  Time look_at_peer_at_{};  // for who glances
  // Owner: who writes.
  bool room_armed_ = false;
};

}  // namespace corelane::transport
