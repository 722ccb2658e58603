#include "orb/core/server/server.h"

#include <algorithm>
#include <utility>

#include "orb/base/kept_by_thread.h"
#include "orb/base/minor.h"
#include "orb/core/config/advertised_host.h"
#include "orb/core/runtime.h"
#include "orb/core/server/dedicated_connection.h"
#include "orb/core/server/server_connection.h"
#include "orb/core/server/server_job.h"
#include "orb/os/clock.h"
#include "orb/os/log.h"
#include "orb/transport/tcp.h"

namespace corelane::core {

using transport::EndpointKind;

namespace {

// The job object in which the calling thread ran its last request without a contract, kept for its next one. The shared
// pool has a lock. Threads that serve connections of their own would wait for it at each request.
constinit thread_local ServerJob* own_job = nullptr;
constexpr std::size_t most_bytes_of_own = 8 * 1024;  // in the job's buffers
struct OwnJob {
  ~OwnJob() { delete std::exchange(own_job, nullptr); }
};

std::string taken_text(const transport::Endpoint& endpoint) {
  const transport::Endpoint free{.host = endpoint.host, .port = 0};
  return to_string(endpoint) + " is taken: `ss -lptn 'sport = :" + std::to_string(endpoint.port) +
         "'` shows which process has it, and -ORBEndpointListen " + to_string(free) + " takes a free port";
}

}  // namespace

Server::Server(std::shared_ptr<Orb> orb, const Settings& settings, dispatch::Executive& executive,
               RequestTarget& target)
    : settings_(settings),
      executive_(executive),
      target_(target),
      environment_(std::move(orb)),
      bind_tokens_(std::make_unique<BindTokens>()) {
  jobs_.reserve(kept_jobs);
}

Server::~Server() = default;

bool Server::lacks(EndpointKind kind) const {
  return std::none_of(settings_.listen.begin(), settings_.listen.end(),
                      [&](const transport::Endpoint& at) { return at.kind == kind; });
}

// Returns the configured endpoints. If the server listens on TCP, adds endpoints for clients of this host.
std::vector<transport::Endpoint> Server::wanted() const {
  std::vector<transport::Endpoint> all = settings_.listen;
  if (!settings_.local || lacks(EndpointKind::tcp)) return all;
  if (lacks(EndpointKind::unix_socket)) all.push_back(transport::unix_endpoint(""));
  if (lacks(EndpointKind::channel)) all.push_back(transport::channel_endpoint(""));
  return all;
}

Expected<void> Server::listen(transport::Transport& transport) {
  std::vector<transport::Endpoint> all = wanted();
  const std::string fault = runtime_directory_fault(settings_);
  const auto left_to_us = [](const transport::Endpoint& at) { return at.kind != EndpointKind::tcp && at.path.empty(); };
  if (!fault.empty() && !std::all_of(all.begin(), all.end(), left_to_us) && std::erase_if(all, left_to_us) > 0)
    os::log::warn("clients of this host have to use TCP, because there are no channels and no Unix socket: " + fault);
  for (const transport::Endpoint& endpoint : all) {
    const auto listening = listen_at_host(transport, endpoint);
    if (!listening && (!left_to_us(endpoint) || all.size() < 2)) return listening.error();
  }
  return {};
}

// A client that knows the host by its name may try only one of the name's addresses. So all of them have the same port.
// An address is left out if this host does not have it, or if a port that nobody chose is taken there.
Expected<void> Server::listen_at_host(transport::Transport& transport, const transport::Endpoint& endpoint) {
  const std::size_t before = listeners_.size();
  std::uint16_t port = endpoint.port;
  Expected<void> failed;
  for (transport::Endpoint place : transport::listening_places(endpoint)) {
    place.port = port;
    const auto listening = listen_at(transport, place);
    if (listening) {
      port = listeners_.back()->endpoint().port;
      continue;
    }
    failed = listening;
    const bool is_taken = listening.error().minor == minor::address_in_use && endpoint.kind == EndpointKind::tcp;
    if (!is_taken || port != endpoint.port) continue;
    os::log::error(taken_text(place));
    return failed;
  }
  return listeners_.size() > before ? Expected<void>() : failed;
}

Expected<void> Server::listen_at(transport::Transport& transport, const transport::Endpoint& endpoint) {
  auto listener = transport.listen(endpoint, [weak = weak_from_this()](auto stream) {
    if (const auto server = weak.lock()) server->accept(std::move(stream));
  });
  if (!listener) return listener.error();
  listeners_.push_back(std::move(*listener));
  endpoints_.push_back(listeners_.back()->endpoint());
  if (endpoint.kind != EndpointKind::tcp) return {};
  advertise();
  return {};
}

// Replaces the last endpoint, of TCP, by what references must contain.
void Server::advertise() {
  const transport::Endpoint bound = endpoints_.back();
  endpoints_.pop_back();
  for (transport::Endpoint told : settings_.advertised) {
    if (told.port == 0) told.port = bound.port;
    if (std::find(endpoints_.begin(), endpoints_.end(), told) == endpoints_.end()) endpoints_.push_back(told);
  }
  if (!settings_.advertised.empty()) return;
  AdvertisedHost named = advertised_host(bound.host, os::host_addresses());
  if (!named.remark.empty()) os::log::info(named.remark);
  endpoints_.push_back(bound);
  endpoints_.back().host = std::move(named.host);
}

void Server::accept(std::shared_ptr<transport::Connection> stream) {
  auto connection = std::make_shared<ServerConnection>(shared_from_this(), stream);
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(connections_, [](const auto& weak) { return weak.expired(); });
    connections_.push_back(connection);
  }
  connection->begin();
  if (!connection->serve_where_read()) stream->watch(connection);
}

std::vector<std::shared_ptr<ServerConnection>> Server::connections() {
  std::vector<std::shared_ptr<ServerConnection>> result;
  const std::lock_guard lock(mutex_);
  for (const auto& weak : connections_)
    if (auto connection = weak.lock()) result.push_back(std::move(connection));
  return result;
}

void Server::refuse_new_requests() {
  for (const auto& listener : listeners_) listener->stop();
  requests_.set(Passage::inactive);
}

void Server::close_connections() {
  const Time deadline = os::now() + settings_.flush_timeout;
  const auto all = connections();
  for (const auto& connection : all) connection->close_when_sent(deadline);
  for (const auto& connection : all) (void)connection->stream().wait_until_closed(deadline);
  incidents_.tell();
}

std::unique_ptr<ServerJob> Server::take_job() {
  if (own_job != nullptr) return std::unique_ptr<ServerJob>(std::exchange(own_job, nullptr));
  {
    const std::lock_guard lock(jobs_mutex_);
    if (!jobs_.empty()) {
      auto job = std::move(jobs_.back());
      jobs_.pop_back();
      kept_bytes_ -= job->kept_bytes();
      return job;
    }
  }
  return std::make_unique<ServerJob>();
}

void Server::give_back(std::unique_ptr<ServerJob> job) noexcept {
  const std::size_t bytes = job->kept_bytes();
  if (own_job == nullptr && job->task == no_task && bytes <= most_bytes_of_own && kept_by_thread<OwnJob>() != nullptr) {
    own_job = job.release();
    return;
  }
  const std::lock_guard lock(jobs_mutex_);
  if (jobs_.size() >= kept_jobs || bytes > most_kept_bytes - kept_bytes_) return;
  kept_bytes_ += bytes;
  jobs_.push_back(std::move(job));
}

}  // namespace corelane::core
