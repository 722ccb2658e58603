#include "services/nameserver/broker/channel_by_name.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "orb/channel/listener.h"
#include "orb/os/clock.h"
#include "services/nameserver/broker/protocol.h"

namespace corelane::nameserver {
namespace {

using Kind = BrokerFault::Kind;

BrokerFault no_broker(const std::string& path, const std::string& text) {
  return {Kind::unreachable, "no broker of channels at " + path + ": " + text + "; start corelane-nameserver"};
}

BrokerFault fault_in(const BrokerMessage& message) {
  int kind = 0;
  if (message.words[0] != "refused" || message.words.size() < 3)
    return {Kind::unreachable, "the program that answers is no broker of channels"};
  std::from_chars(message.words[1].data(), message.words[1].data() + message.words[1].size(), kind);
  std::string text;
  for (std::size_t i = 2; i < message.words.size(); ++i) text += (i > 2 ? " " : "") + message.words[i];
  for (char& c : text)  // the text goes to a log
    if (c < ' ' || c > '~') c = '?';
  return {static_cast<Kind>(std::clamp(kind, 0, static_cast<int>(Kind::no_channel))), text};
}

// Connects to a broker, and checks that root, this user or a user of the access list runs it.
Expected<os::Fd, BrokerFault> reach(const std::string& path, const std::string& name, const channel::Access& access,
                                    Time deadline) {
  if (!is_service_name(name))
    return BrokerFault{Kind::bad_name, "a service's name is printable ASCII without spaces, of 1 to 100 bytes"};
  auto socket = channel::connect_socket(path, deadline);
  if (!socket) return no_broker(path, socket.error().text);
  const channel::Peer broker = channel::peer_of(*socket);
  if (broker.user == 0 || is_welcome(*socket, access)) return std::move(*socket);
  return BrokerFault{
      Kind::denied,
      "the broker at " + path + " is run by user " + std::to_string(broker.user) +
          ", which is neither root nor the own user: put that user on the access list, or use another broker"};
}

Expected<BrokerMessage, BrokerFault> ask(const os::Fd& socket, const std::string& path, const std::string& text,
                                         Time deadline) {
  if (text.size() > longest_message)
    return BrokerFault{Kind::bad_name, "the access list is too long for the broker, which is told at most " +
                                           std::to_string(longest_message) +
                                           " bytes: name a group instead of its users"};
  // A broker that is full says so before it is asked, and closes. Its answer is read even if send() fails.
  send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL);
  auto answer = receive_message(socket, deadline);
  if (!answer) return no_broker(path, answer.error().text);
  return std::move(*answer);
}

// The kernel gives the broker's credentials for the socket pair. The broker was checked, and it checked the other end.
channel::Options options_over(const os::Fd& pair, channel::Options options) {
  options.knows_peer = false;
  options.access.users.push_back(channel::peer_of(pair).user);
  return options;
}

}  // namespace

Expected<ChannelService, BrokerFault> ChannelService::enlist(const std::string& broker, const std::string& name,
                                                             const channel::Options& options, Time deadline) {
  auto socket = reach(broker, name, options.access, deadline);
  if (!socket) return socket.error();
  const auto answer = ask(*socket, broker, "register " + name + " " + access_text(options.access), deadline);
  if (!answer) return answer.error();
  if (answer->words[0] != "registered") return fault_in(*answer);
  return ChannelService(std::move(*socket), options);
}

Expected<Introduced, BrokerFault> ChannelService::accept(Time deadline) {
  if (!socket_) return BrokerFault{Kind::unreachable, "the broker is gone: enlist the name again"};
  auto message = receive_message(socket_, deadline);
  const auto peer = message ? parse_channel(*message) : std::nullopt;
  if (!peer) {
    const bool is_late = !message && message.error().kind == channel::SetupFault::Kind::timed_out;
    if (!is_late) socket_.reset();
    return BrokerFault{Kind::unreachable,
                       is_late ? "no client has asked for a channel" : "the broker is gone: enlist the name again"};
  }
  const channel::Options options = options_over(message->descriptor, options_);
  auto made = channel::Channel::accept_over(message->descriptor.take(), options, os::now() + options_.handshake);
  if (!made) return BrokerFault{Kind::no_channel, made.error().text};
  return Introduced{std::move(*made), *peer};
}

Expected<Introduced, BrokerFault> open_channel(const std::string& broker, const std::string& name,
                                               const channel::Options& options, Time deadline) {
  const auto socket = reach(broker, name, options.access, deadline);
  if (!socket) return socket.error();
  auto answer = ask(*socket, broker, "open " + name + " " + access_text(options.access), deadline);
  if (!answer) return answer.error();
  const auto peer = parse_channel(*answer);
  if (!peer) return fault_in(*answer);
  const channel::Options over = options_over(answer->descriptor, options);
  auto made = channel::Channel::connect_over(answer->descriptor.take(), over, deadline);
  if (!made) return BrokerFault{Kind::no_channel, "'" + name + "' was found, but: " + made.error().text};
  return Introduced{std::move(*made), *peer};
}

}  // namespace corelane::nameserver
