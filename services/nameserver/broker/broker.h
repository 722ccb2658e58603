// Broker connects two processes of this host by name. A service registers a name. A client that asks for that name gets
// a channel. For this, the broker makes a socket pair and sends one end to the service and one to the client. The two
// set up the channel over it by themselves (orb/channel). The broker is not needed after that: if it ends, only names
// are lost.
//
// A name belongs to its service while the service's connection is open, so it is removed however the process ends. The
// broker checks both access lists, the service's and the client's, with the credentials that the kernel gives. The two
// cannot do this themselves, because over a socket pair they would see the broker's credentials.
//
// Threads: one of its own. start() and the destructor may run on any thread but a real-time one.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/retry_pause.h"
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
  std::size_t services_of_a_user = 256;
  std::size_t connections_of_a_user = 512;
  std::size_t connections = 2048;
  // Channels that were made, and that one of the two sides has not received.
  std::size_t unaccepted_of_service = 200;
  std::size_t unaccepted_of_user = 100;  // that one user asked for; both ends of each channel count
};

class Broker {
 public:
  // Listens at the path, which is absolute, for every user. On failure returns a sentence: why not, and what to do.
  static Expected<std::unique_ptr<Broker>, std::string> start(const std::string& path, BrokerLimits limits = {});
  ~Broker();

  const std::string& path() const noexcept { return path_; }

 private:
  // The connection of a process: a client or a service. Thread: the broker's.
  struct Connection {
    os::PeerSocket socket;
    channel::Peer peer{};
    std::string name{};  // of its service; empty: it is not a service
    channel::Access access{};
    Unaccepted unaccepted{};
    // The process has no name any more and is not read. This object stays as long as the process has channels that it
    // has not received, because these still count.
    bool is_draining = false;
  };

  Broker(os::SocketPath file, os::Fd socket, os::Fd stop, BrokerLimits limits);
  void serve();
  // Makes the socket again if it was removed. If that fails, tries again after RetryPause.
  void restore_socket();
  bool wait(std::vector<std::size_t>& ready, bool& can_accept);
  void accept_connection();
  // Handles a message of that process. Returns false if its connection must be closed.
  bool handle_message(Connection& connection);
  bool register_service(Connection& connection, const BrokerMessage& message);
  bool open_channel(Connection& client, const BrokerMessage& message);
  bool send_ends(Connection& client, Connection& service);
  static bool refuse(Connection& connection, const BrokerFault& fault);
  static bool refuse(Connection& connection, BrokerFault::Kind kind, const std::string& text);
  void remove(std::size_t index);
  Connection* service_of(const std::string& name);
  std::size_t connections_of(uid_t user) const;
  std::size_t services_of(uid_t user) const;
  std::size_t unaccepted_of(uid_t user) const;

  const std::string path_;
  const os::Fd stop_;  // readable when the broker must stop
  const BrokerLimits limits_;

  // Thread: the broker's only.
  std::optional<os::SocketPath> file_;
  os::Fd socket_;
  Time next_look_{};
  RetryPause retry_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::map<std::string, Connection*> services_;
  bool lacks_descriptors_ = false;

  std::jthread thread_;
};

}  // namespace corelane::nameserver
