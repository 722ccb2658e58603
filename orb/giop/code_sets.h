// Code sets: which encodings two ORBs use for char and wchar. CORBA 3.3 part 2, 7.2.6 and 9.10 (negotiation).
// Corelane's char data is UTF-8 without conversions to offer: a peer then either converts to UTF-8 itself, as the
// standard's algorithm asks of it, or is told that the two cannot talk.
//
// Threads: none; values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/giop/contexts.h"
#include "orb/giop/ior.h"

namespace corelane::giop {

// Numbers of the OSF character and code set registry.
namespace code_set {
inline constexpr std::uint32_t none = 0;
inline constexpr std::uint32_t iso_8859_1 = 0x00010001;
inline constexpr std::uint32_t utf_16 = 0x00010109;
inline constexpr std::uint32_t utf_8 = 0x05010001;
}  // namespace code_set

// What one side speaks for one kind of character.
struct CodeSetOffer {
  std::uint32_t native = code_set::none;
  std::vector<std::uint32_t> conversions;
  friend bool operator==(const CodeSetOffer&, const CodeSetOffer&) = default;
};

// TAG_CODE_SETS.
struct CodeSetInfo {
  CodeSetOffer for_char;
  CodeSetOffer for_wchar;
  friend bool operator==(const CodeSetInfo&, const CodeSetInfo&) = default;
};

// The code-set service context: what the client chose, for the rest of the connection.
struct CodeSetChoice {
  std::uint32_t for_char = code_set::iso_8859_1;  // the standard's default where nothing was said
  std::uint32_t for_wchar = code_set::none;
  friend bool operator==(const CodeSetChoice&, const CodeSetChoice&) = default;
};

// Corelane's own.
const CodeSetInfo& our_code_sets();

TaggedComponent make_code_sets(const CodeSetInfo& info);
Expected<CodeSetInfo> parse_code_sets(Bytes component, const Limits& limits = {});

// The client's choice by the standard's algorithm: the server's native set if the client has it, else the client's
// native set if the server converts it, else a common conversion, else UTF-8 or UTF-16 where native sets are related.
// Failed (CODESET_INCOMPATIBLE): none for char. No common wchar set gives none: it fails only if wchar is used.
Expected<CodeSetChoice> choose_code_sets(const CodeSetInfo& client, const CodeSetInfo& server);

// 12 bytes: byte order, pad, two ulongs.
std::array<std::byte, 12> encode_code_sets(const CodeSetChoice& choice) noexcept;
Expected<CodeSetChoice> decode_code_sets(Bytes context) noexcept;

// Well-formed UTF-8: shortest forms, no surrogates, at most U+10FFFF.
bool is_utf8(std::string_view text) noexcept;

}  // namespace corelane::giop
