// ChannelService and open_channel() make channels between processes that know only a name of each other. The broker of
// this host (broker.h) introduces them.
//
//   auto service = ChannelService::enlist(broker, "plant/controller", {}, deadline);     (in one process)
//   auto there = service->accept(deadline);
//   auto here = open_channel(broker, "plant/controller", {}, deadline);                   (in another)
//
// `broker` is the path of the broker's socket: broker_path(). A name is printable ASCII without spaces, of at most 100
// bytes. It may also be bound in the nameserver. orb/channel/channel.h says how to use a channel.
//
// Threads: one at a time for each handle, not a real-time one.
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

// Returns where corelane-nameserver's broker listens if it uses that runtime directory.
inline std::string broker_path(const std::string& runtime_directory) { return runtime_directory + "/broker.sock"; }

// A channel, and the process at its other end, which the broker reports from the kernel. Channel::peer() is the broker.
struct Introduced {
  channel::Channel channel;
  channel::Peer peer{};
};

class ChannelService {
 public:
  // Registers the name, for as long as this object exists. options.access says which clients may ask for a channel.
  // `broker` is the path of the broker's socket. The broker must be run by root, by this user, or by a user of
  // options.access.
  static Expected<ChannelService, BrokerFault> enlist(const std::string& broker, const std::string& name,
                                                      const channel::Options& options, Time deadline);

  // Returns the next client's channel. no_channel: the handshake with this client failed. Other clients may follow.
  // unreachable: no client came before the deadline, or the broker is gone. If it is gone, is_enlisted() is false:
  // channels that exist stay, and the name must be enlisted again.
  Expected<Introduced, BrokerFault> accept(Time deadline);
  bool is_enlisted() const noexcept { return bool(socket_); }

  // Becomes readable when accept() has something to do. -1 if the name is not enlisted.
  int descriptor() const noexcept { return socket_.get(); }

 private:
  ChannelService(os::Fd socket, const channel::Options& options) : socket_(std::move(socket)), options_(options) {}

  os::Fd socket_;
  channel::Options options_;
};

// Opens a channel to the service of that name. options.access says which users may run it, besides this one.
Expected<Introduced, BrokerFault> open_channel(const std::string& broker, const std::string& name,
                                               const channel::Options& options, Time deadline);

}  // namespace corelane::nameserver
