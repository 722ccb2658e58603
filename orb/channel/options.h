// Options are the settings of one end of a channel at set-up.
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
#include "orb/os/wait/wait.h"

namespace corelane::channel {

struct Peer;

// AdmitAfterHello is a function of an acceptor that decides whether a peer gets a channel. It is called when a peer
// that `access` admits has sent its Hello over that socket, and before it is answered. So the peer knows that it has no
// channel yet. The result goes with the channel (Channel::attachment()), or is destroyed if no channel is made. If it
// is a fault, the peer is told. Thread: the one that accepts.
using AdmitAfterHello = std::function<Expected<std::shared_ptr<void>, SetupFault>(const Peer&, const os::Fd& socket)>;

// AdmitOnConnect is a function of a Listener. It is called as soon as a peer has connected over that socket, before the
// peer sends anything. If it returns a fault, the peer is told. Thread: the one that accepts.
using AdmitOnConnect = std::function<Expected<void, SetupFault>(const Peer&, const os::Fd& socket)>;

// FreeDescriptors is a function of a Listener. It is called when no descriptor is left for a peer that connects and
// that `access` admits. It returns whether there are some now. If not, the peer is told that there are none. Thread:
// the one that accepts.
using FreeDescriptors = std::function<bool()>;

struct Options {
  Shape shape{};                           // of the memory that this end writes
  std::optional<Shape> shape_by_others{};  // used instead if the other end belongs to another user; nothing: `shape`
  // Chunks take memory when they are first lent, and Channel::give_back_some() gives it back. This works only if both
  // ends belong to one user (Linux 5.14). Otherwise all memory is there from the start, as real-time callers need it.
  bool grows = false;
  // Whether the other end itself connected the socket. False: another process made a socket pair for both ends. Then
  // the kernel does not tell who the other end is, and neither end's memory grows.
  bool knows_peer = true;
  Wake wake = Wake::futex;               // how this end is woken
  std::optional<Wake> wake_by_others{};  // used instead if the other end belongs to another user; nothing: `wake`
  int signal = 0;  // for Wake::signal: SIGUSR1, SIGUSR2, SIGIO or a real-time one, blocked or handled
  // How this end waits, unless a call specifies a strategy. With Wake::spin it always spins.
  os::WaitStrategy wait{os::WaitMode::adaptive, std::chrono::microseconds{50}};
  Access access{};
  std::string access_setting{};             // the name of the setting with that list; told to peers that are not on it
  std::uint64_t largest_peer = 256u << 20;  // the most bytes of the peer's memory that this end maps
  bool lock_memory = false;                 // best effort: see Channel::is_locked()
  AdmitAfterHello admit_after_hello{};      // of an acceptor; none: every peer that has access gets a channel
  AdmitOnConnect admit_on_connect{};        // none: every peer that connects may send its Hello
  FreeDescriptors free_descriptors{};       // none: none are freed
  // How long the other end may take for its part after it has connected. Applies to a Listener, and to a service that a
  // broker introduces clients to.
  Duration handshake = std::chrono::seconds{5};
};

}  // namespace corelane::channel
