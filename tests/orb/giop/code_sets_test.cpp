// Tests which code sets two peers use, and how a connection learns them.
#include "orb/giop/code_sets.h"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "orb/base/minor.h"
#include "orb/cdr/codec.h"
#include "tests/support/bytes/wire.h"

namespace code_sets_test {

using namespace corelane;
using namespace corelane::giop;
using cdr::CharForm;
using cdr::CodeSets;
using cdr::WideUse;
using test::wire;

namespace {

constexpr std::uint32_t ebcdic = 0x10020025, ucs_2 = 0x00010100;
constexpr CodeSetChoice utf_8_and_16{code_set::utf_8, code_set::utf_16};

// Contexts as a request carries them.
struct Contexts {
  explicit Contexts(const std::vector<ServiceContext>& contexts) {
    write_contexts(writer, contexts);
    cdr::Reader reader(writer.bytes());
    REQUIRE(ContextList::read(reader, {}, list));
  }
  cdr::Writer writer;
  ContextList list;
};

// Returns what the server of a connection makes of a request that names this choice.
Expected<CodeSets> named(ConnectionCodeSets& connection, const CodeSetChoice& choice, Version version = giop_1_2) {
  const auto bytes = encode_code_sets(choice);
  return connection.of_request(Contexts({{context::code_sets, bytes}}).list, version);
}
Expected<CodeSets> unnamed(ConnectionCodeSets& connection, Version version = giop_1_2) {
  return connection.of_request({}, version);
}

}  // namespace

TEST_CASE("code set components and contexts come back as they went") {
  const CodeSetInfo info{{code_set::iso_8859_1, {code_set::utf_8, 5}}, {code_set::utf_16, {}}};
  CHECK(*parse_code_sets(make_code_sets(info).data) == info);
  const CodeSetChoice choice{code_set::utf_8, code_set::utf_16};
  CHECK(*decode_code_sets(encode_code_sets(choice)) == choice);
  CHECK(*decode_code_sets(wire("00 000000 05010001 00010109")) == choice);
}

TEST_CASE("the choice of a code set follows the standard's order") {
  const auto chosen = [](CodeSetOffer client, CodeSetOffer server) {
    const auto choice = choose_code_sets({std::move(client), {}}, {std::move(server), {}});
    return choice ? choice->for_char : code_set::none;
  };
  CHECK(chosen({1, {}}, {1, {}}) == 1);          // both native
  CHECK(chosen({1, {2}}, {2, {1}}) == 2);        // the client converts
  CHECK(chosen({1, {}}, {2, {1}}) == 1);         // the server converts
  CHECK(chosen({1, {4, 3}}, {2, {3, 4}}) == 3);  // both convert
  CHECK(chosen({code_set::utf_8, {}}, {2, {}}) == code_set::utf_8);
  CHECK(chosen({1, {}}, {2, {}}) == code_set::none);
}

TEST_CASE("a server that has no wide characters gets none") {
  const CodeSetInfo narrow{{code_set::utf_8, {}}, {}};
  CHECK(choose_code_sets(our_code_sets(), narrow)->for_wchar == code_set::none);
  CHECK(agree_on_code_sets(&narrow).sets == CodeSets{CharForm::utf_8, WideUse::not_offered});
  const CodeSetInfo other{{code_set::utf_8, {}}, {ucs_2, {}}};
  const auto agreed = agree_on_code_sets(&other);
  CHECK((agreed.sets.wide == WideUse::agreed) == (agreed.choice->for_wchar == code_set::utf_16));
}

TEST_CASE("with each kind of peer the code sets are those that the standard's order finds") {
  const CodeSetInfo omniorb{{code_set::iso_8859_1, {code_set::utf_8}}, {code_set::utf_16, {}}};
  const CodeSetInfo tao{{code_set::iso_8859_1, {}}, {}};
  const CodeSetInfo utf_8_only{{code_set::utf_8, {}}, {code_set::utf_16, {}}};
  const CodeSetChoice iso_and_16{code_set::iso_8859_1, code_set::utf_16};
  CHECK(*agree_on_code_sets(&omniorb).choice == iso_and_16);
  CHECK(agree_on_code_sets(&omniorb).sets == CodeSets{CharForm::iso_8859_1, WideUse::agreed});
  CHECK(agree_on_code_sets(&tao).choice->for_char == code_set::iso_8859_1);
  CHECK(*agree_on_code_sets(&utf_8_only).choice == utf_8_and_16);
  CHECK(*agree_on_code_sets(&our_code_sets()).choice == utf_8_and_16);
  // What their clients choose.
  CHECK(*choose_code_sets(omniorb, our_code_sets()) == utf_8_and_16);
  CHECK(choose_code_sets(tao, our_code_sets())->for_char == code_set::iso_8859_1);
}

TEST_CASE("a client names its choice until the connection knows it") {
  const auto server = agree_on_code_sets(&our_code_sets());
  const auto first = code_sets_for(server, giop_1_2, std::nullopt);
  REQUIRE(first);
  CHECK(first->to_name == utf_8_and_16);
  CHECK(first->sets == CodeSets{CharForm::utf_8, WideUse::agreed});
  const auto next = code_sets_for(server, giop_1_2, utf_8_and_16);
  CHECK_FALSE(next->to_name);
  CHECK(next->sets == first->sets);
  // Another reference's choice on the same connection.
  CHECK(code_sets_for(server, giop_1_2, CodeSetChoice{code_set::iso_8859_1, code_set::none})->to_name == utf_8_and_16);
}

TEST_CASE("without code sets in the reference text is ISO 8859-1 unless the connection knows better") {
  const auto server = agree_on_code_sets(nullptr);
  for (const Version version : {giop_1_0, giop_1_1, giop_1_2}) {
    const auto request = code_sets_for(server, version, std::nullopt);
    CHECK(request->sets == CodeSets{CharForm::iso_8859_1, WideUse::no_component});
    CHECK_FALSE(request->to_name);
  }
  CHECK(code_sets_for(server, giop_1_2, utf_8_and_16)->sets == CodeSets{CharForm::utf_8, WideUse::agreed});
  CHECK(code_sets_for(server, giop_1_0, utf_8_and_16)->sets.chars == CharForm::iso_8859_1);
}

TEST_CASE("arguments that are written already keep their code set where the next server takes it") {
  const CodeSetInfo iso_only{{code_set::iso_8859_1, {}}, {}};
  const auto ours = agree_on_code_sets(&our_code_sets());
  const auto kept = code_sets_for(ours, giop_1_2, std::nullopt, CharForm::iso_8859_1);
  REQUIRE(kept);
  CHECK(kept->sets.chars == CharForm::iso_8859_1);
  CHECK(kept->to_name == CodeSetChoice{code_set::iso_8859_1, code_set::utf_16});
  CHECK(code_sets_for(ours, giop_1_2, std::nullopt, CharForm::utf_8)->to_name == utf_8_and_16);
  const auto refused = code_sets_for(agree_on_code_sets(&iso_only), giop_1_2, std::nullopt, CharForm::utf_8);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::codeset_incompatible);
  CHECK_FALSE(code_sets_for(agree_on_code_sets(nullptr), giop_1_2, std::nullopt, CharForm::utf_8));
}

