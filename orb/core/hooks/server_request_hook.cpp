#include "orb/core/hooks/server_request_hook.h"

#include <cassert>

namespace corelane::core {
namespace {

// EnclosedUpcall is the upcall inside the hook before `next`.
class EnclosedUpcall final : public ServerUpcall {
 public:
  EnclosedUpcall(const HookNotes& notes, ServerUpcall& inner, Registry<ServerRequestHook> hooks, std::size_t next)
      : notes_(notes), inner_(inner), hooks_(hooks), next_(next) {}

  // Runs the next hook that gave a note, or the operation. The depth of the recursion is the number of such hooks.
  void proceed() override {
    std::size_t at = next_;
    while (at < hooks_.size() && !(notes_.has(at) && hooks_[at]->around_upcall != nullptr)) ++at;  // bound: the table
    if (at == hooks_.size()) return inner_.proceed();
    EnclosedUpcall rest(notes_, inner_, hooks_, at + 1);
    hooks_[at]->around_upcall(rest, notes_.values[at]);
  }
  void refuse(const Error& error) override { inner_.refuse(error); }

 private:
  const HookNotes& notes_;
  ServerUpcall& inner_;
  const Registry<ServerRequestHook> hooks_;
  const std::size_t next_;
};

}  // namespace

ServerHooks::ServerHooks(const Settings& settings, Registry<ServerRequestHook> hooks) : hooks_(hooks) {
  assert(hooks.size() <= HookNotes::most);
  for (std::size_t i = 0; i < hooks.size(); ++i) {
    if (hooks[i]->is_chosen != nullptr && !hooks[i]->is_chosen(settings)) continue;
    if (hooks[i]->context)
      with_context_[count_with_context_++] = {*hooks[i]->context, i};
    else
      without_context_ |= std::uint32_t{1} << i;
  }
}

// Reads the list of contexts once. Of several contexts with one id, the first counts.
Expected<void> ServerHooks::run(const giop::ContextList& contexts, ReceivedRequest& request) const noexcept {
  Expected<void> done;
  for (std::size_t i = 0; i < hooks_.size() && without_context_ != 0 && done; ++i)  // bound: the table
    if ((without_context_ >> i & 1) != 0) done = run_one(i, {}, request);
  std::uint32_t has_run = 0;
  contexts.each([&](const giop::ServiceContext& context) {
    for (std::size_t i = 0; i < count_with_context_; ++i) {  // bound: the table
      if (with_context_[i].id != context.id || (has_run >> i & 1) != 0 || !done) continue;
      has_run |= std::uint32_t{1} << i;
      done = run_one(with_context_[i].hook, context.data, request);
    }
  });
  return done;
}

Expected<void> ServerHooks::run_one(std::size_t hook, Bytes content, ReceivedRequest& request) const noexcept {
  request.running = hook;
  return hooks_[hook]->on_request(content, request);
}

void run_around_upcall(const HookNotes& notes, ServerUpcall& upcall, Registry<ServerRequestHook> hooks) {
  EnclosedUpcall(notes, upcall, hooks, 0).proceed();
}

void add_reply_contexts(std::uint32_t mask, giop::ContextBuffer& contexts) noexcept {
  const auto hooks = server_request_hooks();
  for (std::size_t i = 0; i < hooks.size(); ++i)  // bound: the table
    if ((mask >> i & 1) != 0 && hooks[i]->before_reply != nullptr) hooks[i]->before_reply(contexts);
}

}  // namespace corelane::core
