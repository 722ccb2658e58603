// Functions of Orb that start to listen, run, shut down and destroy it.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/base/thread_safety.h"
#include "orb/core/client/name_service.h"
#include "orb/core/contracts/contracts_file.h"
#include "orb/core/contracts/refused_contracts.h"
#include "orb/core/contracts/slowdowns_file.h"
#include "orb/core/exception.h"
#include "orb/core/lifecycle/orb_state.h"
#include "orb/dispatch/leases/host_ledger.h"
#include "orb/dispatch/resources/resource_names.h"
#include "orb/dispatch/task_events.h"
#include "orb/giop/message.h"
#include "orb/leader_followers/transport.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/machine/topology.h"
#include "orb/os/process/error_capture.h"
#include "orb/os/process/fork_guard.h"
#include "orb/os/thread.h"
#include "orb/os/wait/wait.h"
#include "orb/transport/socket_transport.h"

namespace corelane::core {
namespace {

using errors::orb_destroyed;
// The standard's error if a thread would wait for itself. CORBA 3.3 part 1, A.5: BAD_INV_ORDER, OMG minor 3.
constexpr Error would_deadlock{ErrorKind::bad_inv_order, Completion::no, minor::omg | 3};

// The least time for a handshake, also in a server whose own calls have shorter timeouts.
constexpr std::chrono::seconds shortest_handshake{2};

// Returns CloseConnection in the version that every client reads. A client that gets it may send its requests again,
// since none of them ran. CORBA 3.3 part 2, 9.5.1.1.
Bytes farewell() {
  static const std::vector<std::byte> message = [] {
    cdr::Writer writer;
    giop::write_close_connection(writer, giop::giop_1_0);
    return std::vector<std::byte>(writer.bytes().begin(), writer.bytes().end());
  }();
  return message;
}

std::unique_ptr<transport::Transport> make_sockets(transport::Reactor& reactor, const Settings& settings,
                                                   std::shared_ptr<transport::MemoryBudget> memory,
                                                   std::shared_ptr<transport::ConnectStop> connect_stop) {
  transport::TransportOptions options{.unix_sockets = settings.unix_sockets, .channel = settings.channel};
  transport::UnixOptions& unix_sockets = options.unix_sockets;
  unix_sockets.directory = runtime_directory_of(settings);
  if (!settings.naming.trusted.anyone) unix_sockets.guarded = nameserver_sockets(settings);
  for (const std::string& path : reservation_sockets(settings)) unix_sockets.guarded.push_back(path);
  unix_sockets.trusted = settings.naming.trusted.users;
  options.channel.directory = unix_sockets.directory;
  options.channel.handshake = std::max<Duration>(settings.connect_timeout, shortest_handshake);
  transport::ConnectionLimits limits = settings.connections;
  limits.memory = std::move(memory);
  limits.connect_stop = std::move(connect_stop);
  limits.farewell = farewell();
  return std::make_unique<transport::SocketTransport>(reactor, limits, options);
}

// The pool's threads wait at a priority above all tasks, and run a task's job at the task's priority.
Expected<std::unique_ptr<leader_followers::ThreadPool>> start_pool(const Settings& settings) {
  auto cores = follower_cores(settings);
  if (!cores) return cores.error();
  leader_followers::PoolOptions options = settings.followers;
  options.cores = std::move(*cores);
  options.wait = settings.executive.wait;
  options.stack = settings.executive.task_stack;
  if (settings.executive.real_time) options.fifo_priority = settings.executive.highest_native;
  return leader_followers::ThreadPool::start(options);
}

}  // namespace

Expected<std::shared_ptr<transport::Transport>> Orb::State::pooled_transport(Runtime& threads) {
  const auto reactor = threads.reactor();
  if (!reactor) return reactor.error();
  auto pool = start_pool(settings);
  if (!pool) return pool.error();
  auto made = std::make_shared<leader_followers::LeaderFollowersTransport>(
      make_sockets(**reactor, settings, memory, connect_stop), **reactor, std::move(*pool));
  const os::LockGuard lock(mutex);
  if (phase == Phase::destroyed) return orb_destroyed;
  pooled = std::move(made);
  return pooled;
}

Expected<std::shared_ptr<transport::Transport>> Orb::State::transport() {
  std::shared_ptr<Runtime> threads;
  const auto ready = [&] {
    const os::LockGuard lock(mutex);
    threads = runtime;
    return phase == Phase::destroyed || sockets;
  };
  const auto found = [&]() -> Expected<std::shared_ptr<transport::Transport>> {
    const os::LockGuard lock(mutex);
    if (phase == Phase::destroyed) return orb_destroyed;
    return sockets;
  };
  if (ready()) return found();
  const os::LockGuard one(starting);
  if (ready()) return found();
  const auto& executive = settings.executive;
  const std::array waits{settings.wait.mode, executive.wait.mode, executive.best_effort_wait.mode};
  const bool adapts = std::ranges::find(waits, os::WaitMode::adaptive) != waits.end();
  if (adapts) (void)os::wake_cost();  // measure it now, so that no call has to
  const auto reactor = threads->reactor();
  if (!reactor) return reactor.error();
  auto made = make_sockets(**reactor, settings, memory, connect_stop);
  const os::LockGuard lock(mutex);
  if (phase == Phase::destroyed) return orb_destroyed;
  sockets = std::move(made);
  return sockets;
}

Expected<ConnectionCache::Found> Orb::State::connect(std::span<const Address> addresses, Time deadline,
                                                     const ConnectionCache::Requirements& required) {
  const auto to = transport();
  if (!to) return to.error();
  const Time patience = os::now() + settings.connect_timeout;
  auto found = connections.acquire(**to, addresses, std::min(deadline, patience), required);
  // This was the timeout for connecting, not the call's deadline: the server is not there.
  if (!found && found.error().kind == ErrorKind::timeout && patience < deadline)
    return Error{ErrorKind::transient, Completion::no, minor::connect_failed};
  return found;
}

Expected<std::shared_ptr<ClientConnection>> Orb::State::connect(const Address& address, Time deadline) {
  auto found = connect(std::span(&address, 1), deadline);
  if (!found) return found.error();
  return std::move(found->connection);
}

std::shared_ptr<dispatch::Executive> Orb::State::runtime_executive() {
  std::shared_ptr<Runtime> threads;
  {
    const os::LockGuard lock(mutex);
    threads = runtime;
  }
  dispatch::Executive* const started = threads ? threads->started_executive() : nullptr;
  return {std::move(threads), started};
}

std::shared_ptr<dispatch::Executive> Orb::executive() {
  if (os::is_guarded_child()) raise(errors::forked);
  const os::CancellationDelay delay;
  std::shared_ptr<Runtime> runtime;
  {
    const os::LockGuard lock(state_->mutex);
    runtime = state_->runtime;
  }
  if (!runtime) raise(orb_destroyed);
  if (std::string differs = runtime->conflict(state_->settings); !differs.empty())
    raise(Error{ErrorKind::bad_param, Completion::no, minor::bad_option}, std::move(differs));
  os::log::ErrorCapture said;
  const auto executive = runtime->executive(state_->settings);
  if (!executive) raise(executive.error(), said.take());
  return {std::move(runtime), *executive};
}

void Orb::listen() {
  os::log::ErrorCapture said;
  const auto listening = start_listening();
  if (listening) return;
  if (std::string why = said.take(); !why.empty()) raise(listening.error(), std::move(why));
  raise_while("cannot listen on " + to_string(state_->settings.listen), listening.error());
}

Expected<void> Orb::start_listening() {
  if (os::is_guarded_child()) return errors::forked;
  const os::CancellationDelay delay;
  auto transport = state_->transport();
  if (!transport) return transport.error();
  constexpr Error ending{ErrorKind::bad_inv_order, Completion::no, minor::shutting_down};
  const os::LockGuard one(state_->starting);
  std::shared_ptr<Runtime> runtime;
  std::shared_ptr<RequestTarget> target;
  {
    const os::LockGuard lock(state_->mutex);
    if (state_->phase != State::Phase::running) return ending;
    if (state_->server) return {};
    if (!state_->target) return Error{ErrorKind::bad_inv_order, Completion::no, minor::no_such_adapter};
    runtime = state_->runtime;
    target = state_->target;
  }
  const Settings& settings = state_->settings;
  if (settings.memory > 0 && settings.memory < settings.giop.message_size)
    os::log::warn("limits.memory = " + std::to_string(settings.memory) +
                  " is less than limits.message_size = " + std::to_string(settings.giop.message_size) +
                  ": each client may still make this server hold one message of that size");
  // `mutex` is not held: this opens the ledger, makes threads and resolves names, and calls of other threads continue.
  // The executive comes first, since it refuses settings with which the pool's threads must not run.
  const auto executive = runtime->executive(state_->settings);
  if (!executive) return executive.error();
  if (state_->settings.executive.mode == dispatch::DispatchMode::leader_followers)
    transport = state_->pooled_transport(*runtime);
  if (!transport) return transport.error();
  auto server = std::make_shared<Server>(shared_from_this(), state_->settings, **executive, *target);
  if (const auto listening = server->listen(**transport); !listening) return listening.error();
  {
    const os::LockGuard lock(state_->mutex);
    if (state_->phase == State::Phase::running) {
      state_->server = std::move(server);
      return {};
    }
  }
  server->refuse_new_requests();  // the ORB was shut down meanwhile
  server->wait_until_idle();
  server->close_connections();
  return ending;
}

void Orb::run() { run_until_shutdown(std::nullopt); }

void Orb::run(Duration at_most) { run_until_shutdown(at_most); }

void Orb::State::tell_unused_contracts(ContractsFile::Look look) const {
  if (const auto refused = refused_contracts().rest()) os::log::warn(*refused);
  if ((!settings.contracts && !settings.slowdowns) || !serving()) return;
  if (settings.slowdowns)
    for (const std::string& line : settings.slowdowns->unused(look)) os::log::warn(line);
  if (!settings.contracts) return;
  for (const std::string& line : settings.contracts->unused(look)) os::log::warn(line);
  const auto resources = dispatch::remembered_resources();
  // While the server runs this is only a warning: a servant may make the resource later, for example in its first call.
  const auto say = look == ContractsFile::Look::running ? os::log::warn : os::log::error;
  for (const std::string& line : settings.contracts->unknown_resources(look, resources)) say(line);
}

void Orb::run_until_shutdown(std::optional<Duration> at_most) {
  if (os::is_guarded_child()) raise(errors::forked);
  const os::CancellationDelay delay;
  state_->tell_unused_contracts(ContractsFile::Look::running);
  if (state_->begin_run()) shutdown(false);
  {
    os::UniqueLock lock(state_->mutex);
    if (state_->phase == State::Phase::destroyed) raise(orb_destroyed);
    const auto ended = [&]() CORELANE_REQUIRES(state_->mutex) { return state_->phase >= State::Phase::shutting_down; };
    const auto now = std::chrono::steady_clock::now();
    // A span that reaches beyond the clock's last instant has no end.
    if (!at_most || *at_most >= std::chrono::steady_clock::time_point::max() - now) {
      state_->changed.wait(lock, ended);  // bound: until shutdown()
    } else if (!state_->changed.wait_until(lock, now + *at_most, ended)) {
      return;
    }
  }
  if (!inside_servant() && !dispatch::inside_event_handler()) state_->finish_shutdown();
}

bool Orb::State::begin_run() {
  const os::LockGuard lock(mutex);
  has_run = true;
  return std::exchange(stop_asked, false) && phase == Phase::running;
}

bool Orb::State::stop_in_run() {
  const os::LockGuard lock(mutex);
  if (has_run) return false;
  return stop_asked = true;
}

std::shared_ptr<Server> Orb::State::serving() const {
  const os::LockGuard lock(mutex);
  return server;
}

void Orb::State::finish_shutdown() {
  if (const auto old = serving()) {
    old->wait_until_idle();
    old->close_connections();
  }
  const os::LockGuard lock(mutex);
  if (phase == Phase::shutting_down) phase = Phase::shut_down;
}

void Orb::shutdown(bool wait_for_completion) {
  if (os::is_guarded_child()) raise(errors::forked);
  if (wait_for_completion && (inside_servant() || dispatch::inside_event_handler())) raise(would_deadlock);
  const os::CancellationDelay delay;
  std::shared_ptr<Server> server;
  std::shared_ptr<RequestTarget> target;
  bool first = false;
  {
    const os::LockGuard lock(state_->mutex);
    if (state_->phase == State::Phase::destroyed) raise(orb_destroyed);
    first = state_->phase == State::Phase::running;
    if (first) state_->phase = State::Phase::closing;
    server = state_->server;
    target = state_->target;
  }
  if (first) {
    if (server) {
      server->refuse_new_requests();
      target->stop_holding();
    }
    const os::LockGuard lock(state_->mutex);
    if (state_->phase == State::Phase::closing) state_->phase = State::Phase::shutting_down;
    state_->changed.notify_all();
  }
  if (!wait_for_completion) return;
  {
    // Bound: the code above, on another thread.
    os::UniqueLock lock(state_->mutex);
    state_->changed.wait(lock,
                         [&]() CORELANE_REQUIRES(state_->mutex) { return state_->phase != State::Phase::closing; });
  }
  state_->finish_shutdown();
}

// A second call returns when the first one is done, also on another thread.
void Orb::destroy() {
  if (inside_servant() || inside_reply_handler() || dispatch::inside_event_handler()) raise(would_deadlock);
  const os::CancellationDelay delay;
  try {
    shutdown(true);
  } catch (const SystemException& exception) {
    if (exception.error() != orb_destroyed) throw;
  }
  state_->end();
}

}  // namespace corelane::core
