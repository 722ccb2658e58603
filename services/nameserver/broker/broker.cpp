#include "services/nameserver/broker/broker.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "orb/base/minor.h"
#include "orb/base/text/counted.h"
#include "orb/os/clock.h"
#include "orb/os/files/directory.h"
#include "orb/os/log.h"
#include "orb/os/thread.h"

namespace corelane::nameserver {
namespace {

constexpr int pause_without_descriptors = 100;  // ms until the next try to accept
// In ms: until the next check whether draining clients have received all, or ended.
constexpr int pause_while_draining = 1000;
constexpr int pause_for_path = 1000;  // ms until the next check whether the socket still exists

// Returns why an end of a channel could not be sent to `receiver`.
BrokerFault fault_of_send(const channel::SetupFault& fault, const std::string& receiver) {
  if (fault.number == ETOOMANYREFS)
    return {BrokerFault::Kind::no_room,
            "the system lets the user of corelane-nameserver have no more descriptors under way that were not "
            "received: raise its LimitNOFILE (ulimit -n), or end processes that ask for channels and accept none"};
  if (fault.number == EAGAIN || fault.number == ENOBUFS)
    return {BrokerFault::Kind::no_room, receiver + " has not accepted what was sent before: try again later"};
  return {BrokerFault::Kind::unknown_name, receiver + " is gone: " + fault.text};
}

}  // namespace

Expected<std::unique_ptr<Broker>, std::string> Broker::start(const std::string& path, BrokerLimits limits) {
  auto file = os::SocketPath::claim(path);
  if (!file) return "the broker of channels cannot listen at " + path + ": " + file.error().why;
  auto socket = file->listen(0666, SOCK_SEQPACKET);
  if (!socket) return "the broker of channels cannot listen at " + path + ": " + socket.error().why;
  os::refuse_descriptors(socket->get());  // clients send none
  os::Fd stop(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop) return std::string("the broker of channels has no descriptor left: raise ulimit -n");
  std::unique_ptr<Broker> made(new Broker(std::move(*file), std::move(*socket), std::move(stop), limits));
  auto thread = os::plain_thread<std::jthread>([self = made.get()] { self->serve(); });
  if (!thread) return "no channels by name: " + std::string(minor::text(thread.error().minor));
  made->thread_ = std::move(*thread);
  return made;
}

Broker::Broker(os::SocketPath file, os::Fd socket, os::Fd stop, BrokerLimits limits)
    : path_(file.path()), stop_(std::move(stop)), limits_(limits), file_(std::move(file)), socket_(std::move(socket)) {}

Broker::~Broker() { eventfd_write(stop_.get(), 1); }

void Broker::serve() {
  std::vector<std::size_t> ready;
  bool can_accept = false;
  while (wait(ready, can_accept)) {
    // In reverse order, so that a removal does not move an entry that is still to be read.
    for (auto index = ready.rbegin(); index != ready.rend(); ++index)
      if (!handle_message(*connections_[*index])) remove(*index);
    std::erase_if(connections_,
                  [](const auto& connection) { return connection->is_draining && connection->unaccepted.size() == 0; });
    if (can_accept) accept_connection();
    restore_socket();
  }
}

// Makes the socket again if it was removed. Its lock file may still exist, and belongs to this process. Existing
// services and channels stay.
void Broker::restore_socket() {
  const Time now = os::now();
  if (now < next_look_ || now < retry_.due()) return;
  next_look_ = now + std::chrono::milliseconds{pause_for_path};
  struct stat found {};
  if (::lstat(path_.c_str(), &found) == 0 || (errno != ENOENT && errno != ENOTDIR)) return;
  const std::string directory = path_.substr(0, path_.rfind('/'));
  if (::lstat(directory.c_str(), &found) != 0) (void)os::make_directory(directory);
  ::unlink((path_ + ".lock").c_str());
  auto file = os::SocketPath::claim(path_);
  auto socket = file ? file->listen(0666, SOCK_SEQPACKET) : Expected<os::Fd, os::PathRefusal>(file.error());
  if (!socket) {
    if (retry_.failed(now))
      os::log::warn("the broker's socket " + path_ + " was removed and cannot be made again: " + socket.error().why +
                    "; this is tried every few seconds");
    return;
  }
  retry_.succeeded();
  os::refuse_descriptors(socket->get());
  file_.reset();
  file_.emplace(std::move(*file));
  socket_ = std::move(*socket);
  os::log::warn("the broker's socket " + path_ + " was removed while it listened there; it is there again");
}

// Returns, in order, which processes have sent something or have closed, and whether a new process connects. Returns
// false when the broker must stop.
bool Broker::wait(std::vector<std::size_t>& ready, bool& can_accept) {
  std::vector<pollfd> watched{{stop_.get(), POLLIN, 0}, {lacks_descriptors_ ? -1 : socket_.get(), POLLIN, 0}};
  bool some_drain = false;
  for (const auto& connection : connections_) {
    some_drain |= connection->is_draining;
    // A client that is draining is checked from time to time, not polled. It may have shut down both directions, which
    // poll() would report without end, although it has received nothing yet.
    watched.push_back({connection->is_draining ? -1 : connection->socket.get(), POLLIN, 0});
  }
  poll(watched.data(), watched.size(),
       lacks_descriptors_ ? pause_without_descriptors
       : some_drain       ? pause_while_draining
                          : pause_for_path);
  lacks_descriptors_ = false;
  for (const auto& connection : connections_)
    if (connection->unaccepted.size() > 0) connection->unaccepted.look(connection->socket);
  ready.clear();
  for (std::size_t i = 2; i < watched.size(); ++i)
    if (watched[i].revents != 0) ready.push_back(i - 2);
  can_accept = watched[1].revents != 0;
  return watched[0].revents == 0;
}

void Broker::accept_connection() {
  os::PeerSocket socket(os::Fd(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)));
  if (!socket) {
    lacks_descriptors_ = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS;
    return;
  }
  Connection connection{.socket = std::move(socket)};
  connection.peer = channel::peer_of(connection.socket);
  if (connections_.size() >= limits_.connections ||
      connections_of(connection.peer.user) >= limits_.connections_of_a_user) {
    refuse(connection, BrokerFault::Kind::no_room,
           "as many processes as the broker serves are connected to it: end some");
    return;
  }
  connections_.push_back(std::make_unique<Connection>(std::move(connection)));
}

