#include "orb/transport/settings.h"

#include <sys/types.h>

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "orb/base/settings/setting_values.h"
#include "orb/channel/access.h"

namespace corelane::transport {
namespace setting_values {
namespace {

std::string socket_mode(UnixOptions& s, std::string_view text) {
  mode_t mode = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (fault != std::errc{} || end != text.data() + text.size() || mode > 0777)
    return "octal digits such as 0600 or 0666";
  s.mode = mode;
  return {};
}

}  // namespace
}  // namespace setting_values

SettingsOf<ConnectionLimits> connection_settings() {
  using S = ConnectionLimits;
  using V = std::string_view;
  static const Setting<S> all[] = {
      {"limits.connections", "1024",
       "Accepted connections at one time. If one more comes, an idle one ends, which has neither a request under way "
       "nor an admitted task. That is the one that was quiet for longest. If more than a quarter of all connections "
       "have sent no whole message yet, it is the oldest of those. Its client connects again with its next call. If "
       "none is idle, and in leader-followers always, the new connection is refused",
       [](S& s, V v) { return parse::size(v, s.connections, 1, 1'000'000); }},
      {"limits.connections_per_peer", "256",
       "Accepted connections at one time from one address, or from one user of this host. If one more comes, an idle "
       "one of the same peer ends, as for limits.connections",
       [](S& s, V v) { return parse::size(v, s.connections_per_peer, 1, 1'000'000); }},
      {"limits.backlog", "33554432",
       "Bytes that wait for a peer that reads more slowly than it is sent to, or not at all. Calling threads and "
       "replies without a contract leave half of it free and wait for room. Real-time threads (those of tasks, and the "
       "reader) do not wait; what they send beyond it closes the connection. At least twice the largest message. A "
       "message that nothing waits before may be longer",
       [](S& s, V v) { return parse::bytes(v, s.backlog, 1024, std::size_t{2047} * 1024 * 1024); }},
      {"timeout.idle", "0s",
       "A connection over which nothing came or went for so long, while no request was under way, is closed, and the "
       "tasks that were admitted over it leave. So a client that hangs or is stopped does not keep its promises. Set "
       "it to more than the longest pause between two calls of a client with tasks. Other clients connect again by "
       "themselves. A client closes its own connections after such a time, too, except those that a task needs. 0s: "
       "never",
       [](S& s, V v) { return parse::span_of_time(v, s.idle_timeout); }},
      {"timeout.backlog", "10s",
       "How long a peer may take nothing of what waits for it, while a thread or a burst of oneways waits for room to "
       "send more. Then its connection is closed",
       [](S& s, V v) { return parse::some_time(v, s.backlog_timeout); }},
      {"timeout.header", "10s", "How long an incomplete message may wait for its rest. 0s: no limit",
       [](S& s, V v) { return parse::span_of_time(v, s.header_timeout); }},
  };
  return all;
}

SettingsOf<ChannelOptions> channel_settings() {
  using S = ChannelOptions;
  using V = std::string_view;
  static const Setting<S> all[] = {
      {"channel.allow", "",
       "Other users whose clients may call through channels, separated by commas: names or numbers, groups as @name "
       "(all members), or anyone. Clients of all other users use sockets. These users have to reach the channel's "
       "path. If they may not enter the runtime directory, listen at channel:/path in a directory that they may enter",
       [](S& s, V v) { return channel::parse_access(v, s.access); }},
      {"channel.pool", "4521984",
       "Bytes that each end of a channel lends for messages of more than 4 KiB, so that they need not be copied; by "
       "default four of 1 MiB at once. A message that is longer than all of it, or finds none free, is copied in "
       "pieces. Between ends of one user it takes memory only while it is used. For another user it is at most 1152 "
       "KiB",
       [](S& s, V v) { return parse::bytes(v, s.pool, 64 * 1024, largest_channel_pool); }},
  };
  return all;
}

SettingsOf<UnixOptions> unix_settings() {
  using S = UnixOptions;
  static const Setting<S> all[] = {
      {"endpoint.unix_mode", "0600", "Permissions of Unix sockets, octal. A user who may write to one may connect",
       setting_values::socket_mode},
  };
  return all;
}

}  // namespace corelane::transport
