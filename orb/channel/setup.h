// How two ends agree (hello.h) and what an end has afterwards.
// Threads: any but real-time ones; each call works on a socket of its own.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/channel/bell.h"
#include "orb/channel/fault.h"
#include "orb/channel/hello.h"
#include "orb/channel/memory.h"
#include "orb/channel/options.h"
#include "orb/channel/peer_watch.h"
#include "orb/os/passed_descriptors.h"

namespace corelane::channel {

// Which end; the index in the sleep page.
enum class Side : std::uint8_t { connector = 0, acceptor = 1 };

// What one end's wake-ups are made of.
struct Events {
  os::Fd record;  // there is one; with Wake::eventfd alone
  os::Fd room;
  bool are_shared = false;  // one at least is open in the other end, too, which may change its flags: an eventfd
};

struct EndParts {
  Side side = Side::connector;
  Shape mine{}, theirs{};
  Mapping own, peer, sleep;
  Events own_events, peer_events;
  WakeUp own_wake, peer_wake;  // without descriptors
  bool loans = false;          // both ends know them
  bool far_sleep = false;      // both ends know that, too
  bool confirms = false;       // and that
  bool grows = false;          // own: chunks have memory only once they were lent
  std::uint64_t id = 0;
  ProcessClaim peer_process;  // as the peer says
  PeerWatch watch;
  std::shared_ptr<void> pass;  // what the porter gave
};

// Whether these make an end: the shape, and the signal of Wake::signal, which this thread blocks or the process
// handles.
Expected<void, SetupFault> check_options(const Options& options);
// denied: the list does not have whoever is at the other end.
Expected<void, SetupFault> check_access(const os::Fd& socket, const Options& options);

// The acceptor's side of one handshake, in steps that do not wait: to serve many at once.
class Acceptance {
 public:
  explicit Acceptance(os::PeerSocket socket) noexcept : socket_(std::move(socket)) {}

  // Readable when there is a step to be taken.
  int descriptor() const noexcept { return socket_.get(); }
  // Once it is readable: the end, or why there is none, which the other end is told too. Nothing: there is more to
  // come.
  std::optional<Expected<EndParts, SetupFault>> advance(const Options& options);
  // The other end is told that there is no channel, and why.
  SetupFault refuse(SetupFault fault);
  // It was too slow, and is told so, or what is said instead.
  SetupFault give_up(std::string why = "the other end did not answer in time; is it stopped?");

 private:
  os::PeerSocket socket_;
  std::optional<EndParts> parts_;  // once the other end's hello was answered
};

// Over a connected Unix socket of kind SOCK_SEQPACKET. What is wrong is told to the other end too.
Expected<EndParts, SetupFault> connect_end(os::Fd socket, const Options& options, Time deadline);
Expected<EndParts, SetupFault> accept_end(os::Fd socket, const Options& options, Time deadline);

}  // namespace corelane::channel
