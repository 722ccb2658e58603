#include "orb/core/server/incident_log.h"

#include <new>

#include "orb/core/objects/poa_manager_state.h"
#include "orb/core/server/server.h"
#include "orb/os/clock.h"
#include "orb/os/log.h"

namespace corelane::core {

void IncidentLog::oneway_dropped(std::string_view operation, const Error& reason) noexcept {
  if (incidents_.oneway_dropped(operation, reason, os::now())) post();
}

void IncidentLog::servant_threw(const ServantFailure& failure) noexcept {
  if (incidents_.servant_threw(failure, os::now())) post();
}

void IncidentLog::client_cut_off(const Error& reason) noexcept {
  if (incidents_.client_cut_off(reason, os::now())) post();
}

void IncidentLog::too_large(std::string_view text) noexcept {
  if (incidents_.too_large(text, os::now())) post();
}

void IncidentLog::request_held(PoaManagerState& manager_state, std::string_view operation) noexcept {
  if (manager_state.take_unlogged() && incidents_.request_held(operation, os::now())) post();
}

void IncidentLog::tell() noexcept try {
  for (const std::string& line : incidents_.lines(os::now())) os::log::warn(line);
} catch (const std::bad_alloc&) {  // some lines are lost; the counts are not
}

// Submits the job that writes to the log. If the executor is full or the server ends, the next incident or the server's
// end logs this one.
void IncidentLog::post() noexcept {
  // PAIR incident_log.posted: acquire here <- release in recycle(). The job is free.
  if (posted_.exchange(true, std::memory_order_acquire)) return;
  if (server_.requests().enter() != Passage::active) return posted_.store(false, std::memory_order_release);
  kept_ = server_.shared_from_this();
  arrived = os::now();
  dispatch::JobPtr job(this);
  (void)server_.executive().submit(job);
}

void IncidentLog::recycle() noexcept {
  const std::shared_ptr<Server> server = std::move(kept_);
  // PAIR incident_log.posted: release here -> acquire in post().
  posted_.store(false, std::memory_order_release);
  server->requests().leave();
}

}  // namespace corelane::core
