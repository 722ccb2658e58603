#include "orb/core/server/server_job.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/base/text/what_of.h"
#include "orb/base/thread_value.h"
#include "orb/core/chains/call_chain.h"
#include "orb/core/connections/too_large.h"
#include "orb/core/exception.h"
#include "orb/core/requests/server_request.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/giop/headers.h"
#include "orb/os/thread.h"

namespace corelane::core {
namespace {

using errors::no_memory;
using errors::queue_full;
using errors::shutting_down;
using transport::MemoryAccount;

void begin_reply(cdr::Writer& writer, const ReplyTo& to, giop::ReplyStatus status,
                 std::span<const giop::ServiceContext> contexts) {
  giop::begin_reply(writer, {.request_id = to.request_id, .status = status, .contexts = {}}, contexts, to.version);
  writer.set_code_sets(to.code_sets);
}

thread_local ServerJob* job_on_this_thread = nullptr;

// Notes which request the calling thread runs, until destruction.
struct RunScope {
  explicit RunScope(ServerJob* job) : before(std::exchange(job_on_this_thread, job)) {}
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;
  ~RunScope() { job_on_this_thread = before; }
  ServerJob* const before;
  const InsideRequest mark{};
};

// Returns the connection whose request the calling thread runs, or null.
const ServerConnection* peer_on_this_thread() noexcept {
  return job_on_this_thread != nullptr ? &job_on_this_thread->connection() : nullptr;
}

}  // namespace

PeerId calling_peer() noexcept {
  const ServerConnection* const peer = peer_on_this_thread();
  return peer != nullptr ? peer->id() : PeerId{0};
}

std::optional<transport::PeerCredentials> calling_credentials() noexcept {
  const ServerConnection* const peer = peer_on_this_thread();
  return peer != nullptr ? peer->stream().credentials() : std::nullopt;
}

std::vector<gid_t> calling_groups() {
  const ServerConnection* const peer = peer_on_this_thread();
  return peer != nullptr ? peer->stream().groups() : std::vector<gid_t>{};
}

std::string calling_host() {
  const ServerConnection* const peer = peer_on_this_thread();
  if (peer == nullptr || peer->stream().credentials()) return {};
  return peer->stream().peer().host;
}

void ServerRequest::raise_bad_arguments() const { raise(arguments_.error()); }

void ServerRequest::raise_trailing_bytes() {
  arguments_.fail(minor::trailing_bytes);
  raise_bad_arguments();
}

[[gnu::hot]] void ServerJob::prepare(ServerConnection& connection, ActiveObject& object, const Upcall& upcall,
                                     const giop::Message& message, std::shared_ptr<const void> storage,
                                     std::size_t body_at, const ReplyTo& to) {
  begin(connection, object, upcall, message, body_at, to);
  in_place_ = false;
  storage_ = std::move(storage);
  own();
  if (storage_) return;
  counted_ = message_.size();
  if (MemoryAccount* const memory = connection.memory()) memory->turn_into_request(counted_);
  connection.reader().keep(message.bytes, bytes_);
  message_ = bytes_;
}

void ServerJob::own() noexcept {
  owned_connection_ = connection_->shared_from_this();
  owned_object_ = object_->shared_from_this();
}

[[gnu::hot]] bool ServerJob::enter_server() noexcept {
  EntryCounter& requests = connection_->server().requests();
  in_slots_ = in_place_ && requests.enter_by_slots();
  return in_slots_ || requests.enter() == Passage::active;
}

void ServerJob::keep() {
  if (!in_place_) return;
  bytes_.assign(message_);
  message_ = bytes_;
  in_place_ = false;
  own();
  counted_ = message_.size();
  if (MemoryAccount* const memory = connection_->memory()) memory->add_request(counted_);
  if (!in_slots_) return;
  // The server has let the request in, so it counts also if it lets nothing in by now.
  EntryCounter& requests = connection_->server().requests();
  requests.add();
  requests.leave_by_slots();
  in_slots_ = false;
}

// The thread that runs the job does not use these members until it knows that another thread reads the connection.
void ServerJob::detach() noexcept {
  if (!in_place_) return;
  own();
  count_run();
}

void ServerJob::note_wait() noexcept {
  if (job_on_this_thread != nullptr && job_on_this_thread->in_place_) job_on_this_thread->count_run();
}

// Counts once, whether the job waits first or is detached first.
void ServerJob::count_run() noexcept {
  MemoryAccount* const memory = connection_->memory();
  // relaxed: it decides which thread is first; the account orders nothing by it
  if (memory != nullptr && !runs_.exchange(true, std::memory_order_relaxed)) memory->begin_run();
}

void ServerJob::discount() noexcept {
  MemoryAccount* const memory = connection_->memory();
  // relaxed: no other thread counts the job any more
  if (memory != nullptr && runs_.load(std::memory_order_relaxed)) memory->end_run();
  if (memory != nullptr && counted_ > 0) memory->remove_request(counted_);
  runs_.store(false, std::memory_order_relaxed);  // relaxed: as above
  counted_ = 0;
}

[[gnu::hot, gnu::always_inline]] inline void ServerJob::run_inside() {
  notes_.mask == 0 ? run_upcall() : run_hooks();
  message_ = {};
  // Free the memory before the reply: the client may then send as much again.
  storage_.reset();
  if (bytes_.capacity() > longest_kept) bytes_.release(), discount();
  if (!to_.expected || cancelled_.load(std::memory_order_relaxed)) return;  // relaxed: a hint
  if (!writer_.ok()) reply_unwritable();
  replies_ = true;
}

[[gnu::hot]] void ServerJob::run(const dispatch::JobContext&) noexcept try {
  // Only these jobs report when they wait, so only they count as running.
  if (!in_place_ && task == no_task) begin_run();
  if (cancelled_.load(std::memory_order_relaxed))  // relaxed: a hint
    return connection_->server().incidents().request_abandoned();
  const RunScope inside(this);
  const ServedChain nested(chain_.count > 0 ? &chain_ : nullptr);
  // Bound: one more round for each change of the POA manager meanwhile.
  for (;;) {
    {
      const UpcallGuard guard(*object_);
      if (guard) return run_inside();
      if (!guard.holding()) return reply_exception(guard.error());
    }
    if (set_aside()) return;
    if (object_->manager_state().entry_counter().passage() == Passage::holding) return reply_exception(queue_full);
  }
} catch (const std::bad_alloc&) {  // not from the servant: see run_upcall()
  reply_exception(no_memory);
}

void ServerJob::begin_run() noexcept {
  if (connection_->server().executive().serves_where_read()) count_run();
}

// Moves the request to a new job, which waits at the POA manager, because the adapter's manager began to hold requests
// meanwhile. This job ends. Returns false if the POA manager did not take it.
bool ServerJob::set_aside() {
  Server& server = connection_->server();
  std::unique_ptr<ServerJob> fresh = server.take_job();
  fresh->take_over(*this);
  if (server.requests().enter() != Passage::active) {
    connection_->requests().replace(*fresh, *this);
    return reply_exception(shutting_down), true;
  }
  ServerJob* const made = fresh.release();
  dispatch::JobPtr job(made);
  server.incidents().request_held(object_->manager_state(), upcall_->name);
  if (object_->manager_state().hold(job)) {
    answered_.store(true, std::memory_order_relaxed);  // relaxed: as in answers(). The other job answers
    return true;
  }
  made->connection_->requests().replace(*made, *this);
  return false;
}

void ServerJob::take_over(ServerJob& other) {
  connection_ = other.connection_;
  object_ = other.object_;
  upcall_ = other.upcall_;
  header_ = other.header_;
  body_at_ = other.body_at_;
  to_ = other.to_;
  chain_ = other.chain_;
  notes_ = other.notes_;
  replies_ = false;
  // relaxed: published with the job
  answered_.store(other.answered_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  storage_ = other.storage_;
  arriving_ = other.arriving_;
  in_place_ = in_slots_ = reader_runs_ = false;
  own();
  if (!storage_) bytes_.assign(other.message_);
  message_ = storage_ ? other.message_ : Bytes(bytes_);
  counted_ = storage_ ? 0 : message_.size();
  if (MemoryAccount* const memory = connection_->memory(); memory != nullptr && counted_ > 0)
    memory->add_request(counted_);
  contract.reset();
  arrived = other.arrived;
  task = other.task;
  owner = other.owner;
  connection_->requests().replace(other, *this);
  // A request in place was in no list. Now it waits, and the connection is read meanwhile.
  if (!listed_ && !connection_->requests().add_running(*this)) throw std::bad_alloc();
}

// HookedUpcall is the operation of a request, as hooks see it.
class ServerJob::HookedUpcall final : public ServerUpcall {
 public:
  explicit HookedUpcall(ServerJob& job) : job_(job) {}

  void proceed() override { job_.run_upcall(); }
  void refuse(const Error& error) override {
    if (!job_.to_.expected) job_.connection_->server().incidents().oneway_dropped(job_.to_.operation, error);
    write_exception(job_.writer_, job_.to_, error, {}, nullptr);
  }

 private:
  ServerJob& job_;
};

void ServerJob::run_hooks() {
  HookedUpcall upcall(*this);
  run_around_upcall(notes_, upcall, server_request_hooks());
}

// Replies with a system exception, because the results or the exception of the operation cannot be written. The
// operation has run.
void ServerJob::reply_unwritable() {
  const Error error{writer_.error().kind, Completion::yes, writer_.error().minor};
  std::string text;
  if (error.kind == ErrorKind::imp_limit) {
    Server& server = connection_->server();
    text = too_large_text("the reply of " + std::string(upcall_->name), "the server", 0,
                          server.settings().giop.message_size);
    server.incidents().too_large(text);
  }
  writer_.set_limit(cdr::Writer::largest);
  write_exception(writer_, to_, error, text, nullptr);
}

[[gnu::hot]] void ServerJob::finish() noexcept {
  if (replies_ && answers()) connection_->replies().send_reply(writer_);
}

Bytes ServerJob::take_reply() noexcept {
  if (!replies_ || !answers()) return {};
  if (giop::finish(writer_)) return writer_.bytes();
  if (writer_.error().kind == ErrorKind::no_memory) connection_->replies().cut_off(writer_.error());
  return {};
}

void ServerJob::time_out() noexcept {
  if (to_.expected && answers())
    connection_->replies().send_exception(to_, {ErrorKind::timeout, Completion::maybe, minor::budget_spent});
}

void ServerJob::expect_rest(cdr::Reader& arguments) {
  const std::size_t there = arriving_->ready();
  if (there < message_.size()) arguments.expect(arrival_, there - std::min(there, body_at_));
}

Expected<const std::byte*> ServerJob::ArrivingArguments::await(const std::byte* end) noexcept {
  const auto size = static_cast<std::size_t>(end - job_.message_.data());
  const auto there = job_.connection_->await_rest(*job_.arriving_, size, job_.arrived);
  if (there) return job_.message_.data() + *there;
  return Error{there.error().kind, Completion::no, there.error().minor};
}

// Runs the servant's operation. Leaves the reply in writer_: the results, or the exception that the servant threw.
[[gnu::hot]] void ServerJob::run_upcall() {
  cdr::Reader arguments(message_.subspan(body_at_), header_.order, body_at_, connection_->server().environment());
  arguments.set_wide_form(giop::wide_form_of(header_.version));
  arguments.set_code_sets(to_.code_sets);
  if (storage_ && arriving_ != nullptr) expect_rest(arguments);
  writer_.set_limit(connection_->server().settings().giop.message_size);
  begin_reply_to(writer_, to_);
  send_memory_.use(connection_->stream(), transport::SendMemory::Otherwise::pages);
  writer_.set_memory(&send_memory_);
  ServerRequest request(arguments, writer_);
  try {
    upcall_->remote(object_->self(), request);
  } catch (const UserException& exception) {
    declared(exception._rep_id()) ? reply_user_exception(exception) : reply_caught(request.begun());
  } catch (const abi::__forced_unwind&) {
    os::end_with_thread(upcall_->name);
  } catch (...) {
    reply_caught(request.begun());
  }
}

// Members that are values with custom marshalling run the application's code again.
void ServerJob::reply_user_exception(const UserException& exception) {
  begin_reply_to(writer_, to_, giop::ReplyStatus::user_exception);
  try {
    exception._marshal(writer_);
  } catch (...) {
    reply_caught(true);
  }
}

// Replies with a system exception for the exception that is being handled. `begun`: the servant may have run.
void ServerJob::reply_caught(bool begun) {
  try {
    throw;
  } catch (const UserException&) {
    write_exception(writer_, to_, {ErrorKind::unknown, Completion::maybe, minor::undeclared_exception}, {}, nullptr);
  } catch (const SystemException& exception) {
    if (begun && exception.raised_by_orb()) return fail_nested(exception);
    write_exception(writer_, to_, exception.error(), exception.detail(), exception.refusal());
  } catch (const std::bad_alloc&) {  // from the arguments, the results or the servant
    write_exception(writer_, to_, {ErrorKind::no_memory, Completion::maybe, minor::out_of_memory}, {}, nullptr);
  } catch (const std::exception& exception) {
    fail_servant(what_of(exception));
  } catch (...) {
    fail_servant("something that is no std::exception");
  }
}

// Replies to a failed call of the servant, to an object or to a function of the ORB. The refusal is left out, because
// it concerns the contract of that call.
void ServerJob::fail_nested(const SystemException& exception) {
  std::string text;
  try {
    text = text_of_nested(exception);
  } catch (const std::bad_alloc&) {  // then without the text
  }
  log_failure(exception.error().kind, text);
  write_exception(writer_, to_, error_of_nested(exception), text, nullptr);
}

void ServerJob::log_failure(ErrorKind answer, std::string_view text) noexcept {
  connection_->server().incidents().servant_threw(
      {.skeleton = object_->skeleton(), .upcall = *upcall_, .answer = answer, .text = text, .answered = to_.expected});
}

// The text goes to the log and not to the client, because it may reveal internals.
void ServerJob::fail_servant(std::string_view text) {
  log_failure(ErrorKind::unknown, text);
  write_exception(writer_, to_, {ErrorKind::unknown, Completion::maybe, minor::servant_threw}, {}, nullptr);
}

bool ServerJob::declared(std::string_view id) const noexcept {
  return std::any_of(upcall_->raises.begin(), upcall_->raises.end(), [&](const RaisesEntry& e) { return e.id == id; });
}

void ServerJob::refuse(const sched::Refusal& refusal) noexcept {
  object_->note_refusal(*upcall_, task, refusal);  // note it before the client can call again
  connection_->replies().send_refusal(to_, refusal);
}

void ServerJob::fail(Error error) noexcept { reply_exception(error); }

void ServerJob::reply_exception(const Error& error) noexcept {
  if (answers()) connection_->replies().send_exception(to_, error);
}

// Makes this the thread's own job, if it has none and this one is small.
[[gnu::hot, gnu::always_inline]] inline bool ServerJob::become_own() noexcept {
  if (own_ != nullptr || kept_bytes() > most_bytes_of_own) return false;
  if (thread_value<OwnJob>() == nullptr) return false;
  own_ = this;
  return true;
}

[[gnu::hot]] void ServerJob::recycle() noexcept {
  if (listed_) connection_->requests().remove(*this);
  if (runs_.load(std::memory_order_relaxed) || counted_ > 0) discount();  // relaxed: see discount()
  Server& server = connection_->server();
  const std::shared_ptr<ServerConnection> connection = std::move(owned_connection_);  // keeps the server alive below
  connection_ = nullptr;
  object_ = nullptr;
  owned_object_.reset();
  message_ = {};
  storage_.reset();
  if (writer_.kept_bytes() > longest_kept) writer_ = cdr::Writer();
  writer_.forget();
  send_memory_.release();  // the bytes may have lain there; the next reply begins with an empty writer
  if (bytes_.capacity() > longest_kept) bytes_.release();
  const bool in_slots = in_slots_;
  // Other threads than readers take no jobs, so they keep none.
  const bool is_kept = (in_place_ || reader_runs_) && become_own();
  if (!is_kept) server.give_back(std::unique_ptr<ServerJob>(this));
  in_slots ? server.requests().leave_by_slots() : (void)server.requests().leave();
}

[[gnu::hot]] void begin_reply_to(cdr::Writer& writer, const ReplyTo& to, giop::ReplyStatus status,
                                 std::span<const giop::ServiceContext> contexts) {
  if (to.hooks == 0) return begin_reply(writer, to, status, contexts);
  giop::ContextBuffer all;
  for (const giop::ServiceContext& context : contexts) all.add_view(context);  // bound: two, see below
  add_reply_contexts(to.hooks, all);
  begin_reply(writer, to, status, all.all());
}

void write_exception(cdr::Writer& writer, const ReplyTo& to, const Error& error, std::string_view text,
                     const sched::Refusal* refusal) noexcept {
  std::array<giop::ServiceContext, 2> contexts;
  std::size_t count = 0;
  if (text.empty()) text = minor::text(error);
  std::vector<std::byte> detail;
  try {
    if (!text.empty()) detail = giop::encode_detail(text);
  } catch (const std::bad_alloc&) {  // then without the text
  }
  if (!detail.empty()) contexts[count++] = {giop::context::exception_detail, detail};
  std::array<std::byte, giop::refusal_size> reason;
  if (refusal != nullptr) {
    reason = giop::encode_refusal({.reason = static_cast<std::uint32_t>(refusal->code),
                                   .closest = refusal->closest,
                                   .response = refusal->response,
                                   .deadline = refusal->deadline,
                                   .nearest_period = refusal->nearest.period,
                                   .nearest_deadline = refusal->nearest.deadline,
                                   .nearest_budget = refusal->nearest.budget,
                                   .others = static_cast<std::uint32_t>(refusal->others),
                                   .nearest_jitter = refusal->nearest.jitter,
                                   .nearest_suspension = refusal->nearest.suspension});
    contexts[count++] = {giop::context::refusal, reason};
  }
  begin_reply_to(writer, to, giop::ReplyStatus::system_exception, std::span(contexts).first(count));
  giop::encode_system_exception(writer, error);
}

}  // namespace corelane::core
