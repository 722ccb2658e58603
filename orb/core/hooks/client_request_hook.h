// ClientRequestHook takes part in the remote calls that this process makes. It adds service contexts to requests, or
// refuses the calls, and sees the replies. The ORB's own contexts are hooks, too: code sets, contracts and chains.
//
// A hook is one file in this folder and one line in the table of hooks.cpp. A hook for all calls of an ORB has a
// setting. If no hook applies to a call, the call costs what it would without hooks: its causes are 0, and no function
// is called.
//
// Calls within the process have no request, so hooks do not see them.
//
// Threads: constant objects. The functions run on the calling thread, which may be a real-time thread: they do not
// allocate, block or log.
//
// The folder orb/core/hooks has the hooks of clients and servers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/registry.h"
#include "orb/base/time.h"
#include "orb/core/settings.h"
#include "orb/giop/code_sets.h"
#include "orb/giop/context_buffer.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/giop/headers.h"

namespace corelane::core {

// Why hooks apply to a call, one bit each.
namespace hook_cause {
inline constexpr std::uint32_t code_sets = 1;  // the request names its code sets
inline constexpr std::uint32_t orb = 2;        // the request asks whether the server is Corelane
inline constexpr std::uint32_t contract = 4;   // the request asks for a task
inline constexpr std::uint32_t chain = 8;      // calls that wait enclose the request
inline constexpr std::uint32_t chosen = 16;    // settings choose a hook for all calls of the ORB
inline constexpr std::uint32_t job = 32;       // the request is a job of a task

// A call that has no other causes keeps the header of an earlier call, if that one fits. Then before_send() does not
// run, and ClientCall writes the job's number into the kept contract context. So the hooks of these causes add the same
// contexts to all jobs of a task, except for that number.
inline constexpr std::uint32_t keeps_header = job;
}  // namespace hook_cause

// What hooks know of a call.
struct ClientRequest {
  const Settings& settings;
  std::string_view operation;
  std::uint32_t request_id = 0;
  giop::Version version{};
  bool oneway = false;
  Time deadline = never;                                // the call ends by then
  const std::optional<giop::CodeSetChoice>& code_sets;  // the choice that the request names
  TaskId task = no_task;                                // the task of which the request is a job
  JobId job{};                                          // known to before_send() only
  const Contract* contract = nullptr;                   // the contract for which the request asks; null: none
  const giop::ChainContext& chain;                      // the waits that enclose the request
};

struct ClientReply {
  giop::ReplyStatus status = giop::ReplyStatus::no_exception;
  const giop::ContextList& contexts;
};

struct ClientRequestHook {
  std::string_view name;
  // The hook applies to calls with one of these causes.
  std::uint32_t causes = hook_cause::chosen;
  // For the cause `chosen`: returns whether the hook applies to the ORB's calls.
  bool (*is_chosen)(const Settings& settings) noexcept = nullptr;
  // Runs each time the request's header is written anew, which happens again for a retry and a forward. It does not run
  // for a kept header, see hook_cause::keeps_header. An error ends the call: it is raised, COMPLETED_NO. Null: nothing
  // to do.
  Expected<void> (*before_send)(const ClientRequest& request, giop::ContextBuffer& contexts) noexcept = nullptr;
  // Runs when the reply's header was read. Null: nothing to do.
  void (*after_reply)(const ClientRequest& request, const ClientReply& reply) noexcept = nullptr;
};

// Returns all hooks, in the order of their contexts in a request.
Registry<ClientRequestHook> client_request_hooks() noexcept;

// ClientHooks is the hooks that apply to the calls of one ORB.
class ClientHooks {
 public:
  explicit ClientHooks(const Settings& settings) : ClientHooks(settings, client_request_hooks()) {}
  ClientHooks(const Settings& settings, Registry<ClientRequestHook> hooks);

  // Returns the causes that all calls of the ORB have.
  std::uint32_t causes() const noexcept { return causes_; }
  // Returns the causes for which after_reply() has something to do.
  std::uint32_t causes_after_reply() const noexcept { return causes_after_reply_; }

  // Run the hooks that apply to a call with these causes.
  Expected<void> before_send(std::uint32_t causes, const ClientRequest& request,
                             giop::ContextBuffer& contexts) const noexcept;
  void after_reply(std::uint32_t causes, const ClientRequest& request, const ClientReply& reply) const noexcept;

 private:
  std::vector<const ClientRequestHook*> hooks_;
  std::uint32_t causes_ = 0;
  std::uint32_t causes_after_reply_ = 0;
};

}  // namespace corelane::core
