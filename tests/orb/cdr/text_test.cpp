#include "orb/cdr/text.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "orb/base/minor.h"
#include "orb/cdr/codec.h"
#include "orb/cdr/wide.h"

namespace text_test {

using namespace corelane;
using cdr::CharForm;
using cdr::CodeSets;
using cdr::Reader;
using cdr::WideForm;
using cdr::WideUse;
using cdr::Writer;

namespace {

// "A", e with an acute accent, y with two dots: U+0041, U+00E9, U+00FF.
const std::string latin = "A\xc3\xa9\xc3\xbf", latin_iso = "A\xe9\xff";
const std::string euro = "\xe2\x82\xac", clef = "\xf0\x9d\x84\x9e";

std::vector<std::byte> written(const std::string& text, CharForm form, ByteOrder order = native_order) {
  Writer writer(order);
  writer.set_code_sets({.chars = form});
  encode(writer, text);
  REQUIRE(writer.ok());
  return writer.to_vector();
}

Error failure(const std::string& text, CharForm form) {
  Writer writer;
  writer.set_code_sets({.chars = form});
  encode(writer, text);
  REQUIRE_FALSE(writer.ok());
  return writer.error();
}

std::string read(const std::vector<std::byte>& wire, CharForm form, ByteOrder order = native_order) {
  Reader reader(wire, order);
  reader.set_code_sets({.chars = form});
  std::string text = "before";
  REQUIRE(decode(reader, text));
  CHECK(reader.remaining() == 0);
  Reader again(wire, order);
  again.set_code_sets({.chars = form});
  std::string_view view;
  std::string room;
  REQUIRE(read_text(again, view, room));
  CHECK(view == text);
  return text;
}

CharForm any_form() { return GENERATE(CharForm::native, CharForm::utf_8, CharForm::iso_8859_1); }

}  // namespace

TEST_CASE("text of 7 bits is the same in every code set") {
  const CharForm form = any_form();
  for (const std::size_t size : {0u, 1u, 7u, 8u, 9u, 100u}) {
    const std::string text(size, 'x');
    CHECK(written(text, form) == written(text, CharForm::native));
    CHECK(read(written(text, form), form) == text);
  }
}

TEST_CASE("text of ISO 8859-1 is converted on both ways") {
  const ByteOrder order = GENERATE(ByteOrder::big, ByteOrder::little);
  const auto wire = written(latin, CharForm::iso_8859_1, order);
  CHECK(wire == written(latin_iso, CharForm::native, order));
  CHECK(read(wire, CharForm::iso_8859_1, order) == latin);
}

TEST_CASE("every character of ISO 8859-1 comes back") {
  std::string all;
  for (int c = 1; c < 0x100; ++c) all += static_cast<char>(c);
  const std::string text = read(written(all, CharForm::native), CharForm::iso_8859_1);
  CHECK(cdr::is_utf8(text));
  CHECK(written(text, CharForm::iso_8859_1) == written(all, CharForm::native));
}

TEST_CASE("UTF-8 travels as it is") {
  const std::string text = latin + euro + clef;
  CHECK(written(text, CharForm::utf_8) == written(text, CharForm::native));
  CHECK(read(written(text, CharForm::utf_8), CharForm::utf_8) == text);
}

TEST_CASE("a high byte is seen wherever it stands") {
  for (std::size_t size = 1; size < 20; ++size)
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 'x');
      CHECK(cdr::is_ascii(text));
      text[at] = '\x80';
      CHECK_FALSE(cdr::is_ascii(text));
    }
}

TEST_CASE("a writer knows whether what it holds depends on the code set") {
  Writer writer;
  writer.set_code_sets({.chars = CharForm::iso_8859_1});
  encode(writer, std::string("plain"));
  CHECK_FALSE(writer.depends_on_code_set());
  encode(writer, latin);
  CHECK(writer.depends_on_code_set());
  writer.clear();
  CHECK_FALSE(writer.depends_on_code_set());
  CHECK(writer.code_sets() == CodeSets{});
}

TEST_CASE("encapsulations inside a message have its code sets") {
  Writer writer;
  writer.set_code_sets({.chars = CharForm::iso_8859_1});
  const auto mark = writer.begin_encapsulation();
  encode(writer, latin);
  writer.end_encapsulation(mark);
  Reader reader(writer.bytes());
  reader.set_code_sets(writer.code_sets());
  Reader inner = reader.read_encapsulation();
  std::string text;
  REQUIRE(decode(inner, text));
  CHECK(text == latin);
}

TEST_CASE("UTF-8 is told from what is not") {
  for (const char* good : {"", "a", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                           "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    CHECK(cdr::is_utf8(good));
  for (const char* bad :
       {"\x80", "\xc1\xbf", "\xc2",
        "\xc2"
        "a",
        "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xe2\x82"})
    CHECK_FALSE(cdr::is_utf8(bad));
}

// Error paths.

TEST_CASE("a character that ISO 8859-1 lacks is refused by the writer") {
  for (const std::string& text : {euro, clef, "plain " + euro, std::string("\xc4\x80")})
    CHECK(failure(text, CharForm::iso_8859_1) == Error{ErrorKind::data_conversion, Completion::no, minor::omg | 1});
}

TEST_CASE("bytes that are no UTF-8 are refused by both ends") {
  for (const std::string& text : {latin_iso, std::string("\xc3"), std::string("\xed\xa0\x80"), std::string("\xff")}) {
    const Error bad{ErrorKind::data_conversion, Completion::no, minor::not_utf_8};
    CHECK(failure(text, CharForm::utf_8) == bad);
    CHECK(failure(text, CharForm::iso_8859_1) == bad);
    const auto wire = written(text, CharForm::native);
    Reader reader(wire);
    reader.set_code_sets({.chars = CharForm::utf_8});
    std::string out;
    CHECK_FALSE(decode(reader, out));
    CHECK(reader.error() == bad);
  }
}

TEST_CASE("a NUL is refused in every code set") {
  using namespace std::string_literals;
  for (const CharForm form : {CharForm::native, CharForm::utf_8, CharForm::iso_8859_1})
    CHECK(failure("\xc3\xa9\0x"s, form).minor == minor::string_has_nul);
}

TEST_CASE("wide characters without an agreement are refused with what is missing") {
  const std::pair<WideUse, Error> table[] = {
      {WideUse::no_component, {ErrorKind::inv_objref, Completion::no, minor::omg | 2}},
      {WideUse::not_offered, {ErrorKind::inv_objref, Completion::no, minor::omg | 1}},
      {WideUse::no_common_set, {ErrorKind::codeset_incompatible, Completion::no, minor::omg | 1}},
      {WideUse::no_context, {ErrorKind::bad_param, Completion::no, minor::omg | 23}},
  };
  const WideForm form = GENERATE(WideForm::fixed, WideForm::counted);
  for (const auto& [use, error] : table) {
    Writer writer;
    writer.set_wide_form(form);
    writer.set_code_sets({.wide = use});
    encode(writer, std::wstring(L"wide"));
    CHECK(writer.error() == error);
    writer.clear();
    writer.set_wide_form(form);
    encode(writer, L'w');
    REQUIRE(writer.ok());
    Reader reader(writer.bytes());
    reader.set_wide_form(form);
    reader.set_code_sets({.wide = use});
    wchar_t out{};
    CHECK_FALSE(decode(reader, out));
    CHECK(reader.error() == error);
    CHECK_FALSE(minor::text(error).empty());
  }
}

}  // namespace text_test