bool Broker::handle_message(Connection& connection) {
  const auto message = receive_message(connection.socket, Time{});
  if (!message || !connection.name.empty()) return false;  // closed, or a service that sends something
  if (message->words[0] == "register" && message->words.size() == 3) return register_service(connection, *message);
  if (message->words[0] == "open" && message->words.size() == 3) return open_channel(connection, *message);
  return false;
}

bool Broker::register_service(Connection& connection, const BrokerMessage& message) {
  const std::string& name = message.words[1];
  const auto access = parse_access(message.words[2]);
  if (!is_service_name(name) || !access)
    return refuse(connection, BrokerFault::Kind::bad_name, "the name of the service, or the access list, is not valid");
  if (const Connection* taken = service_of(name))
    return refuse(connection, BrokerFault::Kind::name_taken,
                  "'" + name + "' is the name of process " + std::to_string(taken->peer.process) +
                      ": end that one, or take another name");
  if (services_.size() >= limits_.services)
    return refuse(connection, BrokerFault::Kind::no_room,
                  "the broker has " + counted(services_.size(), "service") + ", and no room for more: end some");
  if (const std::size_t held = services_of(connection.peer.user); held >= limits_.services_of_a_user)
    return refuse(connection, BrokerFault::Kind::no_room,
                  "user " + std::to_string(connection.peer.user) + " has " + counted(held, "service") +
                      ", as many as one user may have: end some");
  if (!send_message(connection.socket, "registered")) return false;
  connection.name = name;
  connection.access = *access;
  services_[name] = &connection;
  return true;
}