TEST_CASE("the code sets that a request names hold for the rest of its connection") {
  ConnectionCodeSets connection;
  CHECK(*unnamed(connection) == CodeSets{CharForm::iso_8859_1, WideUse::no_context});
  CHECK(*named(connection, utf_8_and_16) == CodeSets{CharForm::utf_8, WideUse::agreed});
  CHECK(*unnamed(connection) == CodeSets{CharForm::utf_8, WideUse::agreed});
  CHECK(*unnamed(connection, giop_1_0) == CodeSets{CharForm::iso_8859_1, WideUse::no_context});
  CHECK(*named(connection, {code_set::iso_8859_1, code_set::none}) ==
        CodeSets{CharForm::iso_8859_1, WideUse::no_context});
  ConnectionCodeSets another;
  CHECK(*unnamed(another) == CodeSets{CharForm::iso_8859_1, WideUse::no_context});
}

// Error paths.

TEST_CASE("a code set that was not offered, and a malformed context, are refused and change nothing") {
  ConnectionCodeSets connection;
  REQUIRE(named(connection, utf_8_and_16));
  for (const std::uint32_t set : {ebcdic, code_set::utf_16, code_set::none}) {
    const auto refused = named(connection, {set, code_set::utf_16});
    REQUIRE_FALSE(refused);
    CHECK(refused.error() == Error{ErrorKind::codeset_incompatible, Completion::no, minor::omg | 2});
  }
  const auto cut = wire("00 000000 05010001 0001");
  const auto refused = connection.of_request(Contexts({{context::code_sets, cut}}).list, giop_1_2);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::marshal);
  CHECK(unnamed(connection)->chars == CharForm::utf_8);
}

}  // namespace code_sets_test
