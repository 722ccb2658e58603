// What an end of a channel asks for when it is set up.
// Threads: values.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/channel/access.h"
#include "orb/channel/bell.h"
#include "orb/channel/fault.h"
#include "orb/channel/layout.h"
#include "orb/os/fd.h"
#include "orb/os/wait.h"

namespace corelane::channel {

struct Peer;

// An acceptor's own say: asked when somebody whom `access` lets in has said hello over that socket and was not answered
// yet, so that he knows that he has no channel. What it gives comes with the channel (Channel::pass()), or goes when
// none comes about; a fault is what he is told. Thread: the one that accepts.
using Porter = std::function<Expected<std::shared_ptr<void>, SetupFault>(const Peer&, const os::Fd& socket)>;

// A Listener's: asked at once when somebody has connected over that socket, before he says anything; a fault is what he
// is told. Thread: the one that accepts.
using Greeter = std::function<Expected<void, SetupFault>(const Peer&, const os::Fd& socket)>;

// A Listener's: asked when no descriptor is left for somebody who connects and whom `access` lets in; whether there are
// some now. If not, he is told that there are none. Thread: the one that accepts.
using RoomMaker = std::function<bool()>;

struct Options {
  Shape shape{};                           // of the memory for what this end writes
  std::optional<Shape> shape_by_others{};  // the same where the other end is another user's; nothing: as `shape`
  // Chunks take memory when they are first lent, and Channel::give_back_some() gives it back. Only where both ends are
  // of one user (Linux 5.14); otherwise all memory is there from the start, as real-time callers need it.
  bool grows = false;
  // Whether the other end itself connected the socket. False: somebody else made a socket pair for both, so that the
  // kernel does not say who the other end is; then neither end's memory grows.
  bool knows_peer = true;
  Wake wake = Wake::futex;               // how this end is woken
  std::optional<Wake> wake_by_others{};  // the same where the other end is another user's; nothing: as `wake`
  int signal = 0;  // for Wake::signal: SIGUSR1, SIGUSR2, SIGIO or a real-time one, blocked or handled
  // How this end waits, unless a call says otherwise. With Wake::spin it always spins.
  os::WaitStrategy wait{os::WaitMode::adaptive, std::chrono::microseconds{50}};
  Access access{};
  std::string access_setting{};             // what names that list, for those who are told that they are not on it
  std::uint64_t largest_peer = 256u << 20;  // bytes of the peer's memory that this end maps at most
  bool lock_memory = false;                 // best effort: see Channel::is_locked()
  Porter porter{};                          // of an acceptor; none: whoever has access is welcome
  Greeter greeter{};                        // none: whoever connects may say hello
  RoomMaker room_maker{};                   // none: nobody makes room
  // How long a Listener, or a service that a broker introduces clients to, waits for the other end's part, once it has
  // connected.
  Duration handshake = std::chrono::seconds{5};
};

}  // namespace corelane::channel
