// An omniORB client of interop.idl: omni_client <reference> <check>. Exits with 0 if the check holds. Otherwise it
// writes what differed to standard error.
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>

#include "omni_servant.h"
#include "omni_value_checks.h"

namespace {

using interop::OmniListener;

void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}
#define REQUIRE(condition) require((condition), #condition)

PortableServer::POA_var root_poa;

Interop::Basics basics(CORBA::Long seed) {
  Interop::Basics b;
  b.flag = seed % 2 == 0;
  b.letter = static_cast<CORBA::Char>('a' + seed % 26);
  b.raw = 255;
  b.s = std::numeric_limits<CORBA::Short>::min();
  b.us = 65535;
  b.l = seed;
  b.ul = 4000000000U;
  b.ll = std::numeric_limits<CORBA::LongLong>::min();
  b.ull = std::numeric_limits<CORBA::ULongLong>::max();
  b.f = 0.1F;
  b.d = -1e300;
  b.text = ("text " + std::to_string(seed)).c_str();
  b.tint = Interop::blue;
  return b;
}

bool same(const Interop::Basics& a, const Interop::Basics& b) {
  return a.flag == b.flag && a.letter == b.letter && a.raw == b.raw && a.s == b.s && a.us == b.us && a.l == b.l &&
         a.ul == b.ul && a.ll == b.ll && a.ull == b.ull && a.f == b.f && a.d == b.d &&
         std::string(a.text) == std::string(b.text) && a.tint == b.tint;
}

template <typename T, typename Operation>
void check_swap(Interop::Echo_ptr echo, Operation operation, T first, T second) {
  T b = second;
  T c{};
  REQUIRE((echo->*operation)(first, b, c) == first);
  REQUIRE(b == first);
  REQUIRE(c == second);
}

void numbers(Interop::Echo_ptr echo) {
  using Interop::_objref_Echo;
  check_swap<CORBA::Boolean>(echo, &_objref_Echo::swap_boolean, true, false);
  check_swap<CORBA::Char>(echo, &_objref_Echo::swap_char, 'x', '\'');
  check_swap<CORBA::Octet>(echo, &_objref_Echo::swap_octet, 255, 0);
  check_swap<CORBA::Short>(echo, &_objref_Echo::swap_short, -32768, 32767);
  check_swap<CORBA::UShort>(echo, &_objref_Echo::swap_ushort, 65535, 1);
  check_swap<CORBA::Long>(echo, &_objref_Echo::swap_long, std::numeric_limits<CORBA::Long>::min(), 7);
  check_swap<CORBA::ULong>(echo, &_objref_Echo::swap_ulong, 4000000000U, 7);
  check_swap<CORBA::LongLong>(echo, &_objref_Echo::swap_longlong, std::numeric_limits<CORBA::LongLong>::min(), 7);
  check_swap<CORBA::ULongLong>(echo, &_objref_Echo::swap_ulonglong, std::numeric_limits<CORBA::ULongLong>::max(), 7);
  check_swap<CORBA::Float>(echo, &_objref_Echo::swap_float, 0.1F, -3e38F);
  check_swap<CORBA::Double>(echo, &_objref_Echo::swap_double, 1e300, -0.1);
  check_swap<Interop::Color>(echo, &_objref_Echo::swap_color, Interop::blue, Interop::green);
}

void strings(Interop::Echo_ptr echo) {
  for (const std::string& text : {std::string(), std::string("one"), std::string(100000, 'x')}) {
    CORBA::String_var b = CORBA::string_dup("before");
    CORBA::String_var c;
    const CORBA::String_var result = echo->swap_string(text.c_str(), b.inout(), c.out());
    REQUIRE(result.in() == text);
    REQUIRE(b.in() == text);
    REQUIRE(c.in() == std::string("before"));
  }
}

void structures(Interop::Echo_ptr echo) {
  const Interop::Basics a = basics(7);
  Interop::Basics b = basics(8);
  Interop::Basics_var c;
  Interop::Basics_var result = echo->swap_basics(a, b, c.out());
  REQUIRE(same(result, a));
  REQUIRE(same(b, a));
  REQUIRE(same(c, basics(8)));

  Interop::Tree tree;
  tree.name = "root";
  tree.children.length(2);
  tree.children[0].name = "left";
  tree.children[1].name = "right";
  tree.children[1].children.length(1);
  tree.children[1].children[0].name = "leaf";
  Interop::Tree other;
  Interop::Tree_var old;
  Interop::Tree_var grown = echo->swap_tree(tree, other, old.out());
  REQUIRE(grown->children.length() == 2);
  REQUIRE(std::string(grown->children[1].children[0].name) == "leaf");
  REQUIRE(std::string(other.children[0].name) == "left");
  REQUIRE(old->children.length() == 0);
}

