// What an ORB consists of. For orb/core alone.
//
// Threads: any; members that change are guarded as said.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "orb/core/async_calls.h"
#include "orb/core/connection_cache.h"
#include "orb/core/contracts_file.h"
#include "orb/core/orb.h"
#include "orb/core/reference.h"
#include "orb/core/reopener.h"
#include "orb/core/runtime.h"
#include "orb/core/server.h"
#include "orb/core/settings.h"
#include "orb/core/target.h"
#include "orb/os/fork_guard.h"
#include "orb/os/pi_mutex.h"
#include "orb/transport/transport.h"

namespace corelane::core {

struct Orb::State {
  State(std::uint64_t orb_number, std::string orb_id, Settings orb_settings)
      : number(orb_number),
        id(std::move(orb_id)),
        settings(std::move(orb_settings)),
        connections(
            settings.giop,
            {.channels = settings.channels, .connections = connections_of(settings), .connect_stop = connect_stop}) {}

  // The calling thread's connection to one of the addresses; made if need be. BAD_INV_ORDER after destroy().
  Expected<ConnectionCache::Found> connect(std::span<const Address> addresses, Time deadline,
                                           const ConnectionCache::Wish& wish = {});
  // The same of one address.
  Expected<std::shared_ptr<ClientConnection>> connect(const Address& address, Time deadline);
  Expected<std::shared_ptr<transport::Transport>> transport();
  // What a server of the mode `leader-followers` listens on: sockets behind a pool of threads. Caller holds `starting`.
  Expected<std::shared_ptr<transport::Transport>> pooled_transport(Runtime& threads);
  // Null when it does not listen.
  std::shared_ptr<Server> serving() const;
  // The second half of shutdown(), for whoever waits for its end. Not from inside a request.
  void finish_shutdown();
  // Null when this process serves nothing, or not any more.
  std::shared_ptr<dispatch::Executive> runtime_executive();

  // The last step of destroy(): objects, connections and threads go, and the ORB leaves the list of those that live.
  // Whoever comes second waits for the first.
  void end();

  // Constant after construction.
  const std::uint64_t number;  // in the order in which the ORBs of this process were initialized
  const std::string id;
  const Settings settings;
  // Of all accepted connections.
  const std::shared_ptr<transport::MemoryBudget> memory =
      std::make_shared<transport::MemoryBudget>(memory_bounds_of(settings));

  // Of all connects of this ORB.
  const std::shared_ptr<transport::ConnectStop> connect_stop = std::make_shared<transport::ConnectStop>();

  ConnectionCache connections;
  AsyncCalls async_calls;
  Reopener reopener;

  // Into the log: what contracts.file says of interfaces that no object here has. Nothing where this ORB does not
  // serve.
  void tell_unused_contracts(ContractsFile::Look look) const;

  // For StopSignals. Whether the first run() is to shut down at once; from then on stop_in_run() is false.
  bool begin_run();
  // A stop that comes before run() waits for it: what a program does before that does not fail.
  bool stop_in_run();

  // closing: somebody is turning newcomers away; shutting_down: there are none any more, old requests may run.
  enum class Phase { running, closing, shutting_down, shut_down, destroyed };
  // Who starts the transport or the server, which may take long. Taken before `mutex`.
  std::mutex starting;
  mutable os::PiMutex mutex;
  std::condition_variable_any changed;
  // Guarded by mutex.
  Phase phase = Phase::running;
  bool has_run = false;                                    // somebody has called run()
  bool stop_asked = false;                                 // the first run() shuts down at once
  std::optional<os::ForkGuard> fork_guard{std::in_place};  // until end()
  std::thread::id ender{};                                 // who is in end(), or was
  bool ended = false;                                      // end() is over
  std::shared_ptr<Runtime> runtime = Runtime::of_process();
  std::shared_ptr<transport::Transport> sockets;
  std::shared_ptr<transport::Transport> pooled;  // outlives the server that listens on it
  std::shared_ptr<Server> server;
  std::shared_ptr<RequestTarget> target;
  std::map<std::string, ObjectReference<Object>> initial;

  std::atomic<RequestTarget*> target_view{nullptr};  // target, for readers without the lock
};

}  // namespace corelane::core
