// ClientCall: one remote call: request bytes, the way to the server (connections, retries, forwards), and the reply.
//
// Thread: the caller's. Kept in a per-thread cache with its buffers, so that a warm call allocates nothing of its own.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "orb/cdr/reader.h"
#include "orb/cdr/writer.h"
#include "orb/core/client_connection.h"
#include "orb/core/exception.h"
#include "orb/core/invocation.h"
#include "orb/core/reference.h"
#include "orb/core/task_binding.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/giop/headers.h"
#include "orb/transport/send_room.h"

namespace corelane::core {

using ClientCallPtr = std::unique_ptr<ClientCall, ClientCallRecycler>;

struct CallOptions {
  bool oneway = false;
  std::shared_ptr<TaskBinding> binding{};          // the task whose job this is
  std::shared_ptr<ClientConnection> connection{};  // to go over this one and no other
  const Contract* contract = nullptr;              // to ask admission for
  bool waits = true;                               // the calling thread, for the reply
  Time latest = never;                             // ends by then, though timeout.request may be later
};

class ClientCall {
 public:
  static ClientCallPtr acquire();

  // Writes the header; the arguments follow in arguments(). The reference is kept by the caller until the call has
  // ended, or by this where the calling thread does not wait for the reply.
  void begin(const std::shared_ptr<Reference>& reference, std::string_view operation, CallOptions options = {});
  cdr::Writer& arguments() noexcept { return writer_; }

  // Sends, waits, follows forwards. Raises; returns when the operation ended without exception or was oneway.
  void invoke(std::span<const RaisesEntry> raises);
  // The same in pieces, for calls that a collector waits for: post() sends, false: call retry(), which makes the call
  // ready to be sent again or raises; settle(), when pending() has ended: false: post() it again. Raises as invoke().
  bool post(ReplyGroup& group);
  void retry();
  bool settle(std::span<const RaisesEntry> raises);
  PendingReply& pending() noexcept { return pending_; }
  Orb& orb() const noexcept { return *origin_->orb(); }

  // LocateRequest instead of the operation: whether the server has the object. Raises system exceptions.
  bool locate();

  cdr::Reader& results() noexcept { return reader_; }
  // What they could not be read for. The operation ran.
  [[noreturn]] void raise_bad_results() const;
  // The contexts of the reply.
  const giop::ContextList& contexts() const noexcept { return contexts_; }
  // The connection that carried the call.
  const std::shared_ptr<ClientConnection>& connection() const noexcept { return connection_; }

 private:
  friend struct ClientCallRecycler;
  enum class Next : std::uint8_t { done, again };

  void reset() noexcept;
  void compose(cdr::Writer& writer);
  void compose_anew(cdr::Writer& writer);
  // The header of an earlier call, up to its body: calls of one operation through one reference differ in the request
  // id alone, unless they have service contexts.
  struct Header {
    std::uint64_t reference = 0;  // Reference::id()
    const Address* address = nullptr;
    bool oneway = false;
    std::string operation{};
    std::vector<std::byte> bytes{};
  };
  Header& header_slot() noexcept;
  bool header_can_be_kept() const noexcept;
  void recompose();
  void choose_code_sets(const std::optional<cdr::CharForm>& body = {});
  void note_code_sets() noexcept;
  void connect();
  bool may_make_channel() const noexcept;
  void connect_anew(Traffic traffic, CallOrder order);
  void go_over(std::shared_ptr<ClientConnection> connection, const Address& address) noexcept;
  Next exchange(std::span<const RaisesEntry> raises);
  bool wait_for_reply(os::WaitStrategy strategy);
  std::string text_of_late_reply() const;
  [[noreturn]] void raise_failed(const Error& error) const;
  [[noreturn]] void raise_unwritable() const;
  Next failed(const Error& error);
  Next take_reply(std::span<const RaisesEntry> raises);
  Next follow_forward(cdr::Reader& body);
  Next change_addressing(cdr::Reader& body);
  [[noreturn]] void raise_user_exception(cdr::Reader& body, std::span<const RaisesEntry> raises);
  Next take_system_exception(cdr::Reader& body);
  bool is_for_other_server(const Error& error);

  // Of the call under way.
  Reference* origin_ = nullptr;                  // as the caller holds it
  Reference* current_ = nullptr;                 // where it goes now
  std::shared_ptr<Reference> kept_, forwarded_;  // what keeps them, where the caller does not
  CallOptions options_;
  std::shared_ptr<ClientConnection> connection_;
  const Address* address_ = nullptr;  // of current_; by which it goes
  // Of that address, where another one may be tried instead; null: none may.
  const transport::Endpoint* endpoint_ = nullptr;
  std::string_view operation_;
  giop::Addressing addressing_ = giop::Addressing::key;
  std::uint32_t request_id_ = 0;
  std::size_t body_at_ = 0;
  giop::RequestCodeSets code_sets_;
  giop::Version version_;
  bool asks_orb_ = false;  // whether the server is of this ORB, see Reference::server_at()
  Time now_{};             // when the call began
  Time deadline_ = never;
  int forwards_ = 0;
  int retries_ = 0;
  std::uint64_t wait_number_ = 0;  // by which call-backs find the thread; 0: they do not

  // Kept.
  cdr::Writer writer_;
  cdr::Writer spare_;
  transport::SendRoom room_;
  std::array<Header, 4> headers_;  // by header_slot()
  PendingReply pending_;
  giop::ChainContext chain_;  // in which the call is nested
  cdr::Reader reader_;
  giop::ContextList contexts_;
  ReferenceEnvironment environment_{static_cast<Orb*>(nullptr)};
};

// What a reply with a system exception says, contexts included.
struct ReceivedException {
  Error error;
  Detail detail;
};
// What the time-out of a call says that was made by a job of the task, while so many others waited for that job.
std::string text_of_vain_wait(TaskId task, std::size_t others);
ReceivedException read_exception(cdr::Reader& body, const giop::ContextList& contexts);

}  // namespace corelane::core
