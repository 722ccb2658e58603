// IncidentLog records a server's incidents. A job of the server's best-effort executor writes them to the log.
//
// Threads: any, real-time ones too, except for tell().
// Lifetime: that of its server. It keeps the server alive while its job is in progress.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "orb/core/requests/incidents.h"
#include "orb/dispatch/internal_job.h"

namespace corelane::core {

class PoaManagerState;
class Server;

class IncidentLog final : private dispatch::InternalJob {
 public:
  explicit IncidentLog(Server& server) noexcept : server_(server) {}

  // See Incidents.
  void oneway_dropped(std::string_view operation, const Error& reason) noexcept;
  void servant_threw(const ServantFailure& failure) noexcept;
  void client_cut_off(const Error& reason) noexcept;
  void too_large(std::string_view text) noexcept;
  // Notes a request that must wait at the POA manager. It is logged if it is the first that waits since the POA manager
  // began to hold.
  void request_held(PoaManagerState& manager_state, std::string_view operation) noexcept;
  std::uint64_t dropped_oneways() const noexcept { return incidents_.dropped_oneways(); }
  std::uint64_t cut_off_clients() const noexcept { return incidents_.cut_off_clients(); }
  // Counts a request that was not run because its client is gone or wants no reply any more. It is not logged, because
  // the client knows.
  void request_abandoned() noexcept { abandoned_.fetch_add(1, std::memory_order_relaxed); }  // relaxed: a count
  std::uint64_t abandoned_requests() const noexcept {
    return abandoned_.load(std::memory_order_relaxed);  // relaxed: a report
  }

  // Writes to the log what was not written yet.
  void tell() noexcept;

 private:
  void post() noexcept;
  void run(const dispatch::JobContext&) noexcept override { tell(); }
  void recycle() noexcept override;

  Server& server_;  // constant
  Incidents incidents_;
  std::atomic<std::uint64_t> abandoned_{0};
  std::shared_ptr<Server> kept_;  // owner: the thread that took the job, then the job
};

}  // namespace corelane::core