template <typename Sequence, typename Var, typename Operation>
void check_sequence(Interop::Echo_ptr echo, Operation operation, const Sequence& a) {
  Sequence b;
  Var c;
  Var result = (echo->*operation)(a, b, c.out());
  REQUIRE(result->length() == a.length());
  REQUIRE(b.length() == a.length());
  REQUIRE(c->length() == 0);
  for (CORBA::ULong i = 0; i < a.length(); ++i) REQUIRE(a[i] == result[i]);
}

void sequences(Interop::Echo_ptr echo) {
  using Interop::_objref_Echo;
  for (const CORBA::ULong length : {0U, 1U, 1000U}) {
    Interop::Blob blob;
    Interop::Samples samples;
    Interop::Colors colors;
    Interop::Flags flags;
    blob.length(length);
    samples.length(length);
    colors.length(length);
    flags.length(length);
    for (CORBA::ULong i = 0; i < length; ++i) {
      blob[i] = static_cast<CORBA::Octet>(i);
      samples[i] = i * 0.1;
      colors[i] = static_cast<Interop::Color>(i % 3);
      flags[i] = i % 3 == 0;
    }
    check_sequence<Interop::Blob, Interop::Blob_var>(echo, &_objref_Echo::swap_blob, blob);
    check_sequence<Interop::Samples, Interop::Samples_var>(echo, &_objref_Echo::swap_samples, samples);
    check_sequence<Interop::Colors, Interop::Colors_var>(echo, &_objref_Echo::swap_colors, colors);
    check_sequence<Interop::Flags, Interop::Flags_var>(echo, &_objref_Echo::swap_flags, flags);
  }
  Interop::BasicsList list;
  list.length(100);
  for (CORBA::ULong i = 0; i < list.length(); ++i) list[i] = basics(static_cast<CORBA::Long>(i));
  Interop::BasicsList b;
  Interop::BasicsList_var c;
  Interop::BasicsList_var result = echo->swap_list(list, b, c.out());
  REQUIRE(result->length() == 100);
  for (CORBA::ULong i = 0; i < 100; ++i) REQUIRE(same(result[i], list[i]));

  Interop::Texts texts;
  texts.length(2);
  texts[0] = "";
  texts[1] = "second";
  Interop::Texts more;
  Interop::Texts_var old;
  Interop::Texts_var same_texts = echo->swap_texts(texts, more, old.out());
  REQUIRE(std::string(same_texts[0]).empty());
  REQUIRE(std::string(more[1]) == "second");
}

// Returns a value that is long enough for omniORB to send it in fragments with GIOP 1.2.
Interop::Kinds kinds(Interop::Echo_ptr echo) {
  Interop::Kinds k;
  for (CORBA::ULong i = 0; i < 6; ++i) k.cells[i / 3][i % 3] = static_cast<CORBA::Long>(i) - 2;
  k.first.word("green");
  Interop::Few list;
  list.length(2);
  list[0] = 7;
  list[1] = 8;
  k.second.list(list);
  k.second._d(Interop::blue);
  k.wide = L"caf\u00e9 \u4e2d";
  k.letter = L'\u4e2d';
  k.brief = "12345678";
  k.type = CORBA::TypeCode::_duplicate(Interop::_tc_Tree);
  k.anything <<= basics(4);
  k.target = CORBA::Object::_duplicate(echo);
  return k;
}

bool same(const Interop::Kinds& a, const Interop::Kinds& b) {
  const Interop::Basics* inside = nullptr;
  return a.cells[1][2] == b.cells[1][2] && a.cells[0][0] == b.cells[0][0] && a.first._d() == b.first._d() &&
         a.second._d() == Interop::blue && a.second.list().length() == 2 && a.second.list()[1] == 8 &&
         std::wstring(a.wide) == std::wstring(b.wide) && a.letter == b.letter &&
         std::string(a.brief) == std::string(b.brief) && a.type->equal(b.type) && (a.anything >>= inside) &&
         same(*inside, basics(4)) && a.target->_is_equivalent(b.target);
}

void all_kinds(Interop::Echo_ptr echo) {
  Interop::Price price("0.05"), old_price;
  REQUIRE(echo->swap_price(Interop::Price("-12345.67"), price, old_price) == CORBA::Fixed("-12345.67"));
  REQUIRE(price == CORBA::Fixed("-12345.67") && old_price == CORBA::Fixed("0.05"));
  const Interop::Kinds first = kinds(echo);
  Interop::Kinds second = first;
  second.first.number(-7);
  Interop::Kinds_var c;
  Interop::Kinds b = second;
  const Interop::Kinds_var result = echo->swap_kinds(first, b, c.out());
  REQUIRE(same(result, first));
  REQUIRE(same(b, first));
  REQUIRE(c->first.number() == -7);
  CORBA::Any any, other;
  any <<= first;
  CORBA::Any_var old;
  const CORBA::Any_var back = echo->swap_any(any, other, old.out());
  const Interop::Kinds* inside = nullptr;
  REQUIRE((back >>= inside) && same(*inside, first));
  const CORBA::TypeCode_var type = back->type();
  REQUIRE(type->equal(Interop::_tc_Kinds));
}

