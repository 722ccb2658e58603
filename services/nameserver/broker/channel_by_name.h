// Channels between processes that know each other by a name alone, with the broker of this host (broker.h) in between
// until they have met.
//
//   auto service = ChannelService::enlist(broker, "plant/controller", {}, deadline);     (in one process)
//   auto there = service->accept(deadline);
//   auto here = open_channel(broker, "plant/controller", {}, deadline);                   (in another)
//
// `broker` is the path of its socket: broker_path(). A name is printable ASCII without spaces, of at most 100 bytes;
// one that is bound in the nameserver does, too. Threads: one at a time for each handle, not a real-time one. A channel
// is then used as orb/channel/channel.h says.
#pragma once

#include <string>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/channel/channel.h"
#include "orb/channel/options.h"
#include "orb/channel/peer_watch.h"
#include "orb/os/fd.h"
#include "services/nameserver/broker/broker_fault.h"

namespace corelane::nameserver {

// Where the broker listens that corelane-nameserver runs with that runtime directory.
inline std::string broker_path(const std::string& runtime_directory) { return runtime_directory + "/broker.sock"; }

// A channel, and who is at its other end, as the broker has it from the kernel. Channel::peer() tells of the broker.
struct Introduced {
  channel::Channel channel;
  channel::Peer peer{};
};

class ChannelService {
 public:
  // Has the name from now on, for as long as this lives. Who may ask for a channel is in options.access. `broker`: the
  // path of its socket, which belongs to root or to this user, or to a user that options.access names.
  static Expected<ChannelService, BrokerFault> enlist(const std::string& broker, const std::string& name,
                                                      const channel::Options& options, Time deadline);

  // The next client's channel. no_channel: he did not come to it; others may. unreachable: nobody came until the
  // deadline, or the broker is gone, and is_enlisted() is false then: channels that there are stay, the name has to be
  // enlisted again.
  Expected<Introduced, BrokerFault> accept(Time deadline);
  bool is_enlisted() const noexcept { return bool(socket_); }

  // Readable when accept() has something to do. -1 when it is not enlisted.
  int descriptor() const noexcept { return socket_.get(); }

 private:
  ChannelService(os::Fd socket, const channel::Options& options) : socket_(std::move(socket)), options_(options) {}

  os::Fd socket_;
  channel::Options options_;
};

// A channel to the service of that name. options.access: which users it may be of, besides this one.
Expected<Introduced, BrokerFault> open_channel(const std::string& broker, const std::string& name,
                                               const channel::Options& options, Time deadline);

}  // namespace corelane::nameserver
