// The messages between the broker and its clients: packets of ASCII words over a Unix socket (SOCK_SEQPACKET).
//
//   to the broker     register NAME ACCESS     Registers the service NAME. ACCESS: "own", "any", or a list like
//                                              "u1000,g33", which adds to the service's own user.
//                     open NAME ACCESS         Asks for a channel to the service NAME, if ACCESS admits its user.
//   from the broker   registered
//                     refused WHY TEXT...      WHY: a number, BrokerFault::Kind
//                     channel PROCESS USER GROUP   Carries a descriptor: one end of a socket pair. The handshake of
//                                              channels (orb/channel/ends/setup.h) with that process runs over it.
//
// A connection either registers once, and then belongs to the service while it is open; or it opens channels. A
// connection that sends anything else is closed.
// Threads: values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/channel/access.h"
#include "orb/channel/ends/hello.h"
#include "orb/channel/fault.h"
#include "orb/channel/peer_watch.h"
#include "orb/os/fd.h"
#include "orb/os/peers/passed_descriptors.h"
#include "services/nameserver/broker/broker_fault.h"

namespace corelane::nameserver {

inline constexpr std::size_t longest_service_name = 100;  // bytes

struct BrokerMessage {
  std::vector<std::string> words{};  // at least one
  os::PeerSocket descriptor{};       // only of a "channel" message
};

inline constexpr std::size_t longest_message = sizeof(channel::Packet::bytes);

// Returns whether the name is printable ASCII without spaces, of 1 to longest_service_name bytes.
bool is_service_name(std::string_view name) noexcept;

std::string access_text(const channel::Access& access);
// Returns nothing if the text is not an access list.
std::optional<channel::Access> parse_access(std::string_view text);

std::string channel_text(const channel::Peer& peer);
std::optional<channel::Peer> parse_channel(const BrokerMessage& message);
std::string refusal_text(const BrokerFault& fault);

// Sends without waiting, and truncates the text to longest_message. `descriptor`: -1 for none.
Expected<void, channel::SetupFault> send_message(const os::Fd& socket, const std::string& text, int descriptor = -1);
Expected<BrokerMessage, channel::SetupFault> receive_message(const os::Fd& socket, Time deadline);

}  // namespace corelane::nameserver
