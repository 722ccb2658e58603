// Says which job of which task a request is, or for which contract it asks. The server finds the task
// (orb/core/server/request_task.h), or decides about its admission.
#include "orb/core/hooks/client_request_hook.h"
#include "orb/core/hooks/refusals.h"
#include "orb/core/hooks/server_request_hook.h"

namespace corelane::core {

namespace client_hooks {

extern const ClientRequestHook contract{
    .name = "contract",
    .causes = hook_cause::contract | hook_cause::job,
    .before_send =
        [](const ClientRequest& request, giop::ContextBuffer& contexts) noexcept {
          giop::ContractContext content{.task = request.task, .job = request.job, .contract = {}};
          if (request.contract != nullptr) content.contract = *request.contract;
          return room_for_context(contexts.add(giop::context::contract, giop::encode_contract(content)));
        },
};

}  // namespace client_hooks

namespace server_hooks {

extern const ServerRequestHook contract{
    .name = "contract",
    .context = giop::context::contract,
    .on_request = [](Bytes content, ReceivedRequest& request) noexcept -> Expected<void> {
      return giop::decode_contract(content, request.contract.emplace());
    },
};

}  // namespace server_hooks

}  // namespace corelane::core