void large(Interop::Echo_ptr echo) {
  Interop::Blob blob;
  blob.length(1 << 19);
  for (CORBA::ULong i = 0; i < blob.length(); ++i) blob[i] = static_cast<CORBA::Octet>(i * 7);
  check_sequence<Interop::Blob, Interop::Blob_var>(echo, &Interop::_objref_Echo::swap_blob, blob);
  Interop::Texts texts;
  texts.length(20000);
  for (CORBA::ULong i = 0; i < texts.length(); ++i) texts[i] = std::to_string(i).c_str();
  Interop::Texts b;
  Interop::Texts_var c;
  Interop::Texts_var result = echo->swap_texts(texts, b, c.out());
  REQUIRE(result->length() == texts.length());
  REQUIRE(std::string(result[19999]) == "19999");
}

void references(Interop::Echo_ptr echo) {
  const Interop::Echo_var self = echo->self();
  REQUIRE(self->_is_equivalent(echo));
  Interop::Echo_var b = Interop::Echo::_nil();
  Interop::Echo_var c;
  const Interop::Echo_var result = echo->swap_echo(self, b.inout(), c.out());
  REQUIRE(!CORBA::is_nil(result));
  REQUIRE(!CORBA::is_nil(b));
  REQUIRE(CORBA::is_nil(c));
  const CORBA::Long before = echo->calls();
  result->count();
  b->count();
  REQUIRE(echo->calls() == before + 2);
  Interop::Echoes_var many = echo->many(3);
  REQUIRE(many->length() == 3);
  many[2]->count();
  REQUIRE(echo->calls() == before + 3);
  Interop::Echo::Report_var report = echo->get_report();
  REQUIRE(report->tint == Interop::green);
  REQUIRE(report->lines.length() == 2);
  report->source->count();
  REQUIRE(echo->calls() == before + 4);
}

void inheritance(Interop::Echo_ptr echo) {
  const Interop::Counter_var counter = Interop::Counter::_narrow(echo);
  const CORBA::Long before = echo->calls();
  counter->count();
  REQUIRE(counter->calls() == before + 1);
  const Interop::Named_var named = Interop::Named::_narrow(echo);
  named->name("renamed");
  REQUIRE(std::string(CORBA::String_var(echo->name())) == "renamed");
  REQUIRE(echo->_is_a("IDL:Interop/Counter:1.0"));
  REQUIRE(echo->_is_a("IDL:omg.org/CORBA/Object:1.0"));
  REQUIRE(!echo->_is_a("IDL:Interop/Listener:1.0"));
  REQUIRE(!echo->_non_existent());
  REQUIRE(CORBA::is_nil(Interop::Listener_var(Interop::Listener::_narrow(echo))));
}

void callbacks(Interop::Echo_ptr echo) {
  PortableServer::Servant_var<OmniListener> servant = new OmniListener;
  const Interop::Listener_var listener = servant->_this();
  REQUIRE(std::string(CORBA::String_var(echo->tell(listener, "news"))) == "heard news");
}

void user_exceptions(Interop::Echo_ptr echo) {
  try {
    echo->fail(0);
    throw std::logic_error("no exception");
  } catch (const Interop::Refused& refused) {
    REQUIRE(std::string(refused.why) == "no");
    REQUIRE(refused.code == static_cast<CORBA::Long>(Interop::refusal_code));
    REQUIRE(refused.tint == Interop::blue);
  }
  try {
    echo->fail(1);
    throw std::logic_error("no exception");
  } catch (const Interop::Plain&) {
  }
}

template <typename SystemException>
void check_failure(Interop::Echo_ptr echo, CORBA::Long how, CORBA::ULong minor, CORBA::CompletionStatus completed) {
  try {
    echo->fail(how);
    throw std::logic_error("no exception");
  } catch (const SystemException& exception) {
    REQUIRE(exception.minor() == minor);
    REQUIRE(exception.completed() == completed);
  }
}

