// Says how long the client waits for the reply (timeout.propagate). The server does not run the request after that
// time, because its client has given up. The servant's own calls end by then, too (CallDeadline).
//
// Layout of the context, 16 bytes: 0 byte order, 1 version, 8 time left when the request was written (u64, ns). A later
// version only appends fields.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "orb/base/errors.h"
#include "orb/core/call_deadline.h"
#include "orb/core/hooks/client_request_hook.h"
#include "orb/core/hooks/refusals.h"
#include "orb/core/hooks/server_request_hook.h"
#include "orb/os/clock.h"

namespace corelane::core {
namespace {

// A time left beyond this is as good as none.
constexpr std::uint64_t longest_time_left = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / 4;

std::array<std::byte, 16> encode_time_left(Duration left) noexcept {
  std::array<std::byte, 16> bytes{};
  bytes[0] = static_cast<std::byte>(native_order);
  bytes[1] = std::byte{1};
  const auto count = static_cast<std::uint64_t>(left.count());
  std::memcpy(&bytes[8], &count, sizeof count);
  return bytes;
}

Expected<std::uint64_t> decode_time_left(Bytes content) noexcept {
  cdr::Reader reader = cdr::Reader::of_encapsulation(content);
  std::uint8_t version = 0;
  std::uint64_t left = 0;
  if (!reader.read(version) || !reader.read(left)) return reader.error();
  if (version == 0) return Error{ErrorKind::marshal, Completion::no, minor::bad_encapsulation};
  return left;
}

}  // namespace

namespace client_hooks {

extern const ClientRequestHook deadline{
    .name = "deadline",
    .is_chosen = [](const Settings& settings) noexcept { return settings.propagate_deadlines; },
    .before_send = [](const ClientRequest& request, giop::ContextBuffer& contexts) noexcept -> Expected<void> {
      if (request.deadline == never) return {};
      const Duration left = request.deadline - os::now();
      if (left <= Duration::zero()) return errors::deadline_passed;
      return room_for_context(contexts.add(giop::context::deadline, encode_time_left(left)));
    },
};

}  // namespace client_hooks

namespace server_hooks {

extern const ServerRequestHook deadline{
    .name = "deadline",
    .context = giop::context::deadline,
    .on_request = [](Bytes content, ReceivedRequest& request) noexcept -> Expected<void> {
      const auto left = decode_time_left(content);
      if (!left) return left.error();
      if (*left > longest_time_left) return {};
      const Time latest = request.received + Duration{static_cast<std::int64_t>(*left)};
      request.note(static_cast<std::uint64_t>(latest.time_since_epoch().count()));
      return {};
    },
    .around_upcall =
        [](ServerUpcall& upcall, std::uint64_t note) {
          const Time latest{Duration{static_cast<std::int64_t>(note)}};
          if (os::now() >= latest) return upcall.refuse(errors::deadline_passed);
          const CallDeadline limit(latest);
          upcall.proceed();
        },
};

}  // namespace server_hooks

}  // namespace corelane::core
