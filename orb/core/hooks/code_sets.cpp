// Names the encodings of text to the server, in the first requests of a connection. The server remembers them for the
// connection (giop::ConnectionCodeSets).
#include "orb/core/hooks/client_request_hook.h"
#include "orb/core/hooks/refusals.h"
#include "orb/core/hooks/server_request_hook.h"

namespace corelane::core {

namespace client_hooks {

extern const ClientRequestHook code_sets{
    .name = "code sets",
    .causes = hook_cause::code_sets,
    .before_send =
        [](const ClientRequest& request, giop::ContextBuffer& contexts) noexcept {
          return room_for_context(contexts.add(giop::context::code_sets, giop::encode_code_sets(*request.code_sets)));
        },
};

}  // namespace client_hooks

namespace server_hooks {

extern const ServerRequestHook code_sets{
    .name = "code sets",
    .context = giop::context::code_sets,
    .on_request =
        [](Bytes content, ReceivedRequest& request) noexcept {
          return request.connection_code_sets.take(content, request.version);
        },
};

}  // namespace server_hooks

}  // namespace corelane::core
