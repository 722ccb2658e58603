// Server: the listening side of one ORB: its listener, its connections, and the pool of jobs that carry their requests.
//
// Threads: start(), stop() and their like on ordinary threads; connections are read on the reactor's thread.
// Lifetime: connections and jobs under way keep the server alive; it holds its connections weakly.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "orb/core/incident_log.h"
#include "orb/core/reference.h"
#include "orb/core/settings.h"
#include "orb/core/target.h"
#include "orb/core/turnstile.h"
#include "orb/dispatch/executive.h"
#include "orb/transport/connection.h"
#include "orb/transport/transport.h"

namespace corelane::core {

class ServerConnection;
class ServerJob;
class TaskOffers;

class Server : public std::enable_shared_from_this<Server> {
 public:
  // All arguments outlive the server's last connection and job; destroy() of the ORB sees to it.
  Server(std::shared_ptr<Orb> orb, const Settings& settings, dispatch::Executive& executive, RequestTarget& target);
  ~Server();

  // At every endpoint of endpoint.listen, or at none; and at those for clients of this host (endpoint.local). One whose
  // path was left to us is forgone with a warning where there are others.
  Expected<void> listen(transport::Transport& transport);
  // As references name them.
  const std::vector<transport::Endpoint>& endpoints() const noexcept { return endpoints_; }

  // New connections and requests are turned away from here on; idempotent.
  void refuse_newcomers();
  // Returns when no request is under way. After refuse_newcomers(); not from inside a request.
  void wait_until_idle() { requests_.wait_until_empty(); }
  // Says CloseConnection to all peers, and closes as soon as each has all that was sent to it, or after timeout.flush.
  // The log hears the last of what went wrong. Not on the reactor's thread.
  void close_connections();

  // For connections and jobs.
  const Settings& settings() const noexcept { return settings_; }
  dispatch::Executive& executive() noexcept { return executive_; }
  RequestTarget& target() noexcept { return target_; }
  cdr::Environment* environment() noexcept { return &environment_; }
  // active: the request counts until its job leaves.
  Turnstile& requests() noexcept { return requests_; }
  // The thread's own job, or one of the pool of all threads, or a new one; std::bad_alloc.
  std::unique_ptr<ServerJob> take_job();
  void give_back(std::unique_ptr<ServerJob> job) noexcept;
  TaskOffers& offers() noexcept { return *offers_; }
  IncidentLog& incidents() noexcept { return incidents_; }

 private:
  static constexpr std::size_t kept_jobs = 1024,
                               most_kept_bytes =
                                   4 * 1024 * 1024;  // in their buffers, but for jobs that threads keep for themselves
  Expected<void> listen_at(transport::Transport& transport, const transport::Endpoint& endpoint);
  void advertise();
  bool lacks(transport::EndpointKind kind) const;
  std::vector<transport::Endpoint> wanted() const;
  void accept(std::shared_ptr<transport::Connection> stream);
  std::vector<std::shared_ptr<ServerConnection>> connections();

  // Constant after listen().
  const Settings& settings_;
  dispatch::Executive& executive_;
  RequestTarget& target_;
  ReferenceEnvironment environment_;
  std::vector<transport::Endpoint> endpoints_;
  std::vector<std::unique_ptr<transport::Listener>> listeners_;

  const std::unique_ptr<TaskOffers> offers_;
  Turnstile requests_{Passage::active};
  IncidentLog incidents_{*this};
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::weak_ptr<ServerConnection>> connections_;
  os::PiMutex jobs_mutex_;
  // Guarded by jobs_mutex_.
  std::vector<std::unique_ptr<ServerJob>> jobs_;
  std::size_t kept_bytes_ = 0;
};

// Whether the calling thread runs a request for a client.
bool inside_request() noexcept;
// Whether it is in a servant, for a client or for a caller of this process: it must not wait for requests to end.
bool inside_servant() noexcept;
// The calling thread is, until destruction.
class InsideServant {
 public:
  InsideServant() noexcept { ++nested_; }
  ~InsideServant() { --nested_; }
  InsideServant(const InsideServant&) = delete;
  InsideServant& operator=(const InsideServant&) = delete;

 private:
  friend bool inside_servant() noexcept;
  static constinit thread_local int nested_;
};
// The connection over which the request came that the calling thread runs; 0: none, as in a call within the process.
PeerId calling_peer() noexcept;
// Who that is, as the kernel says. Nothing for a peer that came over the network, and where calling_peer() is 0.
std::optional<transport::PeerCredentials> calling_credentials() noexcept;
// The groups of its process, primary and supplementary: transport::Connection::groups().
std::vector<gid_t> calling_groups();
// The host that it came from, by its address; empty for one of this host that the kernel knows, and where
// calling_peer() is 0.
std::string calling_host();

}  // namespace corelane::core
