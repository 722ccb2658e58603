#include "orb/core/server.h"

#include <algorithm>

#include "orb/core/advertised_host.h"
#include "orb/core/server_connection.h"
#include "orb/core/server_job.h"
#include "orb/os/log.h"

namespace corelane::core {

Server::Server(std::shared_ptr<Orb> orb, const Settings& settings, dispatch::Executive& executive,
               RequestTarget& target)
    : settings_(settings), executive_(executive), target_(target), environment_(std::move(orb)) {
  jobs_.reserve(kept_jobs);
}

Server::~Server() = default;

Expected<void> Server::listen(transport::Transport& transport) {
  auto listener = transport.listen(settings_.listen, [weak = weak_from_this()](auto stream) {
    if (const auto server = weak.lock()) server->accept(std::move(stream));
  });
  if (!listener) return listener.error();
  listener_ = std::move(*listener);
  endpoint_ = listener_->endpoint();
  AdvertisedHost named = advertised_host(endpoint_.host, settings_.advertised_host, os::host_addresses());
  if (!named.remark.empty()) os::log::info(named.remark);
  endpoint_.host = std::move(named.host);
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
  if (listener_) listener_->stop();
  requests_.set(Passage::inactive);
}

void Server::close_connections() {
  for (const auto& connection : connections()) connection->close_orderly();
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
