// Reads the headers of headers.h.
#include <array>
#include <cstddef>
#include <utility>

#include "orb/base/minor.h"
#include "orb/giop/headers.h"
#include "orb/giop/ior.h"

namespace corelane::giop {
namespace {

using cdr::Reader;
constexpr std::size_t smallest_profile = 8;  // tag and length

bool read_profile(Reader& reader, Target& target) noexcept {
  return reader.read(target.profile_tag) && reader.read_octets(target.profile);
}

// Reads a whole reference and the index of one of its profiles.
bool read_reference(Reader& reader, const Limits& limits, Target& target) noexcept {
  std::string_view type_id;
  std::uint32_t count = 0;
  if (!reader.read(target.selected_profile) || !reader.read_string(type_id)) return false;
  if (!reader.read_length(count, smallest_profile)) return false;
  if (count > limits.profiles) return reader.fail(minor::too_many_items);
  if (target.selected_profile >= count) return reader.fail(minor::bad_ior);
  Target other;
  for (std::uint32_t i = 0; i < count; ++i)  // bound: limits.profiles
    if (!read_profile(reader, i == target.selected_profile ? target : other)) return false;
  return true;
}

[[gnu::hot]] bool read_target(Reader& reader, const Limits& limits, Target& target) noexcept {
  std::uint16_t addressing = 0;
  if (!reader.read(addressing)) return false;
  target.addressing = static_cast<Addressing>(addressing);
  switch (target.addressing) {
    case Addressing::key:
      return reader.read_octets(target.object_key);
    case Addressing::profile:
      if (!read_profile(reader, target)) return false;
      break;
    case Addressing::reference:
      if (!read_reference(reader, limits, target)) return false;
      break;
    default:
      return reader.fail(minor::bad_enum);
  }
  if (target.profile_tag == profile::iiop) target.object_key = object_key_of(target.profile);
  return true;
}

// Reads a request before GIOP 1.2. Skips the obsolete principal at the end.
bool read_old_request(Reader& reader, Version version, const Limits& limits, RequestHeader& header) noexcept {
  bool response_expected = false;
  Bytes principal;
  if (!ContextList::read(reader, limits, header.contexts)) return false;
  if (!reader.read(header.request_id) || !reader.read(response_expected)) return false;
  header.response_flags = response_expected ? response::with_target : response::none;
  if (version == giop_1_1 && !reader.skip(3)) return false;
  return reader.read_octets(header.target.object_key) && reader.read_string(header.operation) &&
         reader.read_octets(principal);
}

bool read_request(Reader& reader, const Limits& limits, RequestHeader& header) noexcept {
  Bytes flags;  // and 3 reserved bytes
  if (!reader.read(header.request_id) || !reader.read_bytes(flags, 4)) return false;
  header.response_flags = std::to_integer<std::uint8_t>(flags[0]);
  return read_target(reader, limits, header.target) && reader.read_string(header.operation) &&
         ContextList::read(reader, limits, header.contexts);
}

[[gnu::hot]] bool read_reply(Reader& reader, Version version, const Limits& limits, ReplyHeader& header) noexcept {
  const bool old = version < giop_1_2;
  if (old && !ContextList::read(reader, limits, header.contexts)) return false;
  std::array<std::uint32_t, 2> first{};  // request id and status
  if (!reader.read_block(first.data(), first.size())) return false;
  const auto last = old ? ReplyStatus::location_forward : ReplyStatus::needs_addressing_mode;
  header.request_id = first[0];
  if (first[1] > static_cast<std::uint32_t>(last)) return reader.fail(minor::bad_enum);
  header.status = static_cast<ReplyStatus>(first[1]);
  return old || ContextList::read(reader, limits, header.contexts);
}

// Moves to the body. GIOP 1.2 aligns it to 8. A sender without a body may omit the padding.
[[gnu::hot]] void stand_at_body(Reader& reader, Version version) noexcept {
  if (version < giop_1_2) return;
  const std::size_t pad = cdr::padding(reader.offset(), 8);
  reader.skip(pad < reader.remaining() ? pad : reader.remaining());
}

// Replaces the value by the error of its reader.
template <typename Header>
void refuse(Expected<Parsed<Header>>& parsed) noexcept {
  parsed = Expected<Parsed<Header>>(parsed->body.error());
}

}  // namespace

// Each function returns one named object on all paths, so the compiler builds it in the caller's storage.
[[gnu::hot]] Expected<Parsed<RequestHeader>> parse_request(const Message& message, const Limits& limits) noexcept {
  const Version version = message.header.version;
  Expected<Parsed<RequestHeader>> parsed(std::in_place, message);
  auto& [header, body] = *parsed;
  const bool ok =
      version < giop_1_2 ? read_old_request(body, version, limits, header) : read_request(body, limits, header);
  ok ? stand_at_body(body, version) : refuse(parsed);
  return parsed;
}

Expected<HalfRequest> parse_beginning(const Message& message, const Limits& limits) noexcept {
  Reader reader = message.body();
  HalfRequest request{.version = message.header.version};
  std::uint8_t flags = 0;
  ContextList contexts;
  const bool contexts_first = request.version < giop_1_2;
  if ((contexts_first && !ContextList::read(reader, limits, contexts)) || !reader.read(request.id) ||
      !reader.read(flags))
    return reader.error();
  request.response_expected = (flags & 1) != 0;  // valid for all versions: the boolean `true`, and the flag of 1.2
  return request;
}

[[gnu::hot]] Expected<Parsed<ReplyHeader>> parse_reply(const Message& message, const Limits& limits) noexcept {
  const Version version = message.header.version;
  Expected<Parsed<ReplyHeader>> parsed(std::in_place, message);
  if (!parse_reply(version, limits, parsed->header, parsed->body)) refuse(parsed);
  return parsed;
}

[[gnu::hot]] bool parse_reply(Version version, const Limits& limits, ReplyHeader& header, Reader& body) noexcept {
  if (!read_reply(body, version, limits, header)) return false;
  stand_at_body(body, version);
  return true;
}

Expected<Parsed<LocateRequestHeader>> parse_locate_request(const Message& message, const Limits& limits) noexcept {
  Expected<Parsed<LocateRequestHeader>> parsed(std::in_place, message);
  auto& [header, body] = *parsed;
  const bool ok =
      body.read(header.request_id) && (message.header.version < giop_1_2 ? body.read_octets(header.target.object_key)
                                                                         : read_target(body, limits, header.target));
  if (!ok) refuse(parsed);
  return parsed;
}

Expected<Parsed<LocateReplyHeader>> parse_locate_reply(const Message& message) noexcept {
  const auto last =
      message.header.version < giop_1_2 ? LocateStatus::object_forward : LocateStatus::needs_addressing_mode;
  Expected<Parsed<LocateReplyHeader>> parsed(std::in_place, message);
  auto& [header, body] = *parsed;
  std::uint32_t status = 0;
  if (body.read(header.request_id) && body.read(status) && status > static_cast<std::uint32_t>(last))
    body.fail(minor::bad_enum);
  header.status = static_cast<LocateStatus>(status);
  if (!body.ok()) refuse(parsed);
  return parsed;
}

Expected<std::uint32_t> parse_cancel_request(const Message& message) noexcept {
  Reader reader = message.body();
  std::uint32_t request_id = 0;
  if (!reader.read(request_id)) return reader.error();
  return request_id;
}

}  // namespace corelane::giop
