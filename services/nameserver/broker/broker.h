// Broker: brings two processes of this host together. A service registers a name; who asks for that name has one
// channel made: a socket pair is made, one end goes to the service and one to the client, and they set the channel up
// over it by themselves (orb/channel). From then on the broker has no part in it: it may end, and nothing is lost but
// names.
//
// A name is its service's for as long as its connection is open: it goes with the process, however that ends. The
// broker sees to it that both access lists are kept, the service's and the client's, by the credentials that the kernel
// gives, since over a socket pair the two would see the broker's own.
//
// Threads: one of its own; start() and the destructor any but a real-time one.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/channel/access.h"
#include "orb/channel/peer_watch.h"
#include "orb/os/fd.h"
#include "orb/os/socket_path.h"
#include "services/nameserver/broker/protocol.h"
#include "services/nameserver/broker/unaccepted.h"

namespace corelane::nameserver {

struct BrokerLimits {
  std::size_t services = 1024;
  std::size_t connections_of_a_user = 512;
  std::size_t connections = 2048;
  // Channels that were made and that one of the two has not received.
  std::size_t unaccepted_of_service = 200;
  std::size_t unaccepted_of_user = 100;  // that one asked for: of each channel both ends count
};

class Broker {
 public:
  // Listens at the path, an absolute one, for every user. Or, as a sentence: why not, and what to do.
  static Expected<std::unique_ptr<Broker>, std::string> start(const std::string& path, BrokerLimits limits = {});
  ~Broker();

  const std::string& path() const noexcept { return path_; }

 private:
  // Somebody who is connected. Thread: the broker's.
  struct Guest {
    os::PeerSocket socket;
    channel::Peer peer{};
    std::string name{};  // of the service that he is; empty: none
    channel::Access access{};
    Unaccepted unaccepted{};
    bool leaves = false;  // is not heard any more, has no name, and stays while something is unaccepted that counts
  };

  Broker(os::SocketPath file, os::Fd socket, os::Fd stop, BrokerLimits limits);
  void serve();
  // Makes the socket again where somebody has removed it.
  void look_after_path();
  bool wait(std::vector<std::size_t>& ready, bool& is_called);
  void welcome();
  // false: he goes.
  bool hear(Guest& guest);
  bool enlist(Guest& guest, const BrokerMessage& message);
  bool introduce(Guest& client, const BrokerMessage& message);
  bool hand_over(Guest& client, Guest& service);
  static bool refuse(Guest& guest, const BrokerFault& fault);
  static bool refuse(Guest& guest, BrokerFault::Kind kind, const std::string& text);
  void dismiss(std::size_t index);
  Guest* service_of(const std::string& name);
  std::size_t connections_of(uid_t user) const;
  std::size_t unaccepted_of(uid_t user) const;

  const std::string path_;
  const os::Fd stop_;  // readable once the end has come
  const BrokerLimits limits_;

  // The broker's thread's own.
  std::optional<os::SocketPath> file_;
  os::Fd socket_;
  Time next_look_{};
  std::vector<std::unique_ptr<Guest>> guests_;
  std::map<std::string, Guest*> services_;
  bool lacks_descriptors_ = false;

  std::jthread thread_;
};

}  // namespace corelane::nameserver
