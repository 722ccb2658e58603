#include "orb/giop/code_sets.h"

#include <algorithm>
#include <cstring>

#include "orb/base/minor.h"
#include "orb/cdr/codec.h"

namespace corelane::giop {
namespace {

bool contains(const std::vector<std::uint32_t>& sets, std::uint32_t set) {
  return std::find(sets.begin(), sets.end(), set) != sets.end();
}

bool speaks(const CodeSetOffer& offer, std::uint32_t set) {
  return offer.native == set || contains(offer.conversions, set);
}

// Applies the standard's algorithm to one kind of character; returns none if there is no common set.
std::uint32_t choose(const CodeSetOffer& client, const CodeSetOffer& server, std::uint32_t fallback) {
  if (server.native != code_set::none && speaks(client, server.native)) return server.native;
  if (client.native != code_set::none && contains(server.conversions, client.native)) return client.native;
  for (const std::uint32_t set : server.conversions)
    if (contains(client.conversions, set)) return set;
  return speaks(client, fallback) ? fallback : code_set::none;
}

void write_offer(cdr::Writer& writer, const CodeSetOffer& offer) {
  encode(writer, offer.native);
  encode(writer, offer.conversions);
}

bool read_offer(cdr::Reader& reader, CodeSetOffer& offer, std::uint32_t most) {
  if (!decode(reader, offer.native) || !decode(reader, offer.conversions)) return false;
  return offer.conversions.size() <= most || reader.fail(minor::too_many_items);
}

cdr::CharForm form_of(std::uint32_t set) noexcept {
  return set == code_set::utf_8 ? cdr::CharForm::utf_8 : cdr::CharForm::iso_8859_1;
}

std::uint32_t set_of(cdr::CharForm form) noexcept {
  return form == cdr::CharForm::iso_8859_1 ? code_set::iso_8859_1 : code_set::utf_8;
}

cdr::WideUse wide_use_of(const CodeSetChoice& choice, const CodeSetOffer& server) {
  if (choice.for_wchar == code_set::utf_16) return cdr::WideUse::agreed;
  return server == CodeSetOffer{} ? cdr::WideUse::not_offered : cdr::WideUse::no_common_set;
}

constexpr Error not_offered{ErrorKind::codeset_incompatible, Completion::no, minor::omg | 2};
constexpr Error none_in_common{ErrorKind::codeset_incompatible, Completion::no, minor::omg | 1};

}  // namespace

const CodeSetInfo& our_code_sets() {
  static const CodeSetInfo info{{code_set::utf_8, {code_set::iso_8859_1}}, {code_set::utf_16, {}}};
  return info;
}

TaggedComponent make_code_sets(const CodeSetInfo& info) {
  cdr::Writer writer;
  writer.write_order();
  write_offer(writer, info.for_char);
  write_offer(writer, info.for_wchar);
  return {component::code_sets, writer.to_vector()};
}

Expected<CodeSetInfo> parse_code_sets(Bytes component, const Limits& limits) {
  cdr::Reader reader = cdr::Reader::of_encapsulation(component);
  CodeSetInfo info;
  if (!read_offer(reader, info.for_char, limits.components) || !read_offer(reader, info.for_wchar, limits.components))
    return reader.error();
  return info;
}

Expected<CodeSetChoice> choose_code_sets(const CodeSetInfo& client, const CodeSetInfo& server) {
  const bool server_has_wchar = server.for_wchar != CodeSetOffer{};
  const CodeSetChoice choice{
      choose(client.for_char, server.for_char, code_set::utf_8),
      server_has_wchar ? choose(client.for_wchar, server.for_wchar, code_set::utf_16) : code_set::none};
  if (choice.for_char == code_set::none) return none_in_common;
  return choice;
}

std::array<std::byte, 12> encode_code_sets(const CodeSetChoice& choice) noexcept {
  std::array<std::byte, 12> bytes{};
  bytes[0] = static_cast<std::byte>(native_order);
  std::memcpy(&bytes[4], &choice.for_char, sizeof choice.for_char);
  std::memcpy(&bytes[8], &choice.for_wchar, sizeof choice.for_wchar);
  return bytes;
}

Expected<CodeSetChoice> decode_code_sets(Bytes context) noexcept {
  cdr::Reader reader = cdr::Reader::of_encapsulation(context);
  CodeSetChoice choice;
  if (!reader.read(choice.for_char) || !reader.read(choice.for_wchar)) return reader.error();
  return choice;
}

CodeSetAgreement agree_on_code_sets(const CodeSetInfo* server) {
  if (server == nullptr) return {};
  const auto choice = choose_code_sets(our_code_sets(), *server);
  if (!choice) return {.error = choice.error()};
  CodeSetAgreement agreement{.choice = *choice,
                             .sets = {form_of(choice->for_char), wide_use_of(*choice, server->for_wchar)}};
  const std::uint32_t other = choice->for_char == code_set::utf_8 ? code_set::iso_8859_1 : code_set::utf_8;
  if (speaks(server->for_char, other)) agreement.other_for_char = other;
  return agreement;
}

const CodeSetAgreement& agreement_of_ours() {
  static const CodeSetAgreement agreement = agree_on_code_sets(&our_code_sets());
  return agreement;
}

Expected<RequestCodeSets> code_sets_for(const CodeSetAgreement& server, Version version,
                                        const std::optional<CodeSetChoice>& named,
                                        const std::optional<cdr::CharForm>& body) {
  RequestCodeSets request{.sets = server.sets};
  std::optional<CodeSetChoice> choice = server.choice;
  if (version == giop_1_0) {
    request.sets = default_for_client;
    choice.reset();
  } else if (!choice && named) {
    request.sets = {form_of(named->for_char), wide_use_of(*named, {})};
  }
  if (body && *body != request.sets.chars) {
    if (!choice || server.other_for_char != set_of(*body)) return none_in_common;
    choice->for_char = set_of(*body);
    request.sets.chars = *body;
  }
  if (choice && choice != named) request.to_name = choice;
  return request;
}

Expected<cdr::CodeSets> ConnectionCodeSets::of_request(const ContextList& contexts, Version version) noexcept {
  if (const auto context = contexts.find(context::code_sets))
    if (const auto taken = take(*context, version); !taken) return taken.error();
  return current(version);
}

Expected<void> ConnectionCodeSets::take(Bytes context, Version version) noexcept {
  if (version == giop_1_0) return {};
  const auto choice = decode_code_sets(context);
  if (!choice) return choice.error();
  if (choice->for_char != code_set::utf_8 && choice->for_char != code_set::iso_8859_1) return not_offered;
  const bool has_wchar = choice->for_wchar == code_set::utf_16;
  sets_ = {form_of(choice->for_char), has_wchar ? cdr::WideUse::agreed : cdr::WideUse::no_context};
  return {};
}

}  // namespace corelane::giop
