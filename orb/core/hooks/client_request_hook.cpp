#include "orb/core/hooks/client_request_hook.h"

namespace corelane::core {

ClientHooks::ClientHooks(const Settings& settings, Registry<ClientRequestHook> hooks) {
  for (const ClientRequestHook* const hook : hooks) {
    const bool needs_choice = (hook->causes & hook_cause::chosen) != 0;
    if (needs_choice && !hook->is_chosen(settings)) continue;
    if (needs_choice) causes_ |= hook_cause::chosen;
    if (hook->after_reply != nullptr) causes_after_reply_ |= hook->causes;
    hooks_.push_back(hook);
  }
}

Expected<void> ClientHooks::before_send(std::uint32_t causes, const ClientRequest& request,
                                        giop::ContextBuffer& contexts) const noexcept {
  for (const ClientRequestHook* const hook : hooks_) {  // bound: the table
    if ((hook->causes & causes) == 0 || hook->before_send == nullptr) continue;
    if (const auto done = hook->before_send(request, contexts); !done) return done;
  }
  return {};
}

void ClientHooks::after_reply(std::uint32_t causes, const ClientRequest& request,
                              const ClientReply& reply) const noexcept {
  for (const ClientRequestHook* const hook : hooks_)  // bound: the table
    if ((hook->causes & causes) != 0 && hook->after_reply != nullptr) hook->after_reply(request, reply);
}

}  // namespace corelane::core
