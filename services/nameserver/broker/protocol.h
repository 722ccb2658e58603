// What the broker and its clients say to each other: packets of ASCII words over a Unix socket (SOCK_SEQPACKET).
//
//   to the broker     register NAME ACCESS     I am that service; ACCESS: "own", or "any", or "u1000,g33" besides my
//                                              user
//                     open NAME ACCESS         a channel to that service, please, if it is of one of these
//   from the broker   registered
//                     refused WHY TEXT...      WHY: a number, BrokerFault::Kind
//                     channel PROCESS USER GROUP   and a descriptor: one end of a socket pair, over which the handshake
//                                              of channels (orb/channel/setup.h) is held with that process
//
// A connection registers once and is then the service's, for as long as it is open; or it opens channels. One that says
// anything else is closed.
// Threads: values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/channel/access.h"
#include "orb/channel/fault.h"
#include "orb/channel/hello.h"
#include "orb/channel/peer_watch.h"
#include "orb/os/fd.h"
#include "orb/os/passed_descriptors.h"
#include "services/nameserver/broker/broker_fault.h"

namespace corelane::nameserver {

inline constexpr std::size_t longest_service_name = 100;  // bytes

struct BrokerMessage {
  std::vector<std::string> words{};  // one at least
  os::PeerSocket descriptor{};       // of a message "channel" alone
};

inline constexpr std::size_t longest_message = sizeof(channel::Packet::bytes);

// Printable ASCII without spaces, 1 to longest_service_name bytes.
bool is_service_name(std::string_view name) noexcept;

std::string access_text(const channel::Access& access);
// Nothing when it is none.
std::optional<channel::Access> parse_access(std::string_view text);

std::string channel_text(const channel::Peer& peer);
std::optional<channel::Peer> parse_channel(const BrokerMessage& message);
std::string refusal_text(const BrokerFault& fault);

// Does not wait; cuts what is longer than longest_message. `descriptor`: -1 for none.
Expected<void, channel::SetupFault> send_message(const os::Fd& socket, const std::string& text, int descriptor = -1);
Expected<BrokerMessage, channel::SetupFault> receive_message(const os::Fd& socket, Time deadline);

}  // namespace corelane::nameserver
