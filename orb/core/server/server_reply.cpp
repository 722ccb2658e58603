#include "orb/core/server/server_reply.h"

#include <array>
#include <cstdint>
#include <new>
#include <vector>

#include "orb/base/minor.h"
#include "orb/core/hooks/server_request_hook.h"
#include "orb/giop/context_buffer.h"
#include "orb/giop/corelane_contexts.h"

namespace corelane::core {
namespace {

void begin_reply(cdr::Writer& writer, const ReplyTo& to, giop::ReplyStatus status,
                 std::span<const giop::ServiceContext> contexts) {
  giop::begin_reply(writer, {.request_id = to.request_id, .status = status, .contexts = {}}, contexts, to.version);
  writer.set_code_sets(to.code_sets);
}

}  // namespace

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
