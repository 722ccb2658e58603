#include "orb/core/server/server_connection.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/core/chains/wire_chain.h"
#include "orb/core/connections/too_large.h"
#include "orb/core/server/dedicated_connection.h"
#include "orb/core/server/served_connection.h"
#include "orb/core/server/server_job.h"
#include "orb/dispatch/current.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/os/clock.h"

namespace corelane::core {
namespace {

using errors::shutting_down;
constexpr Error foreign_task{ErrorKind::bad_param, Completion::no, minor::unknown_task};
using errors::queue_full;

using errors::no_memory;
constexpr Error stalled{ErrorKind::timeout, Completion::no, minor::rest_missing};
// After so many messages in a row that no contract foresees, a connection without tasks is read like one that never had
// a task.
constexpr int requests_until_plain = 16;
constexpr std::size_t most_waiting = 64;  // waiting requests of a connection; beyond them it is not read
constexpr Error no_room{ErrorKind::transient, Completion::no, minor::half_messages};

constexpr Error backlog_stalled{ErrorKind::transient, Completion::no, minor::send_backlogs};

}  // namespace

// Half reports to the connection's memory account how much of an incomplete message the assembler holds. It also keeps
// which request that is. Threads: the reader's; request() any.
class ServerConnection::Half {
 public:
  explicit Half(std::shared_ptr<transport::MemoryAccount> account) : account_(std::move(account)) {}

  bool hold(std::size_t bytes, const giop::ReassemblyQuota::Request& request) noexcept {
    if (request || (bytes == 0 && is_known_)) {
      const std::lock_guard lock(mutex_);
      request_ = request;
      is_known_ = request.has_value();
    }
    if (!account_) return true;
    return account_->hold_half(bytes) && (waits_ || bytes <= uncounted || account_->may_keep_half());
  }
  // Sets whether the connection waits, unread, while there is no room for an incomplete message. Otherwise it ends.
  void set_waits(bool waits) noexcept { waits_ = waits; }

  giop::ReassemblyQuota::Request request() const noexcept {
    const std::lock_guard lock(mutex_);
    return request_;
  }

 private:
  static constexpr std::size_t uncounted = 64 * 1024;

  const std::shared_ptr<transport::MemoryAccount> account_;
  bool waits_ = false, is_known_ = false;
  mutable os::PiMutex mutex_;
  giop::ReassemblyQuota::Request request_;  // guarded by mutex_
};

class ServerConnection::MessageQuota final : public giop::ReassemblyQuota {
 public:
  explicit MessageQuota(std::shared_ptr<Half> half) noexcept : half_(std::move(half)) {}
  bool hold(std::size_t bytes, const Request& request) noexcept override { return half_->hold(bytes, request); }

