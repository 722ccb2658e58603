#include "orb/core/server/server_job.h"

#include <cxxabi.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/base/text/what_of.h"
#include "orb/base/thread_value.h"
#include "orb/core/chains/call_chain.h"
#include "orb/core/connections/too_large.h"
#include "orb/core/exception.h"
#include "orb/core/requests/server_request.h"
#include "orb/giop/headers.h"
#include "orb/os/thread.h"

namespace corelane::core {
namespace {

using errors::no_memory;
using errors::queue_full;
using errors::shutting_down;

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

[[gnu::hot]] void ServerJob::prepare(ServerConnection& connection, ActiveObject& object, const Upcall& upcall,
                                     const giop::Message& message, transport::BorrowedBytes shared, std::size_t body_at,
                                     const ReplyTo& to) {
  begin(connection, object, upcall, message, body_at, to);
  in_place_ = false;
  message_.share(std::move(shared));
  called_.own();
  if (message_.is_shared()) return;
  counted_.add_completed(connection.memory(), held_bytes());
  connection.reader().hand_over(message_);
}

[[gnu::hot]] bool ServerJob::enter_server() noexcept {
  EntryCounter& requests = server().requests();
  in_slots_ = in_place_ && requests.enter_by_slots();
  return in_slots_ || requests.enter() == Passage::active;
}

void ServerJob::keep() {
  if (!in_place_) return;
  message_.copy();
  in_place_ = false;
  called_.own();
  counted_.add(connection().memory(), held_bytes());
  if (!in_slots_) return;
  // The server has let the request in, so it counts also if it lets nothing in by now.
  EntryCounter& requests = server().requests();
  requests.add();
  requests.leave_by_slots();
  in_slots_ = false;
}

// The thread that runs the job does not use what the job owns and counts until it knows that another thread reads the
// connection. The request counts once, whether the job waits first or is detached first.
void ServerJob::detach() noexcept {
  if (!in_place_) return;
  called_.own();
  count_run();
}

void ServerJob::note_wait() noexcept {
  if (job_on_this_thread != nullptr && job_on_this_thread->in_place_) job_on_this_thread->count_run();
}

[[gnu::hot, gnu::always_inline]] inline void ServerJob::run_inside() {
  notes_.mask == 0 ? run_upcall() : run_hooks();
  // Free the memory before the reply: the client may then send as much again.
  if (message_.release(longest_kept)) discount();
  if (!to().expected || pending_.is_cancelled()) return;
  if (!reply_.writer().ok()) reply_unwritable();
  reply_.note_made();
}

[[gnu::hot]] void ServerJob::run(const dispatch::JobContext&) noexcept try {
  // Only these jobs report when they wait, so only they count as running.
  if (!in_place_ && task == no_task) begin_run();
  if (pending_.is_cancelled()) return server().incidents().request_abandoned();
  const RunScope inside(this);
  const ServedChain nested(chain_.count > 0 ? &chain_ : nullptr);
  // Bound: one more round for each change of the POA manager meanwhile.
  for (;;) {
    {
      const UpcallGuard guard(object());
      if (guard) return run_inside();
      if (!guard.holding()) return reply_exception(guard.error());
    }
    if (set_aside()) return;
    if (object().manager_state().entry_counter().passage() == Passage::holding) return reply_exception(queue_full);
  }
} catch (const std::bad_alloc&) {  // not from the servant: see run_upcall()
  reply_exception(no_memory);
}

void ServerJob::begin_run() noexcept {
  if (server().executive().serves_where_read()) count_run();
}

// Moves the request to a new job, which waits at the POA manager, because the adapter's manager began to hold requests
// meanwhile. This job ends. Returns false if the POA manager did not take it.
bool ServerJob::set_aside() {
  std::unique_ptr<ServerJob> fresh = server().take_job();
  fresh->take_over(*this);
  if (server().requests().enter() != Passage::active) {
    connection().requests().replace(fresh->pending_, pending_);
    return reply_exception(shutting_down), true;
  }
  ServerJob* const made = fresh.release();
  dispatch::JobPtr job(made);
  PoaManagerState& manager_state = object().manager_state();
  server().incidents().request_held(manager_state, upcall().name);
  if (manager_state.hold(job)) {
    reply_.note_answered();  // the other job answers
    return true;
  }
  connection().requests().replace(made->pending_, pending_);
  return false;
}

void ServerJob::take_over(ServerJob& other) {
  called_.set(other.called_);
  pending_.begin(other.to());
  reply_.begin(other.reply_);
  chain_ = other.chain_;
  notes_ = other.notes_;
  in_place_ = in_slots_ = reader_runs_ = false;
  called_.own();
  message_.begin(other.message_);
  if (!message_.is_shared()) counted_.add(connection().memory(), held_bytes());
  contract.reset();
  arrived = other.arrived;
  task = other.task;
  owner = other.owner;
  connection().requests().replace(other.pending_, pending_);
  // A request in place was in no list. Now it waits, and the connection is read meanwhile.
  if (!pending_.is_listed() && !connection().requests().add_running(pending_)) throw std::bad_alloc();
}

// HookedUpcall is the operation of a request, as hooks see it.
class ServerJob::HookedUpcall final : public ServerUpcall {
 public:
  explicit HookedUpcall(ServerJob& job) : job_(job) {}

