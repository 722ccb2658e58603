// Server is the listening side of one ORB. It holds the listeners, the connections, and the pool of jobs that carry
// requests.
//
// Threads: listen() and close_connections() on ordinary threads. The reactor's thread reads the connections, or the
// thread that runs their requests does.
// Lifetime: connections and current jobs keep the server alive; it holds its connections weakly.
//
// The folder orb/core/server receives requests, runs them, and sends the replies.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/thread_safety.h"
#include "orb/base/weak_list.h"
#include "orb/core/chains/inside_servant.h"
#include "orb/core/client/reference.h"
#include "orb/core/hooks/server_request_hook.h"
#include "orb/core/objects/entry_counter.h"
#include "orb/core/objects/object_dispatch.h"
#include "orb/core/server/incident_log.h"
#include "orb/core/settings.h"
#include "orb/dispatch/executive.h"
#include "orb/os/mutex.h"
#include "orb/transport/connection.h"
#include "orb/transport/transport.h"

namespace corelane::core {

class ServerConnection;
class ServerJob;
class BindTokens;

class Server : public std::enable_shared_from_this<Server> {
 public:
  // All arguments outlive the server's last connection and job; Orb::destroy() ensures this.
  Server(std::shared_ptr<Orb> orb, const Settings& settings, dispatch::Executive& executive, RequestTarget& target);
  ~Server();

  // Listens at every endpoint of endpoint.listen, or at none, and at the endpoints for clients of this host
  // (endpoint.local). At a host's name it listens at all addresses of the name that this host has. If a path that the
  // server chooses itself cannot be used and there are other endpoints, it logs a warning and omits that endpoint.
  Expected<void> listen(transport::Transport& transport);
  // Returns the endpoints as references contain them.
  const std::vector<transport::Endpoint>& endpoints() const noexcept { return endpoints_; }

  // Refuses new connections and requests from now on. Idempotent.
  void refuse_new_requests();
  // Blocks until no request is under way. Call it after refuse_new_requests(), and not from inside a request.
  void wait_until_idle() { requests_.wait_until_empty(); }
  // Sends CloseConnection to all peers. Closes each connection once the peer has received everything, or after
  // timeout.flush. Logs the remaining incidents. Not on the reactor's thread.
  void close_connections();

  // For connections and jobs.
  const Settings& settings() const noexcept { return settings_; }
  dispatch::Executive& executive() noexcept { return executive_; }
  RequestTarget& target() noexcept { return target_; }
  const ServerHooks& hooks() const noexcept { return hooks_; }
  cdr::Environment* environment() noexcept { return &environment_; }
  // If enter() returns `active`, the request counts until its job leaves.
  EntryCounter& requests() noexcept { return requests_; }
  // Returns the thread's own job, a job of the pool of all threads, or a new one. Raises std::bad_alloc.
  std::unique_ptr<ServerJob> take_job();
  // Gives a job to the pool of all threads.
  void give_back(std::unique_ptr<ServerJob> job) noexcept;
  BindTokens& bind_tokens() noexcept { return *bind_tokens_; }
  IncidentLog& incidents() noexcept { return incidents_; }

 private:
  // How many jobs the pool keeps, and how many bytes in their buffers. Jobs that threads keep for themselves do not
  // count.
  static constexpr std::size_t kept_jobs = 1024, most_kept_bytes = 4 * 1024 * 1024;
  Expected<void> listen_at_host(transport::Transport& transport, const transport::Endpoint& endpoint);
  Expected<void> listen_at(transport::Transport& transport, const transport::Endpoint& endpoint);
  void advertise();
  std::vector<transport::Endpoint> wanted() const;
  void accept(std::shared_ptr<transport::Connection> stream);
  std::vector<std::shared_ptr<ServerConnection>> connections();

  // Constant after listen().
  const Settings& settings_;
  const ServerHooks hooks_{settings_};
  dispatch::Executive& executive_;
  RequestTarget& target_;
  ReferenceEnvironment environment_;
  std::vector<transport::Endpoint> endpoints_;
  std::vector<std::unique_ptr<transport::Listener>> listeners_;

  const std::unique_ptr<BindTokens> bind_tokens_;
  EntryCounter requests_{Passage::active};
  IncidentLog incidents_{*this};
  os::Mutex mutex_;
  WeakList<ServerConnection> connections_ CORELANE_GUARDED_BY(mutex_);
  os::PiMutex jobs_mutex_;
  std::vector<std::unique_ptr<ServerJob>> jobs_ CORELANE_GUARDED_BY(jobs_mutex_);
  std::size_t kept_bytes_ CORELANE_GUARDED_BY(jobs_mutex_) = 0;
};

// Returns the connection of the request that the calling thread runs. Returns 0 if there is none, as in a call within
// the process.
PeerId calling_peer() noexcept;
// Returns the kernel's credentials of that peer. Returns nothing for a peer on the network, and if calling_peer() is 0.
std::optional<transport::PeerCredentials> calling_credentials() noexcept;
// Returns the primary and supplementary groups of the peer's process; see transport::Connection::groups().
std::vector<gid_t> calling_groups();
// Returns the address of the peer's host. Empty if the kernel knows the peer's credentials, and if calling_peer() is 0.
std::string calling_host();

}  // namespace corelane::core
