// Sends the waits in which a call is nested. A call back to one of the waiting threads runs there (orb/core/chains).
#include "orb/core/hooks/client_request_hook.h"
#include "orb/core/hooks/refusals.h"
#include "orb/core/hooks/server_request_hook.h"

namespace corelane::core {

namespace client_hooks {

extern const ClientRequestHook chain{
    .name = "chain",
    .causes = hook_cause::chain,
    .before_send =
        [](const ClientRequest& request, giop::ContextBuffer& contexts) noexcept {
          return room_for_context(contexts.add(giop::context::chain, giop::encode_chain(request.chain)));
        },
};

}  // namespace client_hooks

namespace server_hooks {

extern const ServerRequestHook chain{
    .name = "chain",
    .context = giop::context::chain,
    .on_request = [](Bytes content, ReceivedRequest& request) noexcept -> Expected<void> {
      const auto decoded = giop::decode_chain(content);
      if (!decoded) return decoded.error();
      request.chain = *decoded;
      return {};
    },
};

}  // namespace server_hooks

}  // namespace corelane::core
