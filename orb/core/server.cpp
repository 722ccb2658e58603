#include "orb/core/server.h"

#include <algorithm>

#include "orb/core/advertised_host.h"
#include "orb/core/own_connection.h"
#include "orb/core/server_connection.h"
#include "orb/core/server_job.h"
#include "orb/os/log.h"

namespace corelane::core {

Server::Server(std::shared_ptr<Orb> orb, const Settings& settings, std::shared_ptr<giop::ByteBudget> half_messages,
               dispatch::Executive& executive, RequestTarget& target)
    : settings_(settings),
      half_messages_(std::move(half_messages)),
      executive_(executive),
      target_(target),
      environment_(std::move(orb)),
      offers_(std::make_unique<TaskOffers>()) {
  jobs_.reserve(kept_jobs);
}

Server::~Server() = default;

Expected<void> Server::listen(transport::Transport& transport) {
  for (const transport::Endpoint& endpoint : settings_.listen) {
    const auto listening = listen_at(transport, endpoint);
    if (listening) continue;
    const bool left_to_us = endpoint.kind != transport::EndpointKind::tcp && endpoint.path.empty();
    if (!left_to_us || settings_.listen.size() < 2) return listening.error();
    os::log::warn(endpoint.kind == transport::EndpointKind::channel
                      ? "no channels: clients of this host use sockets, which take longer; see endpoint.listen"
                      : "no Unix socket: clients of this host use TCP, which takes longer; see endpoint.listen");
  }
  return {};
}

Expected<void> Server::listen_at(transport::Transport& transport, const transport::Endpoint& endpoint) {
  auto listener = transport.listen(endpoint, [weak = weak_from_this()](auto stream) {
    if (const auto server = weak.lock()) server->accept(std::move(stream));
  });
  if (!listener) return listener.error();
  listeners_.push_back(std::move(*listener));
  endpoints_.push_back(listeners_.back()->endpoint());
  if (endpoint.kind != transport::EndpointKind::tcp) return {};
  transport::Endpoint& told = endpoints_.back();
  AdvertisedHost named = advertised_host(told.host, settings_.advertised_host, os::host_addresses());
  if (!named.remark.empty()) os::log::info(named.remark);
  told.host = std::move(named.host);
  return {};
}

void Server::accept(std::shared_ptr<transport::Connection> stream) {
  auto connection = std::make_shared<ServerConnection>(shared_from_this(), stream);
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(connections_, [](const auto& weak) { return weak.expired(); });
    connections_.push_back(connection);
  }
  stream->watch(connection);
}

std::vector<std::shared_ptr<ServerConnection>> Server::connections() {
  std::vector<std::shared_ptr<ServerConnection>> result;
  const std::lock_guard lock(mutex_);
  for (const auto& weak : connections_)
    if (auto connection = weak.lock()) result.push_back(std::move(connection));
  return result;
}

void Server::refuse_newcomers() {
  for (const auto& listener : listeners_) listener->stop();
  requests_.set(Passage::inactive);
}

void Server::close_connections() {
  for (const auto& connection : connections()) connection->close_orderly();
  incidents_.tell();
}

std::unique_ptr<ServerJob> Server::take_job() {
  {
    const std::lock_guard lock(jobs_mutex_);
    if (!jobs_.empty()) {
      auto job = std::move(jobs_.back());
      jobs_.pop_back();
      return job;
    }
  }
  return std::make_unique<ServerJob>();
}

void Server::give_back(std::unique_ptr<ServerJob> job) noexcept {
  const std::lock_guard lock(jobs_mutex_);
  if (jobs_.size() < kept_jobs) jobs_.push_back(std::move(job));
}

}  // namespace corelane::core
