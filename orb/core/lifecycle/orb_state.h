// Orb::State holds the parts of an ORB. Only orb/core uses it.
//
// Threads: any; members that change say what guards them.
//
// The folder orb/core/lifecycle joins the parts of an ORB, starts them, and ends them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "orb/base/thread_safety.h"
#include "orb/core/client/async_calls.h"
#include "orb/core/client/client_parts.h"
#include "orb/core/client/reference.h"
#include "orb/core/client/reopener.h"
#include "orb/core/connections/connection_cache.h"
#include "orb/core/contracts/contracts_file.h"
#include "orb/core/hooks/client_request_hook.h"
#include "orb/core/objects/object_dispatch.h"
#include "orb/core/orb.h"
#include "orb/core/runtime.h"
#include "orb/core/server/server.h"
#include "orb/core/settings.h"
#include "orb/os/mutex.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/process/fork_guard.h"
#include "orb/transport/transport.h"

namespace corelane::core {

struct Orb::State final : ClientParts {
  State(std::uint64_t orb_number, std::string orb_id, Settings orb_settings)
      : number(orb_number),
        id(std::move(orb_id)),
        settings(std::move(orb_settings)),
        connections(
            settings.giop,
            {.channels = settings.channels, .connections = connections_of(settings), .connect_stop = connect_stop}) {}

  Expected<ConnectionCache::Found> connect(std::span<const Address> addresses, Time deadline,
                                           const ConnectionCache::Requirements& required = {}) override;
  // Does the same for one address.
  Expected<std::shared_ptr<ClientConnection>> connect(const Address& address, Time deadline);
  Expected<std::shared_ptr<transport::Transport>> transport() override;
  // Returns the transport on which a server in the mode `leader-followers` listens: sockets that a pool of threads
  // reads.
  Expected<std::shared_ptr<transport::Transport>> pooled_transport(Runtime& threads) CORELANE_REQUIRES(starting);
  // Returns null if the ORB does not listen.
  std::shared_ptr<Server> serving() const;
  // Does the second half of shutdown(), for a caller that waits for its end. Not from inside a request.
  void finish_shutdown();
  std::shared_ptr<dispatch::Executive> runtime_executive() override;
  ConnectionCache& cache() noexcept override { return connections; }
  AsyncCalls& calls_in_background() noexcept override { return async_calls; }
  Reopener& reopener_of_tasks() noexcept override { return reopener; }

  // Does the last step of destroy(): ends objects, connections and threads, and removes the ORB from the registry. A
  // second caller waits for the first one.
  void end();

  // Constant after construction.
  const std::uint64_t number;  // in the order in which the ORBs of this process were initialized
  const std::string id;
  const Settings settings;
  const ClientHooks client_hooks{settings};
  // Counts the memory of all accepted connections.
  const std::shared_ptr<transport::MemoryBudget> memory =
      std::make_shared<transport::MemoryBudget>(memory_bounds_of(settings));

  // Stops all connection attempts of this ORB.
  const std::shared_ptr<transport::ConnectStop> connect_stop = std::make_shared<transport::ConnectStop>();

  ConnectionCache connections;
  AsyncCalls async_calls;
  Reopener reopener;

  // Logs the entries of contracts.file and dispatch.slowdowns that are about no object here. Does nothing if this ORB
  // does not serve.
  void tell_unused_contracts(ContractsFile::Look look) const;

  // For StopSignals. Returns whether the first run() must shut down at once. From then on stop_in_run() returns false.
  bool begin_run();
  // Notes a stop before run() and returns true: the stop waits for run(), so that what the program does before does not
  // fail.
  bool stop_in_run();

  // closing: a thread is stopping the arrival of requests. shutting_down: no new requests come, running ones may
  // finish.
  enum class Phase { running, closing, shutting_down, shut_down, destroyed };
  // Held while the transport or the server starts, which may take long. Taken before `mutex`.
  os::Mutex starting;
  mutable os::PiMutex mutex;
  std::condition_variable_any changed;
  Phase phase CORELANE_GUARDED_BY(mutex) = Phase::running;
  bool has_run CORELANE_GUARDED_BY(mutex) = false;     // run() was called
  bool stop_asked CORELANE_GUARDED_BY(mutex) = false;  // the first run() shuts down at once
  std::optional<os::ForkGuard> fork_guard CORELANE_GUARDED_BY(mutex){std::in_place};  // until end()
  std::thread::id ender CORELANE_GUARDED_BY(mutex){};  // the thread that is in end(), or was
  bool ended CORELANE_GUARDED_BY(mutex) = false;       // end() is over
  std::shared_ptr<Runtime> runtime CORELANE_GUARDED_BY(mutex) = Runtime::of_process();
  std::shared_ptr<transport::Transport> sockets CORELANE_GUARDED_BY(mutex);
  // Outlives the server that listens on it.
  std::shared_ptr<transport::Transport> pooled CORELANE_GUARDED_BY(mutex);
  std::shared_ptr<Server> server CORELANE_GUARDED_BY(mutex);
  std::shared_ptr<RequestTarget> target CORELANE_GUARDED_BY(mutex);
  std::map<std::string, ObjectReference<Object>> initial CORELANE_GUARDED_BY(mutex);

  std::atomic<RequestTarget*> target_view{nullptr};  // `target`, for readers without the lock
};

}  // namespace corelane::core
