// Asks whether the server is this ORB, too, through references that do not say it. ClientCall reads the answer, because
// the answer belongs to the reference.
#include "orb/core/hooks/client_request_hook.h"
#include "orb/core/hooks/refusals.h"
#include "orb/core/hooks/server_request_hook.h"

namespace corelane::core {

namespace client_hooks {

extern const ClientRequestHook orb_question{
    .name = "orb question",
    .causes = hook_cause::orb,
    .before_send =
        [](const ClientRequest&, giop::ContextBuffer& contexts) noexcept {
          return room_for_context(contexts.add(giop::context::orb, giop::encode_orb()));
        },
};

}  // namespace client_hooks

namespace server_hooks {

extern const ServerRequestHook orb_question{
    .name = "orb question",
    .context = giop::context::orb,
    .on_request =
        [](Bytes, ReceivedRequest& request) noexcept {
          request.note(0);
          return Expected<void>();
        },
    .before_reply =
        [](giop::ContextBuffer& contexts) noexcept { contexts.add(giop::context::orb, giop::encode_orb()); },
};

}  // namespace server_hooks

}  // namespace corelane::core
