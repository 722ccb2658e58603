#include "orb/core/server/server.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "orb/core/config/advertised_host.h"
#include "orb/core/runtime.h"
#include "orb/core/server/dedicated_connection.h"
#include "orb/core/server/server_connection.h"
#include "orb/core/server/server_job.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/transport/transport_kind.h"

namespace corelane::core {

namespace {

// Returns whether the server chooses the path of this endpoint itself, in the runtime directory.
bool is_left_to_us(const transport::Endpoint& at) { return at.kind->offered_unasked && at.path.empty(); }

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

// Returns the configured endpoints. If one of them is for other hosts, adds one of each kind that is offered
// unasked, for clients of this host. What clients prefer comes last, so that the order of the endpoints stays as it is
// when a kind is added.
std::vector<transport::Endpoint> Server::wanted() const {
  std::vector<transport::Endpoint> all = settings_.listen;
  const auto is_for_others = [](const transport::Endpoint& at) { return !at.kind->of_this_host; };
  if (!settings_.local || std::ranges::none_of(settings_.listen, is_for_others)) return all;
  for (const auto* const kind : std::views::reverse(transport::transport_kinds()))
    if (kind->offered_unasked &&
        std::ranges::find(settings_.listen, kind, &transport::Endpoint::kind) == settings_.listen.end())
      all.push_back({.kind = kind});
  return all;
}

Expected<void> Server::listen(transport::Transport& transport) {
  std::vector<transport::Endpoint> all = wanted();
  const std::string fault = runtime_directory_fault(settings_);
  if (!fault.empty() && !std::all_of(all.begin(), all.end(), is_left_to_us) && std::erase_if(all, is_left_to_us) > 0)
    os::log::warn("clients of this host have to use TCP, because there are no channels and no Unix socket: " + fault);
  for (const transport::Endpoint& endpoint : all) {
    const auto listening = listen_at_host(transport, endpoint);
    if (!listening && (!is_left_to_us(endpoint) || all.size() < 2)) return listening.error();
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
    if (failed.error().minor == minor::address_in_use && port == endpoint.port) return failed;
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
  if (endpoint.kind->is_iiop) advertise();
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
    const os::LockGuard lock(mutex_);
    connections_.add(connection);
  }
  connection->begin();
  if (!connection->serve_where_read()) stream->watch(connection);
}

std::vector<std::shared_ptr<ServerConnection>> Server::connections() {
  const os::LockGuard lock(mutex_);
  return connections_.living();
}

void Server::refuse_new_requests() {
  for (const auto& listener : listeners_) listener->stop();
  requests_.set(Passage::inactive);
}

void Server::close_connections() {
  const Time deadline = os::now() + settings_.flush_timeout;
  const auto all = connections();
  for (const auto& connection : all) connection->replies().close_when_sent(deadline);
  for (const auto& connection : all) (void)connection->stream().wait_until_closed(deadline);
  incidents_.tell();
}

[[gnu::hot]] std::unique_ptr<ServerJob> Server::take_job() {
  if (ServerJob* const own = ServerJob::take_own()) return std::unique_ptr<ServerJob>(own);
  {
    const os::LockGuard lock(jobs_mutex_);
    if (!jobs_.empty()) {
      auto job = std::move(jobs_.back());
      jobs_.pop_back();
      kept_bytes_ -= job->kept_bytes();
      return job;
    }
  }
  return std::make_unique<ServerJob>();
}

[[gnu::hot]] void Server::give_back(std::unique_ptr<ServerJob> job) noexcept {
  const std::size_t bytes = job->kept_bytes();
  const os::LockGuard lock(jobs_mutex_);
  if (jobs_.size() >= kept_jobs || bytes > most_kept_bytes - kept_bytes_) return;
  kept_bytes_ += bytes;
  jobs_.push_back(std::move(job));
}

}  // namespace corelane::core
