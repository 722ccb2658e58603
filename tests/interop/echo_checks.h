// Checks that a Corelane client makes of any server of interop.idl, wherever the server runs.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "interopC.h"
#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"
#include "tests/interop/echo_servant.h"

namespace interop {

using EchoReference = CORBA::object_reference<Interop::Echo>;

template <typename T>
void check_swap(const EchoReference& echo, T (Interop::Echo::*operation)(T, T&, T&), T first, T second) {
  T b = second;
  T c{};
  CHECK((echo.get()->*operation)(first, b, c) == first);
  CHECK(b == first);
  CHECK(c == second);
}

template <typename T>
void check_swap(const EchoReference& echo, T (Interop::Echo::*operation)(const T&, T&, T&), const T& first,
                const T& second) {
  T b = second;
  T c{};
  CHECK((echo.get()->*operation)(first, b, c) == first);
  CHECK(b == first);
  CHECK(c == second);
}

inline void check_numbers(const EchoReference& echo) {
  using Interop::Echo;
  check_swap<bool>(echo, &Echo::swap_boolean, true, false);
  check_swap<char>(echo, &Echo::swap_char, 'x', '\'');
  check_swap<std::uint8_t>(echo, &Echo::swap_octet, 255, 0);
  check_swap<std::int16_t>(echo, &Echo::swap_short, -32768, 32767);
  check_swap<std::uint16_t>(echo, &Echo::swap_ushort, 65535, 1);
  check_swap<std::int32_t>(echo, &Echo::swap_long, std::numeric_limits<std::int32_t>::min(), 7);
  check_swap<std::uint32_t>(echo, &Echo::swap_ulong, 4'000'000'000U, 7);
  check_swap<std::int64_t>(echo, &Echo::swap_longlong, std::numeric_limits<std::int64_t>::min(), 7);
  check_swap<std::uint64_t>(echo, &Echo::swap_ulonglong, std::numeric_limits<std::uint64_t>::max(), 7);
  check_swap<float>(echo, &Echo::swap_float, 0.1F, -3e38F);
  check_swap<double>(echo, &Echo::swap_double, 1e300, -0.1);
  check_swap<Interop::Color>(echo, &Echo::swap_color, Interop::Color::blue, Interop::Color::green);
}

inline void check_strings(const EchoReference& echo) {
  for (const std::string& text : {std::string(), std::string("one"), std::string(100'000, 'x')})
    check_swap<std::string>(echo, &Interop::Echo::swap_string, text, "before");
}

// The letter e with an acute accent, and y with two dots. A peer whose own code set is ISO 8859-1 stores each in one
// byte.
inline const std::string latin_text = "\xc3\xa9\xc3\xbf", euro_text = "\xe2\x82\xac";

// Checks text of ISO 8859-1 in strings, structures, sequences, Anys and exceptions. `there`: the text as the servant
// stores it, in hexadecimal digits.
inline void check_latin_text(const EchoReference& echo, const std::string& there) {
  CHECK(echo->spell(latin_text) == there);
  check_swap<std::string>(echo, &Interop::Echo::swap_string, latin_text, "before " + latin_text);
  check_swap<std::string>(echo, &Interop::Echo::swap_string, std::string(70'000, 'x') + latin_text, latin_text);
  check_swap<Interop::Texts>(echo, &Interop::Echo::swap_texts, {latin_text, "x", latin_text}, {latin_text});
  echo->name(latin_text);
  CHECK(echo->name() == latin_text);
  CORBA::Any a, b, c;
  a <<= latin_text;
  b <<= Interop::Texts{latin_text};
  const CORBA::Any back = echo->swap_any(a, b, c);
  std::string text;
  REQUIRE((back >>= text));
  CHECK(text == latin_text);
  Interop::Texts texts;
  REQUIRE((c >>= texts));
  CHECK(texts == Interop::Texts{latin_text});
}

inline std::uint32_t send_wide_text(const EchoReference& echo) { return echo->length_of(L"wide"); }

// Checks single characters above 0x7F.
inline void check_latin_chars(const EchoReference& echo) {
  CHECK(echo->code_of('\xe9') == 0xe9);
  check_swap<char>(echo, &Interop::Echo::swap_char, '\xe9', '\xff');
}

inline Interop::Basics basics(std::int32_t seed) {
  return Interop::Basics(seed % 2 == 0, static_cast<char>('a' + seed % 26), 255, -32768, 65535, seed, 4'000'000'000U,
                         std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::uint64_t>::max(), 0.1F,
                         -1e300, "text " + std::to_string(seed), Interop::Color::blue);
}

inline bool same(const Interop::Basics& a, const Interop::Basics& b) {
  return a.flag() == b.flag() && a.letter() == b.letter() && a.raw() == b.raw() && a.s() == b.s() && a.us() == b.us() &&
         a.l() == b.l() && a.ul() == b.ul() && a.ll() == b.ll() && a.ull() == b.ull() && a.f() == b.f() &&
         a.d() == b.d() && a.text() == b.text() && a.tint() == b.tint();
}

inline void check_structures(const EchoReference& echo) {
  Interop::Basics b = basics(8);
  Interop::Basics c;
  CHECK(same(echo->swap_basics(basics(7), b, c), basics(7)));
  CHECK(same(b, basics(7)));
  CHECK(same(c, basics(8)));

  const Interop::Tree leaf("leaf", {});
  const Interop::Tree tree("root", {Interop::Tree("left", {}), Interop::Tree("right", {leaf})});
  Interop::Tree other = leaf;
  Interop::Tree old;
  const Interop::Tree result = echo->swap_tree(tree, other, old);
  REQUIRE(result.children().size() == 2);
  REQUIRE(result.children()[1].children().size() == 1);
  CHECK(result.children()[1].children()[0].name() == "leaf");
  CHECK(other.name() == "root");
  CHECK(old.name() == "leaf");
}

inline void check_sequences(const EchoReference& echo) {
  using Interop::Echo;
  for (const std::size_t length : {0U, 1U, 1000U}) {
    Interop::Blob blob(length);
    Interop::Samples samples(length);
    Interop::Colors colors(length);
    Interop::Flags flags(length);
    for (std::size_t i = 0; i < length; ++i) {
      blob[i] = static_cast<std::uint8_t>(i);
      samples[i] = static_cast<double>(i) * 0.1;
      colors[i] = static_cast<Interop::Color>(i % 3);
      flags[i] = i % 3 == 0;
    }
    check_swap<Interop::Blob>(echo, &Echo::swap_blob, blob, {1, 2});
    check_swap<Interop::Samples>(echo, &Echo::swap_samples, samples, {});
    check_swap<Interop::Colors>(echo, &Echo::swap_colors, colors, {Interop::Color::blue});
    check_swap<Interop::Flags>(echo, &Echo::swap_flags, flags, {true});
  }
  check_swap<Interop::Texts>(echo, &Echo::swap_texts, {"", "second"}, {"old"});

  Interop::BasicsList list;
  for (std::int32_t i = 0; i < 100; ++i) list.push_back(basics(i));
  Interop::BasicsList b;
  Interop::BasicsList c;
  const Interop::BasicsList result = echo->swap_list(list, b, c);
  REQUIRE(result.size() == 100);
  for (std::size_t i = 0; i < 100; ++i) CHECK(same(result[i], list[i]));
  CHECK(c.empty());
}

inline Interop::Kinds kinds(const EchoReference& echo) {
  Interop::Kinds k;
  k.cells({{{1, -2, 3}, {4, 5, 6}}});
  k.first().word("green");
  k.second().list({7, 8}, Interop::Color::blue);
  k.wide(L"caf\u00e9 \u4e2d");
  k.letter(L'\u4e2d');
  k.brief("12345678");
  k.type(Interop::_tc_Tree);
  k.anything() <<= basics(4);
  k.target(echo);
  return k;
}

template <typename T>
std::string text_of(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

inline void check_kinds(const EchoReference& echo) {
  check_swap<Interop::Price>(echo, &Interop::Echo::swap_price, Interop::Price("-12345.67"), Interop::Price("0.05"));
  const Interop::Kinds first = kinds(echo);
  Interop::Kinds second = first;
  second.first().number(-7);
  second.anything() <<= "a text";
  Interop::Kinds b = second, c;
  CHECK(text_of(echo->swap_kinds(first, b, c)) == text_of(first));
  CHECK(text_of(b) == text_of(first));
  CHECK(text_of(c) == text_of(second));
  CHECK(b.type()->equal(Interop::_tc_Tree));
  Interop::Basics inside;
  REQUIRE((b.anything() >>= inside));
  CHECK(same(inside, basics(4)));
  CHECK(IDL::traits<Interop::Echo>::narrow(b.target())->name() == echo->name());
}

// Checks an Any of each kind of value, and of Anys.
inline void check_anys(const EchoReference& echo) {
  std::vector<CORBA::Any> anys(8);
  anys[0] <<= kinds(echo);
  anys[1] <<= Interop::Trees{Interop::Tree("root", {Interop::Tree("leaf", {})})};
  anys[2] <<= CORBA::object_reference<CORBA::TypeCode>(Interop::_tc_Kinds);
  anys[3] <<= std::wstring(L"wide \u4e2d");
  anys[4] <<= IDL::Fixed<7, 2>(1.5);
  anys[5] <<= Interop::Color::blue;
  anys[6] <<= kinds(echo).second();
  anys[7] <<= anys[0];
  for (const CORBA::Any& any : anys) {
    CORBA::Any b, c;
    const CORBA::Any result = echo->swap_any(any, b, c);
    CHECK(text_of(result) == text_of(any));
    CHECK(result.type()->equal(any.type()));
    CHECK(text_of(b) == text_of(any));
    CHECK(c.type()->kind() == CORBA::TCKind::tk_null);
  }
  CORBA::Any b, c, reference;
  reference <<= echo;
  EchoReference out;
  REQUIRE((echo->swap_any(reference, b, c) >>= out));
  CHECK(out->name() == echo->name());
}

inline void check_large(const EchoReference& echo) {
  Interop::Blob blob(1 << 19);
  for (std::size_t i = 0; i < blob.size(); ++i) blob[i] = static_cast<std::uint8_t>(i * 7);
  Interop::Blob b;
  Interop::Blob c;
  CHECK((echo->swap_blob(blob, b, c) == blob));
  CHECK((b == blob));
  Interop::Texts texts;
  for (int i = 0; i < 20'000; ++i) texts.push_back(std::to_string(i));
  Interop::Texts more;
  Interop::Texts old;
  CHECK((echo->swap_texts(texts, more, old) == texts));
}

inline void check_references(const EchoReference& echo) {
  const EchoReference self = echo->self();
  REQUIRE(self);
  EchoReference b;
  EchoReference c = self;
  const EchoReference result = echo->swap_echo(self, b, c);
  REQUIRE(result);
  REQUIRE(b);
  CHECK_FALSE(c);
  const std::int32_t before = echo->calls();
  result->count();
  b->count();
  CHECK(echo->calls() == before + 2);
  const Interop::Echoes many = echo->many(3);
  REQUIRE(many.size() == 3);
  many[2]->count();
  const Interop::Echo::Report report = echo->get_report();
  CHECK(report.tint() == Interop::Color::green);
  CHECK((report.lines() == Interop::Texts{"first", ""}));
  report.source()->count();
  CHECK(echo->calls() == before + 4);
}

inline void check_inheritance(const EchoReference& echo) {
  const CORBA::object_reference<CORBA::Object> object = echo;
  const auto counter = IDL::traits<Interop::Counter>::narrow(object);
  REQUIRE(counter);
  const std::int32_t before = echo->calls();
  counter->count();
  CHECK(counter->calls() == before + 1);
  const auto named = IDL::traits<Interop::Named>::narrow(object);
  REQUIRE(named);
  named->name("renamed");
  CHECK(echo->name() == "renamed");
  CHECK(echo->_is_a("IDL:Interop/Counter:1.0"));
  CHECK(echo->_is_a("IDL:omg.org/CORBA/Object:1.0"));
  CHECK_FALSE(echo->_is_a("IDL:Interop/Listener:1.0"));
  CHECK_FALSE(echo->_non_existent());
  CHECK_FALSE(IDL::traits<Interop::Listener>::narrow(object));
}

// `poa` must be active.
inline void check_callbacks(const EchoReference& echo, const CORBA::object_reference<PortableServer::POA>& poa) {
  const auto servant = CORBA::make_reference<ListenerServant>();
  const auto listener = IDL::traits<Interop::Listener>::narrow(poa->servant_to_reference(servant));
  REQUIRE(listener);
  CHECK(echo->tell(listener, "news") == "heard news");
}

inline void check_user_exceptions(const EchoReference& echo) {
  try {
    echo->fail(0);
    FAIL("no exception");
  } catch (const Interop::Refused& refused) {
    CHECK(refused.why() == "no");
    CHECK(refused.code() == 37);
    CHECK(refused.tint() == Interop::Color::blue);
    CHECK(std::string(refused._rep_id()) == "IDL:Interop/Refused:1.0");
  }
  CHECK_THROWS_AS(echo->fail(1), Interop::Plain);
}

template <typename SystemException>
void check_failure(const EchoReference& echo, std::int32_t how, std::uint32_t minor,
                   CORBA::CompletionStatus completed) {
  try {
    echo->fail(how);
    FAIL("no exception");
  } catch (const SystemException& exception) {
    CHECK(exception.minor() == minor);
    CHECK(exception.completed() == completed);
  }
}

inline void check_system_exceptions(const EchoReference& echo) {
  check_failure<CORBA::BAD_PARAM>(echo, 2, 42, CORBA::COMPLETED_MAYBE);
  check_failure<CORBA::TRANSIENT>(echo, 3, 7, CORBA::COMPLETED_NO);
  check_failure<CORBA::NO_IMPLEMENT>(echo, 4, 1, CORBA::COMPLETED_YES);
  try {
    echo->fail(5);
    FAIL("no exception");
  } catch (const CORBA::UNKNOWN& exception) {
    CHECK(exception.completed() == CORBA::COMPLETED_MAYBE);
  }
}

inline void check_oneways(const EchoReference& echo) {
  echo->note("one");
  CHECK(echo->next_note() == "one");
  echo->note("two");
  CHECK(echo->next_note() == "two");
}

}  // namespace interop
