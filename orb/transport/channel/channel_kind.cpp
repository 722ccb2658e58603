// Channels as a kind of transport: their endpoints as text and in references. docs/wire.md, docs/channel.md.
#include <optional>

#include "orb/transport/channel/channel.h"
#include "orb/transport/detail/connection_limiter.h"
#include "orb/transport/detail/path_endpoint.h"
#include "orb/transport/transport_kind.h"
#include "orb/transport/transport_options.h"

namespace corelane::transport {
namespace {

ParsedEndpoint parse_channel(std::string_view path) { return parse_path(kinds::channel, path); }

void read_channel(const giop::IiopProfile& profile, const HostView& here, Reachable& found) {
  add_paths(kinds::channel, giop::channel_addresses_of(profile), here, found);
}

void write_channel(const Endpoint& endpoint, const HostView& here, giop::IiopProfile& profile) {
  profile.components.push_back(giop::make_channel_address(told_path(endpoint, here)));
}

std::optional<ShownComponent> show_channel(const giop::TaggedComponent& component) {
  if (component.tag != giop::component::channel) return std::nullopt;
  return show_path(kinds::channel, "channel (Corelane)", giop::channel_addresses_of(alone(component)));
}

std::unique_ptr<Transport> make_channel(Reactor& reactor, const TransportOptions& options,
                                        const ConnectionLimits& limits,
                                        const std::shared_ptr<ConnectionLimiter>& limiter) {
  return std::make_unique<ChannelTransport>(reactor, options.channel, limits, limiter);
}

}  // namespace

namespace kinds {

extern const TransportKind channel{
    .name = "channel",
    .prefix = "channel:",
    .example = "channel:/run/plant.channel",
    .help = "shared memory, see channel.md. channel: alone chooses a path in the runtime directory",
    .of_this_host = true,
    .offered_unasked = true,
    .shares_memory = true,
    .parse = parse_channel,
    .print = print_path,
    .read = read_channel,
    .write = write_channel,
    .show = show_channel,
    .make = make_channel,
};

}  // namespace kinds
}  // namespace corelane::transport