void system_exceptions(Interop::Echo_ptr echo) {
  check_failure<CORBA::BAD_PARAM>(echo, 2, 42, CORBA::COMPLETED_MAYBE);
  check_failure<CORBA::NO_IMPLEMENT>(echo, 4, 1, CORBA::COMPLETED_YES);
  try {
    echo->fail(5);
    throw std::logic_error("no exception");
  } catch (const CORBA::UNKNOWN& exception) {
    REQUIRE(exception.completed() == CORBA::COMPLETED_MAYBE);
  }
}

void oneways(Interop::Echo_ptr echo) {
  echo->note("one");
  REQUIRE(std::string(CORBA::String_var(echo->next_note())) == "one");
  echo->note("two");
  REQUIRE(std::string(CORBA::String_var(echo->next_note())) == "two");
}

// `mine`: the text in this ORB's own code set. `there`: the text as a servant of Corelane stores it, in hexadecimal
// digits.
void check_text(Interop::Echo_ptr echo, const std::string& mine, const std::string& there) {
  REQUIRE(std::string(CORBA::String_var(echo->spell(mine.c_str()))) == there);
  CORBA::String_var b = CORBA::string_dup(mine.c_str()), c;
  const CORBA::String_var result = echo->swap_string(mine.c_str(), b.inout(), c.out());
  REQUIRE(std::string(result) == mine);
  REQUIRE(std::string(c) == mine);
  echo->name(mine.c_str());
  REQUIRE(std::string(CORBA::String_var(echo->name())) == mine);
}

void latin_text(Interop::Echo_ptr echo) {
  check_text(echo, "\xe9\xff", "c3a9c3bf");
  CORBA::Any a, b;
  CORBA::Any_var c;
  a <<= "\xe9\xff";
  b <<= CORBA::Long{1};
  const CORBA::Any_var back = echo->swap_any(a, b, c.out());
  const char* text = nullptr;
  REQUIRE((back.in() >>= text));
  REQUIRE(std::string(text) == "\xe9\xff");
}

void every_text(Interop::Echo_ptr echo) {
  check_text(echo, "\xc3\xa9", "c3a9");
  check_text(echo, "\xe2\x82\xac", "e282ac");
}

void latin_chars(Interop::Echo_ptr echo) {
  REQUIRE(echo->code_of('\xe9') == 0xe9);
  check_swap<CORBA::Char>(echo, &Interop::_objref_Echo::swap_char, '\xe9', '\xff');
}

void refused_char(Interop::Echo_ptr echo) {
  try {
    echo->code_of('\xe9');
    throw std::logic_error("it was sent");
  } catch (const CORBA::DATA_CONVERSION&) {
  }
  REQUIRE(echo->code_of('x') == 'x');
}

const std::map<std::string, std::function<void(Interop::Echo_ptr)>> checks = {
    {"latin text", latin_text},
    {"every text", every_text},
    {"latin chars", latin_chars},
    {"refused char", refused_char},
    {"numbers", numbers},
    {"strings", strings},
    {"structures", structures},
    {"sequences", sequences},
    {"kinds", all_kinds},
    {"large", large},
    {"references", references},
    {"inheritance", inheritance},
    {"callbacks", callbacks},
    {"user_exceptions", user_exceptions},
    {"system_exceptions", system_exceptions},
    {"oneways", oneways},
};

// Checks of Exchange.
const std::map<std::string, std::function<void(InteropValues::Exchange_ptr)>> value_checks = {
    {"value sharing", interop::check_sharing},       {"value circles", interop::check_circles},
    {"value truncation", interop::check_truncation}, {"value boxes", interop::check_boxes},
    {"value anys", interop::check_values_in_anys},   {"abstract interfaces", interop::check_abstract},
};

int run(int argc, char** argv) {
  CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
  CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
  root_poa = PortableServer::POA::_narrow(root);
  PortableServer::POAManager_var(root_poa->the_POAManager())->activate();
  CORBA::Object_var object = orb->string_to_object(argv[1]);
  if (const auto check = value_checks.find(argv[2]); check != value_checks.end()) {
    interop::register_factories(orb);
    const InteropValues::Exchange_var exchange = InteropValues::Exchange::_narrow(object);
    REQUIRE(!CORBA::is_nil(exchange));
    check->second(exchange);
    orb->destroy();
    return 0;
  }
  // omniORB verifies the object with a LocateRequest first.
  const Interop::Echo_var echo = Interop::Echo::_narrow(object);
  REQUIRE(!CORBA::is_nil(echo));
  checks.at(argv[2])(echo);
  orb->destroy();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const CORBA::SystemException& exception) {
    std::cerr << exception._name() << " minor " << exception.minor() << " completed " << exception.completed() << "\n";
  } catch (const CORBA::Exception& exception) {
    std::cerr << exception._name() << "\n";
  } catch (const std::exception& exception) {
    std::cerr << "failed: " << exception.what() << "\n";
  }
  return 1;
}