 private:
  const std::shared_ptr<Half> half_;
};

ServerConnection::ServerConnection(std::shared_ptr<Server> server, std::shared_ptr<transport::Connection> stream)
    : server_(std::move(server)),
      stream_(std::move(stream)),
      memory_(stream_->memory()),
      memory_half_(std::make_shared<Half>(memory_)),
      assembler_(server_->settings().giop, giop::Role::server, std::make_unique<MessageQuota>(memory_half_)) {
  jobs_.reserve(16);
}

void ServerConnection::begin() noexcept {
  if (memory_) memory_->belongs_to(weak_from_this());
}

void ServerConnection::close_stalled(Stalled why) noexcept {
  why == Stalled::takes_nothing ? cut_off(backlog_stalled) : refuse_half(memory_half_->request());
}

// Refuses an incomplete request, because there is no room for the rest. If the request is known, the peer gets an
// exception and may try again over another connection. The readers of this and of another connection may find this at
// the same time; the first one sends the answer. Thread: any.
void ServerConnection::refuse_half(const giop::ReassemblyQuota::Request& request) noexcept {
  if (told_no_room_.exchange(true, std::memory_order_relaxed)) return;  // relaxed: it decides which thread is first
  server_->incidents().client_cut_off(no_room);
  cdr::Writer writer;
  if (!request)
    giop::write_message_error(writer, giop::giop_1_0);
  else if (request->response_expected)
    write_exception(writer, {.request_id = request->id, .version = request->version}, no_room, {}, nullptr);
  const bool is_made = request ? request->response_expected && giop::finish(writer) : writer.ok();
  if (is_made) send(writer.bytes());
  stream_->close();
}

// Resumes reading, because there is memory again. If the connection waits because of its own requests, they keep it
// alive until they end.
void ServerConnection::on_room() noexcept {
  // PAIR server_connection.paused: acquire here <- release in read_on_when_there_is_room(). No thread reads meanwhile.
  if (paused_.exchange(false, std::memory_order_acquire)) {
    const Duration patience = server_->settings().connections.header_timeout;
    stream_->expect_by(half_ && patience > Duration::zero() ? os::now() + patience : never);
    return stream_->resume_reading();
  }
  std::shared_ptr<ServedConnection> source;
  {
    const std::lock_guard lock(mutex_);
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
  while (take_message(bytes, received)) continue;  // bound: each takes bytes
  took_bytes(received);
}

void ServerConnection::on_borrowed(transport::BorrowedBytes borrowed, Time received) noexcept {
  Bytes bytes = borrowed.bytes;
  piece_ = std::move(borrowed);
  while (take_message(bytes, received)) continue;  // bound: each takes bytes
  piece_ = {};
  took_bytes(received);
}

// Returns what keeps the message's memory alive, for its job. When the piece is used up, only the job keeps it. So the
// memory has gone back before the peer gets the reply and may send as much again.
std::shared_ptr<const void> ServerConnection::storage_of(Bytes message) noexcept {
  auto storage = piece_.storage_of(message);
  if (storage && message.data() + message.size() == piece_.bytes.data() + piece_.bytes.size()) piece_ = {};
  return storage;
}

// This thread must not touch the connection afterwards: see hand_over().
void ServerConnection::took_bytes(Time received) noexcept {
  if (!stream_->is_open()) return;
  if (binding_.task != no_task) {
    if (!lent_.load(std::memory_order_relaxed)) return hand_over();  // relaxed: see lend_on()
    binding_.owner->stream_->renew();
  }
  const auto rest_by = half_message(received);
  if (since_task_ >= requests_until_plain) {
    move_failed_ = false;
    if (read_elsewhere()) return;
  }
  if (rest_by) stream_->expect_by(*rest_by);
  read_on_when_there_is_room();
}

// Tries to give the connection to the threads that run requests. Does nothing and returns false if the connection has
// tasks: those threads would close it as idle if none of them is called.
bool ServerConnection::read_elsewhere() noexcept {
  const bool has_tasks = binding_.task != no_task || !tasks_.empty();
  if (has_tasks || move_failed_ || !server_->executive().serves_where_read()) return false;
  stream_->unwatch();
  if (serve_where_read()) return true;
  // The request threads do not take it now, for example because memory is short. It is tried again after as many
  // messages.
  move_failed_ = true;
  since_task_ = 0;
  half_ = completed_ = false;  // its rest gets a new deadline
  stream_->expect_by(half_message(os::now()).value_or(never));
  watch_again();
  return true;
}

bool ServerConnection::serve_where_read() noexcept try {
  if (!server_->executive().serves_where_read()) return false;
  const Settings& settings = server_->settings();
  const std::size_t by_cores = std::max(8u, 2 * std::thread::hardware_concurrency());
  const RequestOrder::Limits limits{.parallel = settings.requests_parallel == 0 ? by_cores : settings.requests_parallel,
                                    .waiting = std::min(most_waiting, settings.requests_per_connection)};
  const Duration patience = settings.connections.header_timeout;
  const Time half_by = half_ && patience > Duration::zero() ? os::now() + patience : never;
  const auto source =
      std::make_shared<ServedConnection>(shared_from_this(), limits, settings.executive.best_effort_wait, half_by);
  {
    const std::lock_guard lock(mutex_);
    source_ = source;
  }
  set_served(true);
  stream_->expect_by(never);
  stream_->read_by(source);
  if (server_->executive().serve(source)) return true;
  return set_served(false);
} catch (const std::bad_alloc&) {
  return set_served(false);
}

bool ServerConnection::set_served(bool served) noexcept {
  memory_half_->set_waits(served);
  return served_ = served;
}

Expected<Bytes> ServerConnection::receive(MutableBytes buffer, Time until, os::WaitStrategy strategy,
                                          transport::BorrowedBytes& borrowed) noexcept {
  const auto count = stream_->receive(buffer, until, strategy, borrowed);
  if (!count) return count.error();
  if (borrowed.storage) return borrowed.bytes;
  return Bytes(buffer).first(*count);
}

ServerConnection::Step ServerConnection::next_request(Bytes& bytes, bool stays, Time received,
                                                      dispatch::JobPtr& job) noexcept {
  used_task_ = false;
  stays_ = stays && !lies_elsewhere(bytes) ? bytes : Bytes{};
  take_message(bytes, received);
  stays_ = {};
  if (bytes.empty()) piece_ = {};
  if (own_job_) return job = std::move(own_job_), Step::request;
  if (!stream_->is_open()) return Step::end;
  return used_task_ || binding_.task != no_task ? Step::tasks : Step::other;
}

void ServerConnection::read_by_reactor(Bytes rest, Time received, Time half_by) noexcept {
  set_served(false);
  since_task_ = 0;
  while (take_message(rest, received)) continue;  // bound: each takes bytes
  piece_ = {};
  stream_->read_by({});
  if (binding_.task != no_task && stream_->is_open()) return hand_over();
  stream_->expect_by(half_message(received).value_or(half_by));
  watch_again();
}

bool ServerConnection::lies_elsewhere(Bytes bytes) const noexcept {
  return piece_.storage && holds(piece_.bytes, bytes);
}

bool ServerConnection::remember_running(ServerJob& job) noexcept try {
  const std::lock_guard lock(mutex_);
  if (std::exchange(job.remembered_, true)) return true;
  jobs_.push_back(&job);
  return true;
} catch (const std::bad_alloc&) {
  return job.remembered_ = false;
}

bool ServerConnection::remember_waiting(ServerJob& job) {
  if (remember(job)) return true;
  send_exception(job.to(), queue_full);
  return false;
}

// Counts a message. The reactor's account is not charged if the thread that runs the requests reads the connection, or
// a task's thread.
void ServerConnection::note_use() noexcept {
  used_task_ = used_task_ || foreseen_;
  since_task_ = foreseen_ ? 0 : std::min(since_task_ + 1, requests_until_plain);
  if (!served_ && own_task_ == no_task) stream_->charge_message(foreseen_);
}

// Processes the next complete message. Returns false if there is none, or if the connection has ended.
bool ServerConnection::take_message(Bytes& bytes, Time received) noexcept try {
  const auto message = assembler_.next(bytes, received);
  if (!message) return broken(message.error()), false;
  if (!*message) return false;
  completed_ = true;
  if (!std::exchange(sent_message_, true)) stream_->note_first_message();
  foreseen_ = false;
  take(**message, received);
  note_use();
  return stream_->is_open();
} catch (const std::bad_alloc&) {
  return broken(no_memory), false;
}

std::optional<Time> ServerConnection::half_message(Time now) noexcept {
  const bool half = !assembler_.idle();
  const bool completed = std::exchange(completed_, false);
  // An incomplete message after a completed one gets a new deadline.
  if (half == half_ && !(half && completed)) return std::nullopt;
  half_ = half;
  const Duration patience = server_->settings().connections.header_timeout;
  return half && patience > Duration::zero() ? now + patience : never;
}

// Makes the task's thread read the connection. The calling thread must not touch it afterwards: the other one may begin
// at once.
void ServerConnection::hand_over() noexcept try {
  auto own = std::make_shared<DedicatedConnection>(shared_from_this(), std::exchange(binding_.request, std::nullopt));
  stream_->unwatch();
  stream_->expect_by(never);
  half_ = completed_ = false;  // its rest gets a new deadline
  own_task_ = binding_.task;
  server_->executive().attach(own_task_, binding_.owner->id(), std::move(own));
} catch (const std::bad_alloc&) {
  broken(no_memory);
}

// Its traffic also keeps the connection that owns the task from being idle.
Expected<ServerConnection::Taken> ServerConnection::take_bytes(MutableBytes buffer) noexcept {
  const auto arrival = stream_->take(buffer, piece_);
  if (!arrival) return arrival.error();
  binding_.owner->stream_->renew();
  if (piece_.storage) return Taken{.bytes = piece_.bytes, .at = arrival->at};
  return Taken{
      .bytes = Bytes(buffer).first(arrival->count), .at = arrival->at, .drained = arrival->count < buffer.size()};
}

// Processes one message at most.
dispatch::JobSource::Found ServerConnection::next_job(Bytes& bytes, Time received, dispatch::JobPtr& job) noexcept {
  take_message(bytes, received);
  if (bytes.empty()) piece_ = {};
  if (own_job_) return job = std::move(own_job_), dispatch::JobSource::Found::job;
  if (!stream_->is_open()) return dispatch::JobSource::Found::end;
  return completed_ ? dispatch::JobSource::Found::bytes : dispatch::JobSource::Found::piece;
}

void ServerConnection::release() noexcept {
  piece_ = {};
  close_orderly();
  watch_again();
}

void ServerConnection::lend(Bytes rest, Time received, Time half_by) noexcept {
  own_task_ = no_task;
  lend_on(true);
  while (take_message(rest, received)) continue;  // bound: each takes bytes
  piece_ = {};
  stream_->expect_by(half_message(received).value_or(half_by));
  watch_again();
}

// The calling thread must not touch the connection afterwards.
void ServerConnection::watch_again() noexcept {
  try {
    stream_->watch(shared_from_this());
  } catch (const std::bad_alloc&) {
    stream_->close();  // no thread would notice its end
    on_closed(no_memory);
  }
}

// Sends MessageError and closes the connection: the peer has violated GIOP, or there is no memory to read its message.
// CORBA 3.3 part 2, 9.4.8.
void ServerConnection::broken(const Error& error) noexcept {
  if (error.minor == minor::half_messages) return refuse_half(assembler_.refused());
  server_->incidents().client_cut_off(error);
  giop::write_message_error(writer_, assembler_.owed_version());
  if (writer_.ok()) send(writer_.bytes());
  stream_->close();
}

void ServerConnection::cut_off(const Error& error) noexcept {
  server_->incidents().client_cut_off(error);
  stream_->close();
}

void ServerConnection::on_closed(Error reason) noexcept {
  // The transport closed it because of a limit.
  if (reason.minor == minor::send_backlog || reason.minor == minor::send_backlogs ||
      reason.minor == minor::send_stalled || reason.minor == minor::channel_spoiled || reason == no_memory)
    server_->incidents().client_cut_off(reason);
  if (reason.minor == minor::deadline_passed) server_->incidents().client_cut_off(stalled);
  assembler_.drop();  // free its memory, since jobs may keep this connection for long
  give_up_requests();
  leave_tasks();
}

void ServerConnection::leave_tasks() noexcept {
  tasks_.clear();
  server_->bind_tokens().withdraw(id());
  server_->executive().peer_gone(id());
}

// A connection that owns tasks is never idle: closing it would end them. An incomplete message does not count: its
// request did not run, and the client sends it again.
bool ServerConnection::is_idle() noexcept {
  if (binding_.task != no_task || !tasks_.empty()) return false;
  const std::lock_guard lock(mutex_);
  return jobs_.empty();
}

bool ServerConnection::owes_answer() noexcept {
  const std::lock_guard lock(mutex_);
  return !jobs_.empty();
}

void ServerConnection::give_up_requests() noexcept {
  const std::lock_guard lock(mutex_);
  for (ServerJob* job : jobs_)  // bound: requests_per_connection
    if (job->to().expected) job->cancel();
}

void ServerConnection::take(const giop::Message& message, Time received) {
  // relaxed: no other data depends on it, and CloseConnection may carry the version of the message before
  version_.store(message.header.version, std::memory_order_relaxed);
  if (message.refusal != 0) return refuse_too_large(message);
  switch (message.header.type) {
    case giop::MessageType::request:
      return take_request(message, received);
    case giop::MessageType::locate_request:
      return take_locate_request(message);
    case giop::MessageType::cancel_request:
      return take_cancel(message);
    default:  // CloseConnection, MessageError; the assembler passes nothing else
      stream_->close();
  }
}

// Refuses a request that is too large. Its remaining bytes are skipped as they arrive.
void ServerConnection::refuse_too_large(const giop::Message& message) {
  const Error error{ErrorKind::imp_limit, Completion::no, message.refusal};
  const auto request = giop::parse_beginning(message, server_->settings().giop);
  if (!request) return broken(error);
  ReplyTo to{.request_id = request->id, .version = request->version, .expected = request->response_expected};
  try {
    // The operation is known if the whole header has arrived.
    const auto whole = giop::parse_request(message, server_->settings().giop);
    if (whole) to.operation = whole->header.operation;
    const std::string text = too_large_text(
        whole ? "the request for " + std::string(whole->header.operation) : "a request", "the server",
        giop::header_size + std::size_t{message.header.body_size}, server_->settings().giop.message_size);
    server_->incidents().too_large(text);
    send_exception(to, error, text);
  } catch (const std::bad_alloc&) {
    send_exception(to, error);
  }
}

void ServerConnection::take_request(const giop::Message& message, Time received) {
  auto request = giop::parse_request(message, server_->settings().giop);
  if (!request) return broken(request.error());
  ReplyTo to{request->header.request_id, message.header.version, request->header.response_expected()};
  // relaxed: see note_sent()
  if (to.expected && takes_no_replies_.load(std::memory_order_relaxed)) return server_->incidents().request_abandoned();
  to.operation = request->header.operation;
  received_.begin(request->header.operation, message.header.version, received);
  const auto read = server_->hooks().read(request->header.contexts, received_);
  to.code_sets = code_sets_.current(message.header.version);
  to.hooks = received_.notes.mask;
  if (!read) return send_exception(to, read.error());
  try {
    if (piece_.storage) copy_key(request->header.target.object_key);
    serve(message, *request, to, received);
  } catch (const std::bad_alloc&) {
    send_exception(to, no_memory);
  }
  if (key_.capacity() > longest_kept_key) key_ = std::vector<std::byte>();
}

void ServerConnection::keep(Bytes message, os::ByteBuffer& in) {
  if (!assembler_.hand_over(message, in)) in.assign(message);
}

void ServerConnection::copy_key(Bytes& key) {
  key_.assign(key.begin(), key.end());
  key = key_;
}

// Most connections call one object. It is found without a lock while it stays active.
Expected<std::shared_ptr<ActiveObject>> ServerConnection::find_object(Bytes key) noexcept {
  const bool is_last =
      last_object_ && key.size() == last_key_size_ && std::memcmp(key.data(), last_key_.data(), last_key_size_) == 0;
  if (is_last && last_object_->active()) return last_object_;
  auto found = server_->target().find(key);
  last_object_.reset();
  if (!found || key.size() > last_key_.size()) return found;
  std::copy(key.begin(), key.end(), last_key_.begin());
  last_key_size_ = key.size();
  last_object_ = *found;
  return found;
}

void ServerConnection::serve(const giop::Message& message, Request& request, ReplyTo& to, Time received) {
  auto object = find_object(request.header.target.object_key);
  if (!object) return send_exception(to, object.error());
  if (answer_builtin(request, to, **object)) return;
  const Upcall* upcall = (*object)->find(request.header.operation);
  if (upcall == nullptr)
    return send_exception(to, {ErrorKind::bad_operation, Completion::no, minor::no_such_operation});
  to.operation = upcall->name;  // lasts, while submit() may give the message away
  submit(message, request, to, received, std::move(*object), *upcall);
}

void ServerConnection::submit(const giop::Message& message, const Request& request, const ReplyTo& to, Time received,
                              std::shared_ptr<ActiveObject> object, const Upcall& upcall) {
  const std::optional<Whose> whose = task_of(request, to, *object, upcall, received);
  if (!whose) return;
  const bool of_task = whose->task != no_task;
  if (of_task || whose->asks) read_for_tasks();
  foreseen_ = whose->foreseen;
  PoaManagerState& manager_state = object->manager_state();
  const std::shared_ptr<ActiveObject> asked = whose->asks ? object : nullptr;
  const bool runs_here = served_ && !of_task && !asked && manager_state.entry_counter().passage() != Passage::holding;
  std::unique_ptr<ServerJob> fresh = server_->take_job();
  fresh->prepare(shared_from_this(), std::move(object), upcall, message,
                 {.storage = storage_of(message.bytes), .stays = runs_here && holds(stays_, message.bytes)},
                 request.body.offset(), to);
  if (received_.notes.mask != 0) fresh->note_hooks(received_.notes);
  if (received_.chain.count > 0) {
    fresh->chain() = received_.chain;
    fresh->keep_message();  // a thread of the chain that waits may run it
  }
  if (server_->requests().enter() != Passage::active) return send_exception(to, shutting_down);
  ServerJob* made = fresh.release();  // from here on recycle() ends it
  made->arrived = received;
  made->task = whose->task;
  made->owner = binding_.owner ? binding_.owner->id() : id();
  dispatch::JobPtr job(made);
  // A CancelRequest need not find a request that runs on this thread: none is read before it has run.
  if ((!runs_here || made->chain().count > 0) && !remember(*made)) return send_exception(to, queue_full);
  if (asked) return asked->ask_again(upcall, std::move(job));
  if (manager_state.entry_counter().passage() == Passage::holding) {
    made->keep_message();
    server_->incidents().request_held(manager_state, upcall.name);
    if (manager_state.hold(job)) return;
    if (manager_state.entry_counter().passage() == Passage::holding) return send_exception(to, queue_full);
  }
  if (whose->task == own_task_ && whose->task != no_task) {
    own_job_ = std::move(job);
  } else if (to.expected && made->chain().count > 0 && RemoteCallbackWait::offer(made->chain().all(), job)) {
    return;
  } else if (runs_here) {
    own_job_ = std::move(job);
  } else if (const auto taken = server_->executive().submit(job); !taken) {
    send_exception(to, taken.error());
  }
}

// Returns the task of a request. Returns nothing if the task was refused; then the request was answered. A task that
// the request names must be the shared task of the operation, or one that this connection admitted for this operation
// of this object.
std::optional<ServerConnection::Whose> ServerConnection::task_of(const Request& request, const ReplyTo& to,
                                                                 ActiveObject& object, const Upcall& upcall,
                                                                 Time received) {
  if (const TaskId task = received_.contract ? received_.contract->task : no_task; task != no_task) {
    if (object.shares(task, upcall)) return Whose{.task = task, .foreseen = object.foresees(upcall, received)};
    TaskOwnership& theirs = binding_.owner ? binding_.owner->tasks_ : tasks_;
    const TaskOwnership::Use use = theirs.use(task, request.header.target.object_key, upcall, received);
    if (use != TaskOwnership::Use::forbidden)
      return Whose{.task = task, .foreseen = use == TaskOwnership::Use::foreseen};
    return send_exception(to, foreign_task), std::nullopt;
  }
  const SharedTask shared = object.shared_task(upcall);
  switch (shared.phase) {
    case SharedTask::Phase::none:
      return Whose{};
    case SharedTask::Phase::admitted:
      return Whose{.task = shared.task, .foreseen = object.foresees(upcall, received)};
    case SharedTask::Phase::refused:
      if (shared.may_have_changed && object.manager_state().entry_counter().passage() == Passage::active)
        return Whose{.asks = true};
      server_->executive().note_refused_job();
      shared.refusal ? send_refusal(to, *shared.refusal, shared.error) : send_exception(to, shared.error);
      return std::nullopt;
    case SharedTask::Phase::pending:
      break;
  }
  send_exception(to, {ErrorKind::transient, Completion::no, minor::admission_pending});
  return std::nullopt;
}

void ServerConnection::take_locate_request(const giop::Message& message) {
  const auto request = giop::parse_locate_request(message, server_->settings().giop);
  if (!request) return broken(request.error());
  const bool here = server_->target().find(request->header.target.object_key).has_value();
  giop::begin_locate_reply(writer_,
                           {.request_id = request->header.request_id,
                            .status = here ? giop::LocateStatus::object_here : giop::LocateStatus::unknown_object},
                           message.header.version);
  send_whole(writer_);
}

void ServerConnection::take_cancel(const giop::Message& message) {
  const auto id = giop::parse_cancel_request(message);
  if (!id) return broken(id.error());
  if (const auto unwanted = tasks_.cancel(*id)) {
    server_->bind_tokens().withdraw(*unwanted);
    server_->executive().depart(*unwanted, this->id());
  }
  const std::lock_guard lock(mutex_);
  for (ServerJob* job : jobs_)  // bound: requests_per_connection
    if (job->to().request_id == *id) job->cancel();
}

void ServerConnection::send(Bytes message) noexcept { note_sent(stream_->send(message)); }

// Requests that the peer sent before it left are still read: those that need no answer run.
void ServerConnection::note_sent(const Expected<void>& sent) noexcept {
  // relaxed: running one more request does no harm
  if (!sent && !takes_no_replies_.exchange(true, std::memory_order_relaxed)) give_up_requests();
}

void ServerConnection::send_exception(const ReplyTo& to, const Error& error, std::string_view text,
                                      const sched::Refusal* refusal) noexcept {
  if (!to.expected) return server_->incidents().oneway_dropped(to.operation, error);
  cdr::Writer writer;
  write_exception(writer, to, error, text, refusal);
  send_whole(writer);
}

void ServerConnection::send_refusal(const ReplyTo& to, const sched::Refusal& refusal, const Error& error) noexcept {
  try {
    send_exception(to, error, sched::text_of(refusal), &refusal);
  } catch (const std::bad_alloc&) {
    send_exception(to, error, {}, &refusal);
  }
}

void ServerConnection::send_done(const ReplyTo& to) noexcept {
  begin_reply_to(writer_, to);
  if (to.expected) send_whole(writer_);
}

void ServerConnection::send_whole(cdr::Writer& reply) noexcept {
  if (giop::finish(reply)) return send(reply.bytes());
  if (reply.error().kind == ErrorKind::no_memory) cut_off(reply.error());
}

void ServerConnection::send_reply(cdr::Writer& reply) noexcept {
  if (!dispatch::has_substitute()) return send_whole(reply);
  if (giop::finish(reply)) return send_patiently(reply.bytes());
  if (reply.error().kind == ErrorKind::no_memory) cut_off(reply.error());
}

void ServerConnection::send_patiently(Bytes message) noexcept {
  std::uint64_t position = 0;
  const auto sent = stream_->send_by(Time{}, std::span{&message, 1}, position);
  if (sent || sent.error().minor != minor::no_send_room) return note_sent(sent);
  const dispatch::SuspensionScope waits(true, dispatch::WaitsFor::peer);
  note_sent(stream_->send_by(never, std::span{&message, 1}, position));
}

void ServerConnection::close_when_sent(Time deadline) noexcept {
  cdr::Writer writer;
  giop::write_close_connection(writer, version_.load(std::memory_order_relaxed));  // relaxed: see take()
  if (writer.ok()) send(writer.bytes());
  deadline == Time{} ? stream_->close() : stream_->close_when_sent(deadline);
}

// Returns false if too many requests of this connection are under way.
bool ServerConnection::remember(ServerJob& job) {
  const std::lock_guard lock(mutex_);
  if (job.remembered_) return true;
  if (jobs_.size() >= server_->settings().requests_per_connection) return false;
  jobs_.push_back(&job);
  return job.remembered_ = true;
}

void ServerConnection::replace(ServerJob& job, ServerJob& by) noexcept {
  const std::lock_guard lock(mutex_);
  by.inherit(job);
  if (!std::exchange(job.remembered_, false)) return;
  std::replace(jobs_.begin(), jobs_.end(), &job, &by);
  by.remembered_ = true;
}

void ServerConnection::forget(ServerJob& job) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(jobs_, &job);
  job.remembered_ = false;
}

}  // namespace corelane::core
