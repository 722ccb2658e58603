// The room orb/core/hooks has the request hooks, one concern in each file. This file is their tables. A concern with a
// client's and a server's side has a line in each of them.
#include <iterator>

#include "orb/core/hooks/client_request_hook.h"
#include "orb/core/hooks/server_request_hook.h"

// Each line names the object that a file of this folder defines, in the order of the contexts in a request.
#define CORELANE_CLIENT_HOOKS(HOOK) \
  HOOK(code_sets)                   \
  HOOK(orb_question)                \
  HOOK(contract)                    \
  HOOK(chain)                       \
  HOOK(deadline)

#define CORELANE_SERVER_HOOKS(HOOK) \
  HOOK(code_sets)                   \
  HOOK(orb_question)                \
  HOOK(contract)                    \
  HOOK(chain)                       \
  HOOK(deadline)

namespace corelane::core {

namespace client_hooks {

#define CORELANE_DECLARE(name) extern const ClientRequestHook name;
CORELANE_CLIENT_HOOKS(CORELANE_DECLARE)
#undef CORELANE_DECLARE

}  // namespace client_hooks

namespace server_hooks {

#define CORELANE_DECLARE(name) extern const ServerRequestHook name;
CORELANE_SERVER_HOOKS(CORELANE_DECLARE)
#undef CORELANE_DECLARE

}  // namespace server_hooks

Registry<ClientRequestHook> client_request_hooks() noexcept {
#define CORELANE_LIST(name) &client_hooks::name,
  static constexpr const ClientRequestHook* all[] = {CORELANE_CLIENT_HOOKS(CORELANE_LIST)};
#undef CORELANE_LIST
  return all;
}

Registry<ServerRequestHook> server_request_hooks() noexcept {
#define CORELANE_LIST(name) &server_hooks::name,
  static constexpr const ServerRequestHook* all[] = {CORELANE_SERVER_HOOKS(CORELANE_LIST)};
#undef CORELANE_LIST
  static_assert(std::size(all) <= HookNotes::most);
  return all;
}

}  // namespace corelane::core
