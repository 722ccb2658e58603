// ClientCall is one remote call: the request's bytes, where it goes (CallTarget), its retries, and the reply.
//
// Thread: the caller's. A cache of each thread keeps calls with their buffers, so that a warm call allocates nothing
// itself.
//
// The folder orb/core/client makes remote calls through references.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orb/cdr/reader.h"
#include "orb/cdr/writer.h"
#include "orb/core/client/call_target.h"
#include "orb/core/client/reference.h"
#include "orb/core/client/request_ids.h"
#include "orb/core/client/task_binding.h"
#include "orb/core/connections/client_connection.h"
#include "orb/core/exception.h"
#include "orb/core/hooks/client_request_hook.h"
#include "orb/core/invocation.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/giop/headers.h"
#include "orb/transport/send_memory.h"

namespace corelane::core {

using ClientCallPtr = std::unique_ptr<ClientCall, ClientCallRecycler>;

// The end of the text for a call without a reply. `corelane ping` leaves it out.
inline constexpr std::string_view ping_advice = "; corelane ping tells whether it answers";

struct CallOptions {
  bool oneway = false;
  std::shared_ptr<TaskBinding> binding{};          // the task that runs the call as its job
  std::shared_ptr<ClientConnection> connection{};  // use only this connection
  const Contract* contract = nullptr;              // request admission for this contract
  bool waits = true;                               // the calling thread waits for the reply
  Time latest = never;                             // the call ends by then, even if timeout.request is later
};

class ClientCall {
 public:
  static ClientCallPtr acquire();

  // Writes the request's header; the arguments follow through arguments(). The caller keeps the reference until the
  // call has ended. If the calling thread does not wait for the reply, this object keeps it.
  void begin(const std::shared_ptr<Reference>& reference, std::string_view operation, CallOptions options = {});
  cdr::Writer& arguments() noexcept { return writer_; }

  // Sends the request, waits for the reply, and follows forwards. Raises the call's exception. Returns if the operation
  // ended without exception or is oneway.
  void invoke(std::span<const RaisesEntry> raises);
  // Do the same in pieces, for calls that a collector waits for. post() sends. If it returns false, call retry(), which
  // prepares the call for another post() or raises. When pending() has ended, call settle(). If it returns false, call
  // post() again. settle() raises like invoke().
  bool post(ReplyGroup& group);
  void retry();
  bool settle(std::span<const RaisesEntry> raises);
  PendingReply& pending() noexcept { return pending_; }
  Orb& orb() const noexcept { return target_.orb(); }

  // Sends a LocateRequest instead of the operation, and returns whether the server has the object. Raises system
  // exceptions.
  bool locate();

  cdr::Reader& results() noexcept { return reader_; }
  // Raises error_of_bad_results().
  [[noreturn]] void raise_bad_results() const;
  // Returns the reply's service contexts.
  const giop::ContextList& contexts() const noexcept { return contexts_; }
  // Returns the connection that carried the call.
  const std::shared_ptr<ClientConnection>& connection() const noexcept { return target_.connection(); }

 private:
  friend struct ClientCallRecycler;
  enum class Next : std::uint8_t { done, again };
  // Brings the bytes of results that are decoded while the server still copies them.
  class ArrivingResults final : public cdr::Arrival {
   public:
    explicit ArrivingResults(ClientCall& call) noexcept : call_(call) {}
    Expected<const std::byte*> await(const std::byte* end) noexcept override;

   private:
    ClientCall& call_;
  };

  void reset() noexcept;
  void compose(cdr::Writer& writer);
  void compose_anew(cdr::Writer& writer);
  // The header of an earlier call, up to its body. Without other service contexts than that of an admitted task,
  // headers of one operation through one reference differ only in the request id and the job's number.
  struct Header {
    std::uint64_t reference = 0;  // Reference::id()
    const Address* address = nullptr;
    bool oneway = false;
    std::optional<TaskId> task{};  // nothing: the call is not bound to one
    std::size_t job_at = 0;        // of the job's number in `bytes`
    std::string operation{};
    std::vector<std::byte> bytes{};
  };
  Header& header_slot() noexcept;
  std::size_t find_job(Bytes header, TaskId task) const noexcept;
  bool header_can_be_kept() const noexcept;
  std::uint32_t find_hook_causes() const noexcept;
  ClientRequest as_hooks_see_it() const noexcept;
  void add_contexts(giop::ContextBuffer& contexts);
  void recompose();
  void choose_code_sets(const std::optional<cdr::CharForm>& body = {});
  void note_code_sets() noexcept;
  void connect();
  const Settings& settings() const noexcept;
  Next exchange(std::span<const RaisesEntry> raises);
  bool wait_for_reply(os::WaitStrategy strategy);
  std::string text_of_late_reply() const;
  [[noreturn]] void raise_failed(const Error& error) const;
  [[noreturn]] void raise_unwritable() const;
  Next failed(const Error& error);
  void expect_rest();
  Next take_reply(std::span<const RaisesEntry> raises);
  Next follow_forward(cdr::Reader& body);
  Next change_addressing(cdr::Reader& body);
  [[noreturn]] void raise_user_exception(cdr::Reader& body, std::span<const RaisesEntry> raises);
  Next take_system_exception(cdr::Reader& body);

  // State of the call in progress.
  CallTarget target_;
  CallOptions options_;
  std::string_view operation_;
  std::uint32_t request_id_ = 0;
  std::size_t body_at_ = 0;
  JobId job_{};  // in the last header that was composed anew for a binding
  giop::RequestCodeSets code_sets_;
  giop::Version version_;
  const ClientHooks* hooks_ = nullptr;  // of the ORB
  std::uint32_t hook_causes_ = 0;       // why hooks apply to the call; 0: none applies
  bool names_connection_ = false;       // the call may use no other connection, as those of tasks
  bool asks_orb_ = false;               // the request asks whether the server is Corelane, see Reference::server_at()
  Time now_{};                          // when the call began
  Time deadline_ = never;
  int retries_ = 0;
  std::uint64_t wait_number_ = 0;  // identifies the waiting thread to call-backs; 0: no call-backs

  // Kept from call to call.
  RequestIds request_ids_;
  cdr::Writer writer_;
  cdr::Writer spare_;
  transport::SendMemory send_memory_;
  std::array<Header, 4> headers_;  // indexed by header_slot()
  PendingReply pending_;
  giop::ChainContext chain_;  // the waits that the call is nested in
  cdr::Reader reader_;
  giop::ContextList contexts_;
  ReferenceEnvironment environment_{static_cast<Orb*>(nullptr)};
  ArrivingResults arrival_{*this};
};

// Returns the error of a call whose results could not be decoded. The operation ran: COMPLETED_YES. If the rest of the
// reply did not come, the call fails as if nothing of it had: COMPLETED_MAYBE.
Error error_of_bad_results(const cdr::Reader& results) noexcept;

// A system exception received in a reply, with the details from the reply's service contexts.
struct ReceivedException {
  Error error;
  Detail detail;
};
// Returns the text for a call that timed out. A job of the task made the call, while `others` other calls waited for
// that job.
std::string text_of_deadlocked_wait(TaskId task, std::size_t others);
ReceivedException read_exception(cdr::Reader& body, const giop::ContextList& contexts);

}  // namespace corelane::core
