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

// The standard's algorithm for one kind of character; none when it finds nothing.
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

}  // namespace

const CodeSetInfo& our_code_sets() {
  static const CodeSetInfo info{{code_set::utf_8, {}}, {code_set::utf_16, {}}};
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
  const CodeSetChoice choice{choose(client.for_char, server.for_char, code_set::utf_8),
                             choose(client.for_wchar, server.for_wchar, code_set::utf_16)};
  if (choice.for_char == code_set::none) return Error{ErrorKind::codeset_incompatible, Completion::no, minor::omg | 1};
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

bool is_utf8(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned lead = at(i);
    const std::size_t size = lead < 0x80   ? 1
                             : lead < 0xc2 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf5 ? 4
                                           : 0;
    if (size == 0) return false;
    for (std::size_t k = 1; k < size; ++k)
      if ((at(i + k) & 0xc0) != 0x80) return false;
    const unsigned second = at(i + 1);
    if (lead == 0xe0 && second < 0xa0) return false;  // longer than need be
    if (lead == 0xed && second > 0x9f) return false;  // surrogates
    if (lead == 0xf0 && second < 0x90) return false;
    if (lead == 0xf4 && second > 0x8f) return false;  // beyond U+10FFFF
    i += size;
  }
  return true;
}

}  // namespace corelane::giop