// The access lists of both sides are checked here, where the kernel gives the credentials of both.
bool Broker::open_channel(Connection& client, const BrokerMessage& message) {
  const std::string& name = message.words[1];
  const auto access = parse_access(message.words[2]);
  if (!access) return refuse(client, BrokerFault::Kind::bad_name, "that is no access list");
  Connection* const service = service_of(name);
  if (service == nullptr)
    return refuse(client, BrokerFault::Kind::unknown_name,
                  "no service is called '" + name + "': start it, or see its name");
  if (!is_welcome(client.socket, service->access, service->peer.user))
    return refuse(client, BrokerFault::Kind::denied,
                  "user " + std::to_string(client.peer.user) + " is not on the access list of '" + name +
                      "', process " + std::to_string(service->peer.process));
  if (!is_welcome(service->socket, *access, client.peer.user))
    return refuse(client, BrokerFault::Kind::denied,
                  "'" + name + "' is process " + std::to_string(service->peer.process) + " of user " +
                      std::to_string(service->peer.user) + ", who is not on the access list of user " +
                      std::to_string(client.peer.user));
  if (service->unaccepted.size() >= limits_.unaccepted_of_service)
    return refuse(client, BrokerFault::Kind::no_room,
                  "'" + name + "' has not accepted " + counted(service->unaccepted.size(), "channel") +
                      " that others have asked for: try again later, or see why process " +
                      std::to_string(service->peer.process) + " accepts none");
  if (const std::size_t unaccepted = unaccepted_of(client.peer.user); unaccepted >= limits_.unaccepted_of_user)
    return refuse(
        client, BrokerFault::Kind::no_room,
        "user " + std::to_string(client.peer.user) + " has asked for channels of which " +
            counted(unaccepted, "end is", "ends are") +
            " not accepted, as many as one user may have: wait until they are accepted, or end the process that asked");
  return send_ends(client, *service);
}

bool Broker::send_ends(Connection& client, Connection& service) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return refuse(client, BrokerFault::Kind::no_room,
                  std::string("the broker has no descriptors left: ") + strerror(errno));
  const os::Fd for_service(ends[0]), for_client(ends[1]);
  if (const auto sent = send_message(service.socket, channel_text(client.peer), for_service.get()); !sent)
    return refuse(client, fault_of_send(sent.error(), "'" + service.name + "'"));
  service.unaccepted.add(client.peer.user);
  if (const auto sent = send_message(client.socket, channel_text(service.peer), for_client.get()); !sent)
    return refuse(client, fault_of_send(sent.error(), "this process"));
  client.unaccepted.add(client.peer.user);
  return true;
}

bool Broker::refuse(Connection& connection, const BrokerFault& fault) {
  return send_message(connection.socket, refusal_text(fault)).has_value();
}

bool Broker::refuse(Connection& connection, BrokerFault::Kind kind, const std::string& text) {
  return refuse(connection, {kind, text});
}

// Removes the name of the process. If the process has not received all channels that it asked for, its entry stays, and
// it is not read any more. Closing its socket here would leave their descriptors in flight, but uncounted.
void Broker::remove(std::size_t index) {
  Connection& connection = *connections_[index];
  if (!connection.name.empty()) services_.erase(connection.name);
  if (connection.unaccepted.size() > 0) {
    connection.is_draining = true;
    shutdown(connection.socket.get(), SHUT_WR);
    return;
  }
  connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(index));
}

Broker::Connection* Broker::service_of(const std::string& name) {
  const auto found = services_.find(name);
  return found == services_.end() ? nullptr : found->second;
}

std::size_t Broker::connections_of(uid_t user) const {
  return static_cast<std::size_t>(std::count_if(connections_.begin(), connections_.end(),
                                                [&](const auto& connection) { return connection->peer.user == user; }));
}

std::size_t Broker::services_of(uid_t user) const {
  return static_cast<std::size_t>(std::count_if(services_.begin(), services_.end(),
                                                [&](const auto& entry) { return entry.second->peer.user == user; }));
}

std::size_t Broker::unaccepted_of(uid_t user) const {
  std::size_t unaccepted = 0;
  for (const auto& connection : connections_) unaccepted += connection->unaccepted.of(user);
  return unaccepted;
}

}  // namespace corelane::nameserver
