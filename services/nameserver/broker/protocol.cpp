#include "services/nameserver/broker/protocol.h"

#include <algorithm>
#include <charconv>

namespace corelane::nameserver {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

bool is_service_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= longest_service_name &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
}

std::string access_text(const channel::Access& access) {
  if (access.anyone) return "any";
  std::string text;
  for (const uid_t user : access.users) text += ",u" + std::to_string(user);
  for (const gid_t group : access.groups) text += ",g" + std::to_string(group);
  return text.empty() ? "own" : text.substr(1);
}

std::optional<channel::Access> parse_access(std::string_view text) {
  channel::Access access;
  if (text == "any") access.anyone = true;
  if (text == "any" || text == "own") return access;
  for (const std::string& each : split(text, ',')) {
    const auto number = number_of<std::uint32_t>(std::string_view(each).substr(std::min<std::size_t>(1, each.size())));
    if (!number || (each[0] != 'u' && each[0] != 'g')) return std::nullopt;
    (each[0] == 'u' ? access.users : access.groups).push_back(*number);
  }
  return access;
}

std::string channel_text(const channel::Peer& peer) {
  return "channel " + std::to_string(peer.process) + " " + std::to_string(peer.user) + " " + std::to_string(peer.group);
}

std::optional<channel::Peer> parse_channel(const BrokerMessage& message) {
  if (message.words.size() != 4 || message.words[0] != "channel" || !message.descriptor) return std::nullopt;
  const auto process = number_of<std::int32_t>(message.words[1]);
  const auto user = number_of<std::uint32_t>(message.words[2]), group = number_of<std::uint32_t>(message.words[3]);
  if (!process || !user || !group) return std::nullopt;
  return channel::Peer{*process, *user, *group};
}

std::string refusal_text(const BrokerFault& fault) {
  return "refused " + std::to_string(static_cast<int>(fault.kind)) + " " + fault.text;
}

Expected<void, channel::SetupFault> send_message(const os::Fd& socket, const std::string& text, int descriptor) {
  const std::string packet = text.substr(0, longest_message);
  return channel::send_packet(socket, packet.data(), packet.size(),
                              descriptor < 0 ? std::vector<int>{} : std::vector<int>{descriptor});
}

Expected<BrokerMessage, channel::SetupFault> receive_message(const os::Fd& socket, Time deadline) {
  auto packet = channel::receive_packet(socket, deadline);
  if (!packet) return packet.error();
  const std::string_view text(reinterpret_cast<const char*>(packet->bytes.data()), packet->size);
  BrokerMessage message{.words = split(text, ' ')};
  if (message.words[0] == "channel" && packet->descriptors.size() == 1)
    message.descriptor = os::PeerSocket(packet->descriptors.take(0));
  return message;
}

}  // namespace corelane::nameserver
