// Code sets: which encodings two ORBs use for strings and wide characters. CORBA 3.3 part 2, 7.2.6 and 9.10
// (negotiation). Corelane's own are UTF-8 and UTF-16, and it converts ISO 8859-1 (orb/cdr/text.h).
//
// The server's reference offers code sets (TAG_CODE_SETS), the client chooses, and names its choice in the first
// requests of a connection (the CodeSets context). Where one of the two is missing, strings are ISO 8859-1 and wide
// characters are not possible; so they are in GIOP 1.0, which has no code sets.
//
// Threads: none; values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/giop/contexts.h"
#include "orb/giop/ior.h"
#include "orb/giop/message.h"

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

// Where nothing was named.
inline constexpr cdr::CodeSets default_for_client{cdr::CharForm::iso_8859_1, cdr::WideUse::no_component};
inline constexpr cdr::CodeSets default_for_server{cdr::CharForm::iso_8859_1, cdr::WideUse::no_context};

// What a client knows of a server.
struct CodeSetAgreement {
  std::optional<CodeSetChoice> choice{};          // to be named; nothing: the reference offers no code sets
  cdr::CodeSets sets = default_for_client;        // that it means
  std::optional<std::uint32_t> other_for_char{};  // which the server takes too: the other one of ours
  std::optional<Error> error{};                   // the two have none in common
};
// `server`: what its reference offers, if anything.
CodeSetAgreement agree_on_code_sets(const CodeSetInfo* server);
// With a server of this ORB.
const CodeSetAgreement& agreement_of_ours();

// The code sets of one request.
struct RequestCodeSets {
  cdr::CodeSets sets;
  std::optional<CodeSetChoice> to_name{};  // with the request
};
// For a client's request, over a connection on which `named` was named. `body`: of arguments that are written already
// and depend on it. Failed (CODESET_INCOMPATIBLE): the server does not take them so.
Expected<RequestCodeSets> code_sets_for(const CodeSetAgreement& server, Version version,
                                        const std::optional<CodeSetChoice>& named,
                                        const std::optional<cdr::CharForm>& body = {});

// The code sets of one connection as its server knows them. Thread: the reader's.
class ConnectionCodeSets {
 public:
  // Of a request that came with these contexts. Failed (CODESET_INCOMPATIBLE, MARSHAL): it names a set that was not
  // offered, or is malformed; what was known before stays.
  Expected<cdr::CodeSets> of_request(const ContextList& contexts, Version version) noexcept;

 private:
  cdr::CodeSets sets_ = default_for_server;
};

}  // namespace corelane::giop
