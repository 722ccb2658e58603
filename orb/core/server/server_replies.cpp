#include "orb/core/server/server_replies.h"

#include <new>
#include <span>

#include "orb/base/minor.h"
#include "orb/core/server/server_reply.h"
#include "orb/dispatch/current.h"

namespace corelane::core {
namespace {

constexpr Error no_room{ErrorKind::transient, Completion::no, minor::half_messages};

}  // namespace

[[gnu::hot]] void ServerReplies::send(Parts message) noexcept { note_sent(stream_.send(message)); }

// Notes the result of sending. Requests that the peer sent before it left are still read: those that need no answer
// run.
void ServerReplies::note_sent(const Expected<void>& sent) noexcept {
  // relaxed: as in are_taken()
  if (!sent && !not_taken_.exchange(true, std::memory_order_relaxed)) requests_.give_up();
}

void ServerReplies::send_exception(const ReplyTo& to, const Error& error, std::string_view text,
                                   const sched::Refusal* refusal) noexcept {
  if (!to.expected) return server_.incidents().oneway_dropped(to.operation, error);
  cdr::Writer writer;
  write_exception(writer, to, error, text, refusal);
  send_whole(writer);
}

void ServerReplies::send_refusal(const ReplyTo& to, const sched::Refusal& refusal, const Error& error) noexcept {
  try {
    send_exception(to, error, sched::text_of(refusal), &refusal);
  } catch (const std::bad_alloc&) {
    send_exception(to, error, {}, &refusal);
  }
}

void ServerReplies::send_done(const ReplyTo& to) noexcept {
  begin_reply_to(writer_, to);
  if (to.expected) send_whole(writer_);
}

[[gnu::hot]] void ServerReplies::send_whole(cdr::Writer& reply) noexcept {
  if (giop::finish(reply)) return send(reply.bytes());
  if (reply.error().kind == ErrorKind::no_memory) cut_off(reply.error());
}

[[gnu::hot]] void ServerReplies::send_reply(cdr::Writer& reply) noexcept {
  if (giop::finish(reply)) return dispatch::has_substitute() ? send_patiently(reply.parts()) : send(reply.parts());
  if (reply.error().kind == ErrorKind::no_memory) cut_off(reply.error());
}

[[gnu::hot]] void ServerReplies::send_patiently(Parts messages) noexcept {
  std::uint64_t position = 0;
  const auto sent = stream_.send_if_room(never, messages, position);
  if (sent || sent.error().minor != minor::no_send_room) return note_sent(sent);
  const dispatch::SuspensionScope waits(true, dispatch::WaitsFor::peer);
  note_sent(stream_.send_by(never, messages, position));
}

void ServerReplies::keep(Bytes reply) {
  if (reply.empty()) return;
  const bool is_first = kept_.empty();
  kept_.insert(kept_.end(), reply.begin(), reply.end());
  if (is_first) server_.requests().add();
}

[[gnu::hot]] void ServerReplies::send_kept() noexcept {
  if (kept_.empty()) return;
  // The monitor thread also calls this, through RequestSource::detach(), and must not wait.
  dispatch::has_substitute() ? send_patiently(kept_) : send(kept_);
  kept_.clear();
  (void)server_.requests().leave();
}

void ServerReplies::close() noexcept {
  send_kept();
  stream_.close();
}

void ServerReplies::cut_off(const Error& error) noexcept {
  server_.incidents().client_cut_off(error);
  stream_.close();
}

void ServerReplies::refuse_incomplete(const giop::ReassemblyQuota::Request& request) noexcept {
  if (told_no_room_.exchange(true, std::memory_order_relaxed)) return;  // relaxed: it decides which thread is first
  server_.incidents().client_cut_off(no_room);
  cdr::Writer writer;
  if (!request)
    giop::write_message_error(writer, giop::giop_1_0);
  else if (request->response_expected)
    write_exception(writer, {.request_id = request->id, .version = request->version}, no_room, {}, nullptr);
  const bool is_made = request ? request->response_expected && giop::finish(writer) : writer.ok();
  if (is_made) send(writer.bytes());
  stream_.close();
}

void ServerReplies::refuse_message(const Error& error, giop::Version owed) noexcept {
  server_.incidents().client_cut_off(error);
  giop::write_message_error(writer_, owed);
  if (writer_.ok()) send(writer_.bytes());
  stream_.close();
}

void ServerReplies::close_when_sent(Time deadline) noexcept {
  cdr::Writer writer;
  giop::write_close_connection(writer, version_.load(std::memory_order_relaxed));  // relaxed: see set_version()
  if (writer.ok()) send(writer.bytes());
  deadline == Time{} ? stream_.close() : stream_.close_when_sent(deadline);
}

}  // namespace corelane::core
