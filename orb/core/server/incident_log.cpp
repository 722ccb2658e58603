#include "orb/core/server/incident_log.h"

#include <new>

#include "orb/core/objects/poa_manager_state.h"
#include "orb/core/server/server.h"
#include "orb/os/clock.h"
#include "orb/os/log.h"

namespace corelane::core {

void IncidentLog::oneway_dropped(std::string_view operation, const Error& reason) noexcept {
  if (incidents_.note(Incidents::Kind::oneway_dropped, operation, os::now(), reason)) post();
}

void IncidentLog::servant_threw(const ServantFailure& failure) noexcept {
  if (incidents_.servant_threw(failure, os::now())) post();
}

void IncidentLog::client_cut_off(const Error& reason) noexcept {
  if (incidents_.note(Incidents::Kind::client_cut_off, "", os::now(), reason)) post();
}

void IncidentLog::too_large(std::string_view text) noexcept {
  if (incidents_.note(Incidents::Kind::too_large, text, os::now())) post();
}

void IncidentLog::request_held(PoaManagerState& manager_state, std::string_view operation) noexcept {
  if (!manager_state.take_unlogged()) return;
  if (incidents_.note(Incidents::Kind::request_held, operation, os::now())) post();
}

void IncidentLog::tell() noexcept try {
  for (const std::string& line : incidents_.lines(os::now())) os::log::warn(line);
} catch (const std::bad_alloc&) {  // some lines are lost; the counts are not
}

// Submits the job that writes to the log. If the executor is full or the server ends, the next incident or the server's
// end logs this one.
void IncidentLog::post() noexcept {
  dispatch::JobPtr job = take();
  if (!job || server_.requests().enter() != Passage::active) return;
  kept_ = server_.shared_from_this();
  (void)server_.executive().submit(job);
}

void IncidentLog::recycle() noexcept {
  const std::shared_ptr<Server> server = std::move(kept_);  // null: the server had ended before the job was submitted
  put_back();
  if (server) server->requests().leave();
}

}  // namespace corelane::core
