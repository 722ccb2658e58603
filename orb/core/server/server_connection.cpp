#include "orb/core/server/server_connection.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <thread>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/core/server/dedicated_connection.h"
#include "orb/core/server/served_connection.h"
#include "orb/dispatch/current.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"

namespace corelane::core {
namespace {

constexpr Error stalled{ErrorKind::timeout, Completion::no, minor::rest_missing};
constexpr std::size_t most_waiting = 64;  // waiting requests of a connection; beyond them it is not read
constexpr Error backlog_stalled{ErrorKind::transient, Completion::no, minor::send_backlogs};

// Returns whether the transport has closed the connection because of a limit.
bool is_of_limit(const Error& reason) noexcept {
  return reason.minor == minor::send_backlog || reason.minor == minor::send_backlogs ||
         reason.minor == minor::send_stalled || reason.minor == minor::channel_spoiled || reason == errors::no_memory;
}

}  // namespace

ServerConnection::ServerConnection(std::shared_ptr<Server> server, std::shared_ptr<transport::Connection> stream)
    : server_(std::move(server)),
      stream_(std::move(stream)),
      memory_(stream_->memory()),
      requests_(server_->settings().requests_per_connection),
      replies_(*server_, *stream_, requests_),
      reader_(*server_, *stream_, replies_, requests_, tasks_, std::make_unique<MessageQuota>(memory_)) {}

void ServerConnection::begin() noexcept {
  if (memory_) memory_->belongs_to(weak_from_this());
}

void ServerConnection::close_stalled(Stalled why) noexcept {
  why == Stalled::takes_nothing ? replies_.cut_off(backlog_stalled)
                                : replies_.refuse_incomplete(reader_.incomplete_request());
}

// Resumes reading, because there is memory again. If the connection waits because of its own requests, they keep it
// alive until they end.
void ServerConnection::on_room() noexcept {
  // PAIR server_connection.paused: acquire here <- release in read_on_when_there_is_room(). No thread reads meanwhile.
  if (paused_.exchange(false, std::memory_order_acquire)) {
    stream_->expect_by(reader_.deadline().renewed(os::now()));
    return stream_->resume_reading();
  }
  std::shared_ptr<ServedConnection> source;
  {
    const os::LockGuard lock(mutex_);
    source = source_.lock();
  }
  if (source) server_->executive().resume(source);
}

// Pauses reading while there is no memory for requests. If reading pauses, this thread must not touch the connection
// afterwards. No deadline applies meanwhile, since a message that is not read cannot become complete.
void ServerConnection::read_on_when_there_is_room() noexcept {
  if (!memory_ || !memory_->has_requests() || memory_->may_read()) return;
  stream_->expect_by(never);
  stream_->pause_reading();
  // PAIR server_connection.paused: release here -> acquire in on_room(). Publishes what is known of the incomplete
  // message.
  paused_.store(true, std::memory_order_release);
  if (memory_->may_read()) on_room();  // memory may have become free before the store
}

void ServerConnection::on_bytes(Bytes bytes, Time received) noexcept {
  while (reader_.take_message(*this, bytes, received)) continue;  // bound: each takes bytes
  took_bytes(received);
}

void ServerConnection::on_borrowed(transport::BorrowedBytes borrowed, Time received) noexcept {
  const Bytes bytes = borrowed.bytes;
  reader_.memory().borrow(std::move(borrowed));
  reader_.take_messages(*this, bytes, received);
  took_bytes(received);
}

// This thread must not touch the connection afterwards: see hand_over().
void ServerConnection::took_bytes(Time received) noexcept {
  if (!stream_->is_open()) return;
  if (binding_.is_bound()) {
    if (!binding_.is_lent()) return hand_over();
    binding_.owner()->stream_->renew();
  }
  const auto rest_by = reader_.update_deadline(received);
  if (reader_.use().is_plain()) {
    move_failed_ = false;
    if (read_elsewhere()) return;
  }
  if (rest_by) stream_->expect_by(*rest_by);
  read_on_when_there_is_room();
}

// Tries to give the connection to the threads that run requests. Does nothing and returns false if the connection has
// tasks: those threads would close it as idle if none of them is called.
bool ServerConnection::read_elsewhere() noexcept {
  const bool has_tasks = binding_.is_bound() || !tasks_.empty();
  if (has_tasks || move_failed_ || !server_->executive().serves_where_read()) return false;
  stream_->unwatch();
  if (serve_where_read()) return true;
  // The request threads do not take it now, for example because memory is short. It is tried again after as many
  // messages.
  move_failed_ = true;
  reader_.use().restart();
  reader_.deadline().reset();
  watch_again(os::now(), never);
  return true;
}

bool ServerConnection::serve_where_read() noexcept try {
  if (!server_->executive().serves_where_read()) return false;
  const Settings& settings = server_->settings();
  const std::size_t by_cores = std::max(8u, 2 * std::thread::hardware_concurrency());
  const RequestOrder::Limits limits{.parallel = settings.requests_parallel == 0 ? by_cores : settings.requests_parallel,
                                    .waiting = std::min(most_waiting, settings.requests_per_connection)};
  const auto source = std::make_shared<ServedConnection>(
      shared_from_this(), limits, settings.executive.best_effort_wait, reader_.deadline().renewed(os::now()));
  {
    const os::LockGuard lock(mutex_);
    source_ = source;
  }
  reader_.set_runs_requests(true);
  stream_->expect_by(never);
  stream_->read_by(source);
  // Without a limit, a client that stops would keep a thread for ever. So a message is read when all of it is there.
  stream_->take_arriving(settings.connections.header_timeout > Duration::zero());
  if (server_->executive().serve(source)) return true;
  stream_->take_arriving(false);
  reader_.set_runs_requests(false);
  return false;
} catch (const std::bad_alloc&) {
  stream_->take_arriving(false);
  reader_.set_runs_requests(false);
  return false;
}

Expected<std::size_t> ServerConnection::await_rest(transport::ArrivingBytes& arriving, std::size_t size,
                                                   Time received) noexcept {
  auto there = arriving.await(size, Time{});
  if (!there && there.error().kind == ErrorKind::timeout) {
    const dispatch::SuspensionScope waits(true, dispatch::WaitsFor::peer);
    there = arriving.await(size, reader_.deadline().of_message_from(received));
  }
  if (there) return there;
  if (there.error().minor == minor::deadline_passed) server_->incidents().client_cut_off(stalled);
  stream_->close();
  return there;
}

void ServerConnection::read_by_reactor(Bytes rest, Time received, Time half_by) noexcept {
  stream_->take_arriving(false);
  reader_.set_runs_requests(false);
  reader_.use().restart();
  reader_.take_messages(*this, rest, received);
  stream_->read_by({});
  if (binding_.is_bound() && stream_->is_open()) return hand_over();
  watch_again(received, half_by);
}

// Makes the task's thread read the connection. The calling thread must not touch it afterwards: the other one may begin
// at once.
void ServerConnection::hand_over() noexcept try {
  auto own = std::make_shared<DedicatedConnection>(shared_from_this(), binding_.take_request());
  stream_->unwatch();
  stream_->expect_by(never);
  reader_.deadline().reset();
  binding_.read_by_task();
  server_->executive().attach(binding_.reading_task(), binding_.owner()->id(), std::move(own));
} catch (const std::bad_alloc&) {
  reader_.refuse(errors::no_memory);
}

// Its traffic also keeps the connection that owns the task from being idle.
Expected<ServerConnection::Taken> ServerConnection::take_bytes(MutableBytes buffer) noexcept {
  MessageMemory& memory = reader_.memory();
  const auto arrival = stream_->take(buffer, memory.piece());
  if (!arrival) return arrival.error();
  binding_.owner()->stream_->renew();
  if (memory.is_shared()) return Taken{.bytes = memory.piece().bytes, .at = arrival->at};
  return Taken{
      .bytes = Bytes(buffer).first(arrival->count), .at = arrival->at, .drained = arrival->count < buffer.size()};
}

dispatch::JobSource::Found ServerConnection::next_job(Bytes& bytes, Time received, dispatch::JobPtr& job) noexcept {
  reader_.take_message(*this, bytes, received);
  if (bytes.empty()) reader_.memory().release();
  if (auto own = reader_.take_job()) return job = std::move(own), dispatch::JobSource::Found::job;
  if (!stream_->is_open()) return dispatch::JobSource::Found::end;
  return reader_.deadline().completed() ? dispatch::JobSource::Found::bytes : dispatch::JobSource::Found::piece;
}

void ServerConnection::release() noexcept {
  reader_.memory().release();
  replies_.close_orderly();
  watch_again();
}

void ServerConnection::lend(Bytes rest, Time received, Time half_by) noexcept {
  binding_.read_by_others();
  binding_.lend_on(true);
  reader_.take_messages(*this, rest, received);
  watch_again(received, half_by);
}

// Makes the reactor read again. `half_by`: the deadline for an incomplete message, unless its first bytes came in what
// was read at `now`. The calling thread must not touch the connection afterwards.
void ServerConnection::watch_again(Time now, Time half_by) noexcept {
  stream_->expect_by(reader_.update_deadline(now).value_or(half_by));
  watch_again();
}

void ServerConnection::watch_again() noexcept {
  try {
    stream_->watch(shared_from_this());
  } catch (const std::bad_alloc&) {
    stream_->close();  // no thread would notice its end
    on_closed(errors::no_memory);
  }
}

void ServerConnection::on_closed(Error reason) noexcept {
  if (is_of_limit(reason)) server_->incidents().client_cut_off(reason);
  if (reason.minor == minor::deadline_passed) server_->incidents().client_cut_off(stalled);
  reader_.drop();  // free its memory, since jobs may keep this connection for long
  requests_.give_up();
  leave_tasks();
}

void ServerConnection::leave_tasks() noexcept {
  tasks_.clear();
  server_->bind_tokens().withdraw(id());
  server_->executive().peer_gone(id());
}

// A connection that owns tasks is never idle: closing it would end them. An incomplete message does not count: its
// request did not run, and the client sends it again.
bool ServerConnection::is_idle() noexcept { return !binding_.is_bound() && tasks_.empty() && requests_.empty(); }

}  // namespace corelane::core
