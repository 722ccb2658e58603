// connect_end() and Acceptance run the handshake of the two ends (hello.h). EndParts is what an end has afterwards.
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
#include "orb/channel/ends/hello.h"
#include "orb/channel/fault.h"
#include "orb/channel/memory/memory.h"
#include "orb/channel/options.h"
#include "orb/channel/peer_watch.h"
#include "orb/os/peers/passed_descriptors.h"

namespace corelane::channel {

// The side of an end. The value is its index in the sleep page.
enum class Side : std::uint8_t { connector = 0, acceptor = 1 };

// The descriptors of one end's wake-ups.
struct Events {
  os::Fd record;  // woken when a record is there; only with Wake::eventfd
  os::Fd room;
  // At least one is an eventfd that is open in the other end, too. That end may change its flags.
  bool are_shared = false;
};

struct EndParts {
  Side side = Side::connector;
  Shape mine{}, theirs{};
  Mapping own, peer, sleep;
  Events own_events, peer_events;
  WakeUp own_wake, peer_wake;  // without descriptors
  bool loans = false;          // both ends support loans
  bool growing_loans = false;  // both ends support growing loans
  bool far_sleep = false;      // both ends support far sleep
  bool confirms = false;       // both ends support confirmation
  bool grows = false;          // of the own region: chunks have memory only after they were lent
  std::uint64_t id = 0;
  ProcessClaim peer_process;  // as the peer claims
  PeerWatch watch;
  std::shared_ptr<void> attachment;  // what admit_after_hello() returned
};

// Checks whether an end can be made with these options: the shape, and the signal of Wake::signal. This thread must
// block that signal, or the process handle it.
Expected<void, SetupFault> check_options(const Options& options);
// denied: the peer at the other end is not on the list.
Expected<void, SetupFault> check_access(const os::Fd& socket, const Options& options);

// Acceptance is the acceptor's side of one handshake, in steps that do not block. So one thread can serve many at once.
class Acceptance {
 public:
  explicit Acceptance(os::PeerSocket socket) noexcept : socket_(std::move(socket)) {}

  // Returns a descriptor that is readable when there is a step to take.
  int descriptor() const noexcept { return socket_.get(); }
  // Takes a step; call it once the descriptor is readable. Returns the end, or why there is none; the other end is told
  // that reason, too. Returns nothing if more has to come.
  std::optional<Expected<EndParts, SetupFault>> advance(const Options& options);
  // Tells the other end that there is no channel, and why.
  SetupFault refuse(SetupFault fault);
  // Gives up because the other end was too slow, and tells it `why`.
  SetupFault give_up(std::string why = "the other end did not answer in time; is it stopped?");

 private:
  os::PeerSocket socket_;
  std::optional<EndParts> parts_;  // set once the other end's Hello was answered
};

// Make an end over a connected Unix socket of kind SOCK_SEQPACKET. The other end is told of any fault, too.
Expected<EndParts, SetupFault> connect_end(os::Fd socket, const Options& options, Time deadline);
Expected<EndParts, SetupFault> accept_end(os::Fd socket, const Options& options, Time deadline);

}  // namespace corelane::channel
