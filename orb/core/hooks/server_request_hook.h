// ServerRequestHook takes part in the requests that this process serves. It reads a service context when the header
// was read, may refuse the request, runs code around the servant's operation, and adds a context to the reply. The
// ORB's own contexts are hooks, too: code sets, contracts and chains.
//
// A hook is one file in this folder and one line in the table of hooks.cpp. A request without service contexts runs no
// hook, unless a setting chooses one that needs no context.
//
// A hook that has something to do later gives the request a note, which is a number. around_upcall() and before_reply()
// run for requests to which the hook gave a note.
//
// Calls within the process have no request, so hooks do not see them.
//
// Threads: constant objects. on_request() runs on the thread that reads the connection, around_upcall() on the thread
// that runs the request, before_reply() on either. They may be real-time threads: the functions do not allocate, block
// or log.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/base/registry.h"
#include "orb/base/time.h"
#include "orb/core/settings.h"
#include "orb/giop/code_sets.h"
#include "orb/giop/context_buffer.h"
#include "orb/giop/contexts.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/giop/message.h"

namespace corelane::core {

// HookNotes is the notes of one request. Hooks are numbered by their place in the table.
struct HookNotes {
  static constexpr std::size_t most = 8;

  void set(std::size_t hook, std::uint64_t value) noexcept {
    mask |= std::uint32_t{1} << hook;
    values[hook] = value;
  }
  bool has(std::size_t hook) const noexcept { return (mask >> hook & 1) != 0; }

  std::uint32_t mask = 0;                    // which hooks gave a note
  std::array<std::uint64_t, most> values{};  // only those in the mask count
};

// ReceivedRequest is what hooks know of a request whose header was read, and what the contexts said. The connection
// keeps one object and begins it again for each request.
struct ReceivedRequest {
  explicit ReceivedRequest(giop::ConnectionCodeSets& sets_of_connection) : connection_code_sets(sets_of_connection) {}

  // Makes it empty, for the next request.
  void begin(std::string_view name, giop::Version message_version, Time at) noexcept {
    operation = name;
    version = message_version;
    received = at;
    contract.reset();
    chain.count = 0;
    notes.mask = 0;
  }
  // Gives the request a note of the hook that is running.
  void note(std::uint64_t value) noexcept { notes.set(running, value); }

  giop::ConnectionCodeSets& connection_code_sets;
  std::string_view operation{};
  giop::Version version{};
  Time received{};

  // Set by hooks.
  std::optional<giop::ContractContext> contract;
  giop::ChainContext chain;
  HookNotes notes;
  std::size_t running = 0;  // the number of the hook that is running
};

// ServerUpcall is the rest of a request: the hooks that follow, and the servant's operation.
class ServerUpcall {
 public:
  // Runs it. It raises nothing: what the servant throws is in the reply.
  virtual void proceed() = 0;
  // Answers the request with the error instead.
  virtual void refuse(const Error& error) = 0;

 protected:
  ~ServerUpcall() = default;
};

struct ServerRequestHook {
  std::string_view name;
  // The id of the context that the hook reads. Nothing: on_request() runs for each request, without content. Such a
  // hook has a setting.
  std::optional<std::uint32_t> context{};
  // Returns whether the hook is in use. Null: always.
  bool (*is_chosen)(const Settings& settings) noexcept = nullptr;
  // Runs when the header was read, in the order of the request's contexts. An error is the request's reply.
  Expected<void> (*on_request)(Bytes content, ReceivedRequest& request) noexcept;
  // Calls upcall.proceed() or upcall.refuse(), once. Null: nothing to do.
  void (*around_upcall)(ServerUpcall& upcall, std::uint64_t note) = nullptr;
  // Runs before the header of the reply is written, which is before the operation runs. Null: nothing to do.
  void (*before_reply)(giop::ContextBuffer& contexts) noexcept = nullptr;
};

// Returns all hooks, at most HookNotes::most. around_upcall() of an earlier one encloses that of a later one.
Registry<ServerRequestHook> server_request_hooks() noexcept;

// ServerHooks is the hooks that are in use in one server.
class ServerHooks {
 public:
  explicit ServerHooks(const Settings& settings) : ServerHooks(settings, server_request_hooks()) {}
  ServerHooks(const Settings& settings, Registry<ServerRequestHook> hooks);

  // Runs on_request() of the hooks, if one can apply. An error is the request's reply.
  Expected<void> read(const giop::ContextList& contexts, ReceivedRequest& request) const noexcept {
    if (contexts.size() == 0 && without_context_ == 0) return {};
    return run(contexts, request);
  }

 private:
  Expected<void> run(const giop::ContextList& contexts, ReceivedRequest& request) const noexcept;
  Expected<void> run_one(std::size_t hook, Bytes content, ReceivedRequest& request) const noexcept;

  const Registry<ServerRequestHook> hooks_;
  // The hooks in use, by number.
  struct WithContext {
    std::uint32_t id = 0;
    std::size_t hook = 0;
  };
  std::array<WithContext, HookNotes::most> with_context_{};
  std::size_t count_with_context_ = 0;
  std::uint32_t without_context_ = 0;  // a mask
};

// Runs around_upcall() of the hooks that gave a note, the first one outermost, and `upcall` inside. `notes` lasts as
// long as the call. Hooks refuse through `upcall`.
void run_around_upcall(const HookNotes& notes, ServerUpcall& upcall, Registry<ServerRequestHook> hooks);
// Runs before_reply() of the hooks in the mask.
void add_reply_contexts(std::uint32_t mask, giop::ContextBuffer& contexts) noexcept;

}  // namespace corelane::core
