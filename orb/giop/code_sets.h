// Negotiates the code sets of two ORBs: the encodings of strings and wide characters. CORBA 3.3 part 2, 7.2.6 and 9.10.
// Corelane's own code sets are UTF-8 and UTF-16, and it converts ISO 8859-1 (orb/cdr/text.h).
//
// The server's reference offers code sets (TAG_CODE_SETS). The client chooses, and names its choice in the first
// requests of a connection (the CodeSets context). If one of the two is missing, strings are ISO 8859-1 and wide
// characters are not possible. The same holds for GIOP 1.0, which has no code sets.
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

// The code sets of one side for one kind of character.
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

// The code-set service context: the client's choice for the rest of the connection.
struct CodeSetChoice {
  std::uint32_t for_char = code_set::iso_8859_1;  // the standard's default
  std::uint32_t for_wchar = code_set::none;
  friend bool operator==(const CodeSetChoice&, const CodeSetChoice&) = default;
};

// Returns Corelane's own code sets. The next two functions encode and decode TAG_CODE_SETS.
const CodeSetInfo& our_code_sets();

TaggedComponent make_code_sets(const CodeSetInfo& info);
Expected<CodeSetInfo> parse_code_sets(Bytes component, const Limits& limits = {});

// Chooses by the standard's algorithm. The result is the server's native set if the client has it. Otherwise it is the
// client's native set if the server converts it, else a common conversion, else UTF-8 or UTF-16 if native sets are
// related. Failed (CODESET_INCOMPATIBLE): no set for char. Without a common set for wchar the result is none, which
// fails only if wchar is used.
Expected<CodeSetChoice> choose_code_sets(const CodeSetInfo& client, const CodeSetInfo& server);

// Encodes to 12 bytes: byte order, padding, two ulongs.
std::array<std::byte, 12> encode_code_sets(const CodeSetChoice& choice) noexcept;
Expected<CodeSetChoice> decode_code_sets(Bytes context) noexcept;

// The code sets if none were named.
inline constexpr cdr::CodeSets default_for_client{cdr::CharForm::iso_8859_1, cdr::WideUse::no_component};
inline constexpr cdr::CodeSets default_for_server{cdr::CharForm::iso_8859_1, cdr::WideUse::no_context};

// What a client knows about a server's code sets.
struct CodeSetAgreement {
  std::optional<CodeSetChoice> choice{};    // to be named to the server; nothing: the reference offers no code sets
  cdr::CodeSets sets = default_for_client;  // the sets of that choice
  std::optional<std::uint32_t> other_for_char{};  // our other set for char, if the server takes it, too
  std::optional<Error> error{};                   // client and server have no common set
};
// Computes the agreement. `server`: what the server's reference offers; null: nothing.
CodeSetAgreement agree_on_code_sets(const CodeSetInfo* server);
// Returns the agreement with a server of this ORB.
const CodeSetAgreement& agreement_of_ours();

// The code sets of one request.
struct RequestCodeSets {
  cdr::CodeSets sets;
  std::optional<CodeSetChoice> to_name{};  // the choice that the request must name
};
// Returns the code sets of a client's request. `named`: the choice that was already named on the connection. `body`:
// the form of arguments that are already written and depend on it. Failed (CODESET_INCOMPATIBLE): the server does not
// take this form.
Expected<RequestCodeSets> code_sets_for(const CodeSetAgreement& server, Version version,
                                        const std::optional<CodeSetChoice>& named,
                                        const std::optional<cdr::CharForm>& body = {});

// ConnectionCodeSets holds the code sets of one connection as its server knows them. Thread: the reader's.
class ConnectionCodeSets {
 public:
  // Returns the code sets of a request with these contexts, and remembers them. Failed (CODESET_INCOMPATIBLE, MARSHAL):
  // the request names a set that was not offered, or is malformed. Then the earlier sets stay.
  Expected<cdr::CodeSets> of_request(const ContextList& contexts, Version version) noexcept;
  // Does the first half of it: remembers what the content of a CodeSets context names. GIOP 1.0 has no code sets.
  Expected<void> take(Bytes context, Version version) noexcept;
  // Does the second half: returns the code sets of the request whose context was taken, or that has none.
  const cdr::CodeSets& current(Version version) const noexcept {
    return version == giop_1_0 ? default_for_server : sets_;
  }

 private:
  cdr::CodeSets sets_ = default_for_server;
};

}  // namespace corelane::giop
