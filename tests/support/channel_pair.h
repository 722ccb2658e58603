// ChannelPair has both ends of a channel in one process, over a socket pair. Also functions that act on an end.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <future>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "orb/channel/channel.h"
#include "orb/os/clock.h"
#include "orb/os/fd.h"
#include "tests/support/bytes/pattern.h"
#include "tests/support/long_enough.h"

namespace corelane::testing {

inline Time soon() { return os::now() + long_enough; }
inline constexpr Time at_once{};

inline Bytes as_bytes(std::string_view text) { return std::as_bytes(std::span{text.data(), text.size()}); }
inline std::string as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

struct SocketPair {
  os::Fd near, far;
  SocketPair() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
      throw std::runtime_error("no socket pair");
    near.reset(ends[0]);
    far.reset(ends[1]);
  }
};

using ChannelResult = Expected<channel::Channel, channel::SetupFault>;

// Returns what the two ends get from the handshake.
inline std::pair<ChannelResult, ChannelResult> shake_hands(const channel::Options& near, const channel::Options& far) {
  SocketPair sockets;
  auto accepted = std::async(std::launch::async,
                             [&] { return channel::Channel::accept_over(std::move(sockets.far), far, soon()); });
  auto connected = channel::Channel::connect_over(std::move(sockets.near), near, soon());
  return {std::move(connected), accepted.get()};
}

inline channel::Channel expect(ChannelResult result) {
  if (!result) throw std::runtime_error(result.error().text);
  return std::move(*result);
}

struct ChannelPair {
  channel::Channel near, far;

  explicit ChannelPair(const channel::Options& options = {}) : ChannelPair(options, options) {}
  ChannelPair(const channel::Options& one, const channel::Options& other) : ChannelPair(shake_hands(one, other)) {}

 private:
  explicit ChannelPair(std::pair<ChannelResult, ChannelResult> ends)
      : near(expect(std::move(ends.first))), far(expect(std::move(ends.second))) {}
};

// Returns the next message, or in angle brackets what prevented it.
inline std::string read(channel::Channel& end, Time deadline = soon()) {
  if (const auto came = end.wait(deadline); !came) return "<" + std::string(text_of(came.error())) + ">";
  const auto front = end.peek();
  if (!front) return "<" + std::string(text_of(front.error())) + ">";
  std::string text = as_text(*front);
  end.pop();
  return text;
}

inline std::string ended(channel::Fault fault) { return "<" + std::string(text_of(fault)) + ">"; }

// Returns `size` bytes. The bytes around a place show where it is.
inline std::string filled(std::size_t size, std::uint32_t seed = 1) {
  std::string text(size, '\0');
  fill_with_pattern(text.data(), size, seed);
  return text;
}

}  // namespace corelane::testing