  void proceed() override { job_.run_upcall(); }
  void refuse(const Error& error) override {
    if (!job_.to().expected) job_.server().incidents().oneway_dropped(job_.to().operation, error);
    job_.write_reply(error);
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
  cdr::Writer& writer = reply_.writer();
  const Error error{writer.error().kind, Completion::yes, writer.error().minor};
  std::string text;
  if (error.kind == ErrorKind::imp_limit) {
    text = too_large_text("the reply of " + std::string(upcall().name), "the server", 0,
                          server().settings().giop.message_size);
    server().incidents().too_large(text);
  }
  writer.set_limit(cdr::Writer::largest);
  write_reply(error, text);
}

[[gnu::hot]] void ServerJob::finish() noexcept {
  if (reply_.is_made() && answers()) connection().replies().send_reply(reply_.writer());
}

Expected<Bytes> ServerJob::take_reply() noexcept {
  if (!reply_.is_made() || !answers()) return Bytes{};
  cdr::Writer& writer = reply_.writer();
  if (giop::finish(writer)) return writer.bytes();
  if (writer.error().kind == ErrorKind::no_memory) return writer.error();
  return Bytes{};
}

void ServerJob::time_out() noexcept {
  if (to().expected && answers())
    connection().replies().send_exception(to(), {ErrorKind::timeout, Completion::maybe, minor::budget_spent});
}

Expected<const std::byte*> ServerJob::ArrivingArguments::await(const std::byte* end) noexcept {
  const std::byte* const begin = job_.message_.bytes().data();
  const auto size = static_cast<std::size_t>(end - begin);
  const auto there = job_.connection().await_rest(*job_.message_.arriving(), size, job_.arrived);
  if (there) return begin + *there;
  return Error{there.error().kind, Completion::no, there.error().minor};
}

// Runs the servant's operation. Leaves the reply in reply_: the results, or the exception that the servant threw.
[[gnu::hot]] void ServerJob::run_upcall() {
  cdr::Reader arguments = message_.arguments(server().environment());
  arguments.set_code_sets(to().code_sets);
  if (message_.arriving() != nullptr) message_.expect_rest(arguments, arrival_);
  reply_.open(to(), connection().stream(), server().settings().giop.message_size);
  ServerRequest request(arguments, reply_.writer());
  try {
    upcall().remote(object().self(), request);
  } catch (const UserException& exception) {
    declared(exception._rep_id()) ? reply_user_exception(exception) : reply_caught(request.begun());
  } catch (const abi::__forced_unwind&) {
    os::end_with_thread(upcall().name);
  } catch (...) {
    reply_caught(request.begun());
  }
}

// Members that are values with custom marshalling run the application's code again.
void ServerJob::reply_user_exception(const UserException& exception) {
  begin_reply_to(reply_.writer(), to(), giop::ReplyStatus::user_exception);
  try {
    exception._marshal(reply_.writer());
  } catch (...) {
    reply_caught(true);
  }
}

// Replies with a system exception for the exception that is being handled. `begun`: the servant may have run.
void ServerJob::reply_caught(bool begun) {
  try {
    throw;
  } catch (const UserException&) {
    write_reply({ErrorKind::unknown, Completion::maybe, minor::undeclared_exception});
  } catch (const SystemException& exception) {
    if (begun && exception.raised_by_orb()) return fail_nested(exception);
    write_reply(exception.error(), exception.detail(), exception.refusal());
  } catch (const std::bad_alloc&) {  // from the arguments, the results or the servant
    write_reply({ErrorKind::no_memory, Completion::maybe, minor::out_of_memory});
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
  write_reply(error_of_nested(exception), text);
}

void ServerJob::log_failure(ErrorKind answer, std::string_view text) noexcept {
  server().incidents().servant_threw(
      {.skeleton = object().skeleton(), .upcall = upcall(), .answer = answer, .text = text, .answered = to().expected});
}

// The text goes to the log and not to the client, because it may reveal internals.
void ServerJob::fail_servant(std::string_view text) {
  log_failure(ErrorKind::unknown, text);
  write_reply({ErrorKind::unknown, Completion::maybe, minor::servant_threw});
}

bool ServerJob::declared(std::string_view id) const noexcept {
  const auto& raises = upcall().raises;
  return std::any_of(raises.begin(), raises.end(), [&](const RaisesEntry& e) { return e.id == id; });
}

void ServerJob::refuse(const sched::Refusal& refusal) noexcept {
  object().note_refusal(upcall(), task, refusal);  // note it before the client can call again
  connection().replies().send_refusal(to(), refusal);
}

void ServerJob::fail(Error error) noexcept { reply_exception(error); }

void ServerJob::reply_exception(const Error& error) noexcept {
  if (answers()) connection().replies().send_exception(to(), error);
}

// Makes this the thread's own job, if it has none and this one is small.
[[gnu::hot, gnu::always_inline]] inline bool ServerJob::become_own() noexcept {
  if (own_ != nullptr || kept_bytes() > most_bytes_of_own) return false;
  if (thread_value<OwnJob>() == nullptr) return false;
  own_ = this;
  return true;
}

[[gnu::hot]] void ServerJob::recycle() noexcept {
  if (pending_.is_listed()) connection().requests().remove(pending_);
  discount();
  Server& server = connection().server();
  const std::shared_ptr<ServerConnection> owned = called_.release();  // keeps the server alive below
  message_.release(longest_kept);
  reply_.release(longest_kept);
  const bool in_slots = in_slots_;
  // Other threads than readers take no jobs, so they keep none.
  const bool is_kept = (in_place_ || reader_runs_) && become_own();
  if (!is_kept) server.give_back(std::unique_ptr<ServerJob>(this));
  in_slots ? server.requests().leave_by_slots() : (void)server.requests().leave();
}

}  // namespace corelane::core
