#include "orb/core/client/client_call.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/base/text/one_line.h"
#include "orb/base/thread_value.h"
#include "orb/core/call_deadline.h"
#include "orb/core/chains/wire_chain.h"
#include "orb/core/connections/too_large.h"
#include "orb/core/orb.h"
#include "orb/core/settings.h"
#include "orb/dispatch/current.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/os/clock.h"
#include "orb/os/process/fork_guard.h"
#include "orb/os/thread.h"

namespace corelane::core {
namespace {

constexpr int max_retries = 2;
constexpr std::size_t kept_calls = 8;  // per thread; calls seldom nest more deeply

struct CallCache {
  std::vector<std::unique_ptr<ClientCall>> calls;
};

Error with_completion(Error error, Completion completed) {
  error.completed = completed;
  return error;
}

// Before GIOP 1.2, the alignment of a body depends on the header before it. An additional context of 4 bytes moves the
// body by 12 bytes.
constexpr std::uint32_t padding_context = 0x434C4E00;
constexpr std::array<std::byte, 4> padding_data{};
constexpr Error no_room_for_padding{ErrorKind::imp_limit, Completion::no, minor::too_many_contexts};

// Returns the strategy to use in a job. Spinning uses the job's budget, so `adaptive` sleeps at once in a job.
os::WaitStrategy as_in_job(os::WaitStrategy strategy) noexcept {
  if (strategy.mode == os::WaitMode::adaptive && dispatch::current_job() != nullptr) strategy.mode = os::WaitMode::park;
  return strategy;
}

}  // namespace

[[gnu::hot]] void ClientCallRecycler::operator()(ClientCall* call) const noexcept {
  call->reset();
  auto* const cache = thread_value<CallCache>();
  if (cache != nullptr && cache->calls.size() < kept_calls) {
    cache->calls.emplace_back(call);
  } else {
    delete call;
  }
}

[[gnu::hot]] ClientCallPtr ClientCall::acquire() {
  auto* const cache = thread_value<CallCache>();
  if (cache == nullptr) return ClientCallPtr(new ClientCall);
  auto& calls = cache->calls;
  if (calls.capacity() < kept_calls) calls.reserve(kept_calls);
  if (calls.empty()) return ClientCallPtr(new ClientCall);
  ClientCall* call = calls.back().release();
  calls.pop_back();
  return ClientCallPtr(call);
}

[[gnu::hot]] void ClientCall::reset() noexcept {
  target_.reset();
  options_.binding.reset();
  options_.connection.reset();
  retries_ = 0;
  contexts_ = {};
  writer_.forget();
  if (spare_.size() > 0) spare_.clear();
  send_memory_.release();  // the message may lie there; the next call begins with clear()
  pending_.forget();
  reader_ = cdr::Reader();  // releases the values that it has read
}

[[gnu::hot]] void ClientCall::begin(const std::shared_ptr<Reference>& reference, std::string_view operation,
                                    CallOptions options) {
  if (os::is_guarded_child()) raise(errors::forked);
  target_.begin(reference, !options.waits);
  options_ = std::move(options);
  operation_ = operation;
  environment_.orb = &orb();
  hooks_ = &orb().client_hooks();
  const Duration timeout = reference->request_timeout();
  now_ = os::now();
  deadline_ = std::min(options_.latest, CallDeadline::current());
  if (timeout != Duration::zero()) deadline_ = std::min(deadline_, now_ + timeout);
  request_id_ = request_ids_.next(now_);
  // A message that is too large is refused here, so that only this call fails. On the wire it would break the
  // connection and fail all its calls.
  writer_.set_limit(settings().giop.message_size);
  spare_.set_limit(settings().giop.message_size);
  chain_.count = 0;
  if (!options_.oneway) inherit_chain(chain_);
  wait_number_ = options_.waits && !options_.oneway ? extend_chain(chain_) : 0;
  connect();
  choose_code_sets();
  compose(writer_);
  send_memory_.use(connection()->stream());
  writer_.set_memory(&send_memory_);
}

const Settings& ClientCall::settings() const noexcept { return orb().settings(); }

// Finds or makes the connection to the call's current target. Raises.
[[gnu::hot]] void ClientCall::connect() {
  auto only =
      options_.binding ? options_.binding->connection(ServedChain::current() != nullptr, now_) : options_.connection;
  names_connection_ = only != nullptr;
  target_.connect({.traffic = options_.contract != nullptr ? Traffic::contract : Traffic::plain,
                   .order = options_.oneway || !options_.waits ? CallOrder::ordered : CallOrder::free,
                   .now = now_,
                   .deadline = deadline_,
                   .only = std::move(only)});
}

// Chooses the request's code sets. Raises. `body`: the form of the arguments, if they are already encoded and depend on
// it. A Corelane server has this ORB's code sets and version, even if the reference does not say so.
[[gnu::hot]] void ClientCall::choose_code_sets(const std::optional<cdr::CharForm>& body) {
  const Address& address = target_.address();
  const bool names_none = !address.code_sets.choice && !address.code_sets.error;
  const auto who = names_none ? target_.current().server_at(address) : Reference::Server::other;
  const bool is_ours = who == Reference::Server::ours;
  asks_orb_ = who == Reference::Server::unknown;
  version_ = is_ours ? giop::giop_1_2 : address.version;
  const giop::CodeSetAgreement& server = is_ours ? giop::agreement_of_ours() : address.code_sets;
  const auto named = connection()->code_sets().get();
  if (server.choice && server.choice == named && !body) {  // the usual case
    code_sets_ = {.sets = server.sets};
    return;
  }
  if (server.error) raise(*server.error);
  const auto chosen = giop::code_sets_for(server, version_, named, body);
  if (!chosen) raise(chosen.error());
  code_sets_ = *chosen;
}

void ClientCall::note_code_sets() noexcept {
  if (code_sets_.to_name) connection()->code_sets().set(*code_sets_.to_name);
}

// Returns the slot for the operation's header. Several operations of one reference usually have different slots.
ClientCall::Header& ClientCall::header_slot() noexcept {
  const auto where = reinterpret_cast<std::uintptr_t>(operation_.data()) / 16 + target_.current().id();
  return headers_[where % headers_.size()];
}

// Without a cause, the request has no service contexts. As a job of a task, it has the same ones as the last job,
// except for the job's number.
bool ClientCall::header_can_be_kept() const noexcept {
  return (hook_causes_ & ~hook_cause::keeps_header) == 0 && version_ == giop::giop_1_2 &&
         target_.addressing() == giop::Addressing::key;
}

[[gnu::hot]] inline std::uint32_t ClientCall::find_hook_causes() const noexcept {
  std::uint32_t causes = hooks_->causes();
  if (code_sets_.to_name) causes |= hook_cause::code_sets;
  if (asks_orb_) causes |= hook_cause::orb;
  if (options_.binding) causes |= hook_cause::job;
  if (options_.contract != nullptr) causes |= hook_cause::contract;
  if (chain_.count > 0) causes |= hook_cause::chain;
  return causes;
}

ClientRequest ClientCall::as_hooks_see_it() const noexcept {
  return {.settings = settings(),
          .operation = operation_,
          .request_id = request_id_,
          .version = version_,
          .oneway = options_.oneway,
          .deadline = deadline_,
          .code_sets = code_sets_.to_name,
          .task = options_.binding ? options_.binding->task() : no_task,
          .job = {},
          .contract = options_.contract,
          .chain = chain_};
}

// Raises what a hook refuses.
void ClientCall::add_contexts(giop::ContextBuffer& contexts) {
  ClientRequest request = as_hooks_see_it();
  if (options_.binding) request.job = job_ = options_.binding->next_job();
  if (const auto done = hooks_->before_send(hook_causes_, request, contexts); !done) raise(done.error());
}

[[gnu::hot]] void ClientCall::compose(cdr::Writer& writer) {
  hook_causes_ = find_hook_causes();
  if (&writer != &writer_ || !header_can_be_kept()) return compose_anew(writer);
  Header& header = header_slot();
  const auto task = options_.binding ? std::optional(options_.binding->task()) : std::nullopt;
  const std::uint64_t reference = target_.current().id();
  const Address* const address = &target_.address();
  const bool is_known = header.reference == reference && header.address == address &&
                        header.oneway == options_.oneway && header.task == task && header.operation == operation_;
  if (is_known) {
    if (task) {
      const std::uint64_t job = options_.binding->next_job().value;
      std::memcpy(&header.bytes[header.job_at], &job, sizeof job);
    }
    writer.clear(native_order);
    writer.write_bytes(header.bytes);
    writer.patch(giop::header_size, request_id_);
    writer.begin_body();
    body_at_ = writer.size();
    writer.set_code_sets(code_sets_.sets);
    return;
  }
  compose_anew(writer);
  header.reference = 0;  // until the header is complete
  header.operation = operation_;
  // Without the padding before the body, which is written together with the body.
  const Bytes whole = writer.bytes().first(writer.header_end());
  header.bytes.assign(whole.begin(), whole.end());
  header.address = address;
  header.oneway = options_.oneway;
  header.task = task;
  header.job_at = 0;
  if (task) header.job_at = find_job(header.bytes, *task);
  if (header.job_at < header.bytes.size()) header.reference = reference;
}

// Returns where the job's number lies in a header that was just composed; its size or more: nowhere. Searches from the
// end, because contexts come last.
std::size_t ClientCall::find_job(Bytes header, TaskId task) const noexcept {
  const giop::ContractBytes contract = giop::encode_contract({.task = task, .job = job_, .contract = {}});
  const auto found = std::ranges::find_end(header, Bytes(contract));
  return static_cast<std::size_t>(found.begin() - header.begin()) + giop::contract_job_at;
}

void ClientCall::compose_anew(cdr::Writer& writer) {
  const Address& address = target_.address();
  giop::RequestHeader header{.request_id = request_id_,
                             .response_flags = options_.oneway ? giop::response::none : giop::response::with_target,
                             .target = {},
                             .operation = operation_,
                             .contexts = {}};
  header.target.addressing = target_.addressing();
  header.target.object_key = address.object_key;
  header.target.profile_tag = address.profile_tag;
  header.target.profile = address.profile;
  header.target.reference = &target_.current().ior();

  giop::ContextBuffer contexts;
  if (hook_causes_ != 0) add_contexts(contexts);
  giop::begin_request(writer, header, contexts.all(), version_);
  // The first body begins at a multiple of 8. A later header of any version can place its body there, too.
  const std::size_t place = &writer == &writer_ ? 0 : body_at_ % 8;
  if (writer.size() % 8 != place) {
    if (!contexts.add(padding_context, padding_data)) raise(no_room_for_padding);
    giop::begin_request(writer, header, contexts.all(), version_);
  }
  if (&writer == &writer_) body_at_ = writer.size();
  writer.set_code_sets(code_sets_.sets);
}

// Writes a new header before the same arguments.
void ClientCall::recompose() {
  const bool has_text = writer_.depends_on_code_set();
  choose_code_sets(has_text ? std::optional(code_sets_.sets.chars) : std::nullopt);
  compose(spare_);
  if (has_text) spare_.note_code_set();
  const std::size_t at = spare_.size();
  spare_.write_rest_of(writer_, body_at_);
  std::swap(writer_, spare_);
  body_at_ = at;
}

[[gnu::hot]] void ClientCall::invoke(std::span<const RaisesEntry> raises) {
  const os::CancellationDelay delay;
  if (!writer_.ok()) raise_unwritable();
  // Bound: max_retries and the limit on forwards.
  while (exchange(raises) == Next::again) {
    connect();
    recompose();
  }
}

[[gnu::hot]] inline ClientCall::Next ClientCall::exchange(std::span<const RaisesEntry> raises) {
  if (!giop::finish(writer_)) raise_unwritable();
  if (options_.oneway) {
    const auto sent = connection()->send(writer_.parts(), deadline_, !names_connection_);
    if (sent) note_code_sets();
    return sent ? Next::done : failed(with_completion(sent.error(), Completion::no));
  }
  if (!wait_for_reply(settings().wait)) return failed(pending_.error());
  return take_reply(raises);
}

// Sends the request and waits. A job that makes the call is suspended while its thread sleeps.
[[gnu::hot]] inline bool ClientCall::wait_for_reply(os::WaitStrategy strategy) {
  strategy = as_in_job(strategy);
  const bool sleeps = strategy.mode != os::WaitMode::spin;
  if (wait_number_ == 0) {
    const dispatch::SuspensionScope waits(sleeps);
    return connection()->call(pending_, request_id_, writer_.parts(), deadline_, strategy);
  }
  RemoteCallbackWait called_back(wait_number_, pending_);
  bool over = !connection()->start(pending_, request_id_, writer_.parts(), deadline_);
  // Bound: the deadline, and the duration of call-backs.
  while (!over) {
    {
      const dispatch::SuspensionScope waits(sleeps);
      over = connection()->wait(pending_, deadline_, strategy, &called_back);
    }
    // A call-back may change or free the arguments, and the request may have to be sent again.
    if (!over) writer_.copy_lasting();
    called_back.serve();
  }
  return pending_.answered();
}

// Raises the error for which the request could not be encoded.
[[noreturn]] void ClientCall::raise_unwritable() const {
  const Error error = writer_.error();
  if (error.minor != minor::message_too_large) raise(error);
  raise(error,
        too_large_text("the request for " + std::string(operation_), "this client", 0, settings().giop.message_size));
}

// Both ends of a channel are Corelane's: they have exchanged its memory before the first call. Over a socket, any
// program may listen.
static std::string text_of_silent_peer(const transport::Endpoint& peer) {
  const bool is_orb = peer.kind == &transport::kinds::channel;
  return std::string(is_orb ? "the server" : "see whether an ORB listens there; the server") +
         " may be stopped or busy, or its POA manager may hold requests (its log says so)";
}

// Returns the text for a time-out. A CallDeadline may give a call less time than a server needs that has just started
// or is busy.
std::string ClientCall::text_of_late_reply() const {
  constexpr std::chrono::seconds telling_silence{1};
  std::string text(minor::text(minor::deadline_passed));
  const Duration had = deadline_ - now_;
  if (deadline_ == CallDeadline::current())
    text += "; this call had " + to_string(std::chrono::ceil<std::chrono::milliseconds>(had)) + " (CallDeadline)";
  if (!connection()->answered() && (had >= telling_silence || deadline_ != CallDeadline::current()))
    text += "; nothing has ever come from " + to_string(connection()->peer()) +
            " over this connection: " + text_of_silent_peer(connection()->peer()) + std::string(ping_advice);
  return text;
}

// Raises the error of a failed call. If a job's call timed out, the callee may have waited for that job; the text then
// says so.
[[noreturn]] void ClientCall::raise_failed(const Error& error) const {
  if (error.minor == minor::bad_magic)
    raise(error, "the program at " + to_string(connection()->peer()) + " is no ORB; it sent \"" +
                     connection()->foreign_words() + "\"");
  if (error.minor == minor::message_too_large && error.completed == Completion::yes)
    raise(error, too_large_text("the reply of " + std::string(operation_), "this client",
                                giop::header_size + std::size_t{pending_.message().header.body_size},
                                settings().giop.message_size));
  const dispatch::CurrentJob* job = dispatch::current_job();
  const bool may_be_circle = error.minor == minor::deadline_passed && job != nullptr && job->control != nullptr;
  const std::size_t others = may_be_circle ? job->control->waiting_jobs() : 0;
  if (others == 0 && error.minor == minor::deadline_passed) raise(error, text_of_late_reply());
  if (others == 0 && error.minor == minor::connection_lost && options_.binding)
    raise(error,
          "the task of the call ended with the connection: destroy its handle and admit it again, through the new "
          "reference if the server has ended");
  if (others == 0) raise(error);
  raise(error, text_of_deadlocked_wait(job->context.task, others));
}

std::string text_of_deadlocked_wait(TaskId task, std::size_t others) {
  return std::string(minor::text(minor::deadline_passed)) + "; a job of task " + std::to_string(task.value) +
         " made the call, and calls of that task that came meanwhile, " + std::to_string(others) +
         ", wait for the job to end. If the called object waits for one of them, in another chain of calls, the two "
         "waited for each other: make one of the calls without a contract, asynchronously, or before or after its job";
}

// Returns Next::again if the call certainly did not run. It is then sent over a new connection; a task's call goes over
// the shared one instead. Otherwise raises.
ClientCall::Next ClientCall::failed(const Error& error) {
  const bool late = error.minor == minor::no_send_room;
  if (error.completed != Completion::no || late || retries_++ == max_retries) raise_failed(error);
  if (names_connection_ && !(options_.binding && options_.binding->fall_back(*connection()))) raise_failed(error);
  return Next::again;
}

// Waits for the server. A thread that runs a request can be replaced meanwhile.
Expected<const std::byte*> ClientCall::ArrivingResults::await(const std::byte* end) noexcept {
  const std::byte* const begin = call_.pending_.message().bytes.data();
  const auto size = static_cast<std::size_t>(end - begin);
  transport::ArrivingBytes& arriving = *call_.pending_.arriving();
  auto there = arriving.await(size, Time{});
  if (!there && there.error().kind == ErrorKind::timeout) {
    const os::CancellationDelay delay;  // the callers are noexcept
    const dispatch::SuspensionScope waits;
    there = arriving.await(size, call_.deadline_);
  }
  if (there) return begin + *there;
  return there.error();
}

// Makes the reader of the reply wait for bytes that are still to come. Raises std::bad_alloc.
void ClientCall::expect_rest() {
  const std::size_t there = pending_.arriving()->ready();
  if (there < pending_.message().bytes.size()) reader_.expect(arrival_, there - std::min(there, giop::header_size));
}

[[gnu::hot]] ClientCall::Next ClientCall::take_reply(std::span<const RaisesEntry> raises) {
  const giop::Message message = pending_.message();
  giop::ReplyHeader reply;
  reader_ = message.body(&environment_);
  if (pending_.arriving() != nullptr) [[unlikely]]
    expect_rest();
  if (!giop::parse_reply(message.header.version, settings().giop, reply, reader_))
    raise(with_completion(reader_.error(), Completion::maybe));
  reader_.set_code_sets(code_sets_.sets);
  note_code_sets();
  contexts_ = reply.contexts;
  if (asks_orb_)
    target_.current().note_server(
        target_.address(), contexts_.find(giop::context::orb) ? Reference::Server::ours : Reference::Server::other);
  if ((hook_causes_ & hooks_->causes_after_reply()) != 0)
    hooks_->after_reply(hook_causes_, as_hooks_see_it(), {.status = reply.status, .contexts = contexts_});
  switch (reply.status) {
    case giop::ReplyStatus::no_exception:
      return Next::done;
    case giop::ReplyStatus::user_exception:
      raise_user_exception(reader_, raises);
    case giop::ReplyStatus::system_exception:
      return take_system_exception(reader_);
    case giop::ReplyStatus::location_forward:
    case giop::ReplyStatus::location_forward_perm:
      return follow_forward(reader_);
    case giop::ReplyStatus::needs_addressing_mode:
      return change_addressing(reader_);
  }
  raise(Error{ErrorKind::marshal, Completion::maybe, minor::bad_enum});
}

ClientCall::Next ClientCall::follow_forward(cdr::Reader& body) {
  giop::Ior ior;
  if (!giop::decode(body, ior)) raise(body.error());
  target_.follow(std::move(ior));
  return Next::again;
}

ClientCall::Next ClientCall::change_addressing(cdr::Reader& body) {
  std::uint16_t mode = 0;
  if (!body.read(mode)) raise(body.error());
  target_.change_addressing(mode);
  return Next::again;
}

void ClientCall::raise_user_exception(cdr::Reader& body, std::span<const RaisesEntry> raises) {
  std::string_view id;
  if (!body.read_string(id)) raise(with_completion(body.error(), Completion::yes));
  for (const RaisesEntry& entry : raises) {  // bound: the operation's raises clause
    if (entry.id != id) continue;
    entry.raise(body);
    raise(with_completion(body.error(), Completion::yes));
  }
  raise(Error{ErrorKind::unknown, Completion::yes, minor::undeclared_exception}, std::string(id));
}

ClientCall::Next ClientCall::take_system_exception(cdr::Reader& body) {
  ReceivedException received = read_exception(body, contexts_);
  if (target_.is_for_other_server(received.error)) return Next::again;
  const bool is_unknown =
      received.error.kind == ErrorKind::object_not_exist && received.error.completed == Completion::no;
  if (is_unknown && target_.leaves_old_forward(!names_connection_)) return Next::again;
  if (&target_.current() != &target_.origin()) target_.forget_forward();
  raise(received.error, std::move(received.detail));
}

Error error_of_bad_results(const cdr::Reader& results) noexcept {
  const Error error = results.error();
  const bool is_cut_off = error.kind == ErrorKind::comm_failure || error.kind == ErrorKind::timeout;
  return with_completion(error, is_cut_off ? Completion::maybe : Completion::yes);
}

void ClientCall::raise_bad_results() const {
  const Error error = error_of_bad_results(reader_);
  if (error.completed == Completion::maybe) raise_failed(error);
  raise(error);
}

bool ClientCall::post(ReplyGroup& group) {
  const os::CancellationDelay delay;
  if (!giop::finish(writer_)) raise_unwritable();
  return connection()->post(pending_, request_id_, writer_.parts(), deadline_, group);
}

void ClientCall::retry() {
  failed(pending_.error());
  connect();
  recompose();
}

bool ClientCall::settle(std::span<const RaisesEntry> raises) {
  if ((pending_.answered() ? take_reply(raises) : failed(pending_.error())) == Next::done) return true;
  connect();
  recompose();
  return false;
}

bool ClientCall::locate() {
  const os::CancellationDelay delay;
  // Bound: leaves an old forward at most once.
  for (;;) {
    giop::LocateRequestHeader header{.request_id = request_id_, .target = {}};
    header.target.object_key = target_.address().object_key;
    giop::begin_locate_request(writer_, header, target_.address().version);
    if (!giop::finish(writer_)) raise_unwritable();
    if (!connection()->call(pending_, request_id_, writer_.bytes(), deadline_, as_in_job(settings().wait)))
      raise_failed(pending_.error());
    auto reply = giop::parse_locate_reply(pending_.message());
    if (!reply) raise(with_completion(reply.error(), Completion::maybe));
    if (reply->header.status == giop::LocateStatus::system_exception) {
      const auto error = giop::decode_system_exception(reply->body);
      raise(error ? *error : error.error());
    }
    if (reply->header.status != giop::LocateStatus::unknown_object) return true;
    if (!target_.leaves_old_forward(!names_connection_)) return false;
    connect();
  }
}

ReceivedException read_exception(cdr::Reader& body, const giop::ContextList& contexts) {
  ReceivedException received;
  const auto error = giop::decode_system_exception(body);
  received.error = error ? *error : with_completion(error.error(), Completion::maybe);
  if (const auto context = contexts.find(giop::context::exception_detail))
    if (auto text = giop::decode_detail(*context))
      received.detail.text = as_one_line(*text);  // it may be printed on a terminal
  if (const auto context = contexts.find(giop::context::refusal)) {
    if (const auto refusal = giop::decode_refusal(*context)) {
      received.detail.refusal =
          sched::Refusal{.code = static_cast<sched::RefusalCode>(refusal->reason),
                         .closest = refusal->closest,
                         .response = refusal->response,
                         .deadline = refusal->deadline,
                         .nearest = {refusal->nearest_period, refusal->nearest_deadline, refusal->nearest_budget,
                                     refusal->nearest_jitter, refusal->nearest_suspension},
                         .others = refusal->others};
    }
  }
  return received;
}

}  // namespace corelane::core
