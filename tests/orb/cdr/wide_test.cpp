#include "orb/cdr/wide.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "orb/base/minor.h"
#include "orb/cdr/codec.h"
#include "tests/orb/cdr/octets.h"

using namespace corelane;
using namespace corelane::testing;
using cdr::Reader;
using cdr::WideForm;
using cdr::Writer;

namespace {

template <typename T>
std::vector<std::byte> wire_of(const T& value, WideForm form, ByteOrder order) {
  Writer writer(order);
  writer.set_wide_form(form);
  encode(writer, value);
  REQUIRE(writer.ok());
  return writer.to_vector();
}

template <typename T>
bool decodes(const std::vector<std::byte>& wire, WideForm form, ByteOrder order, T& out) {
  Reader reader(wire, order);
  reader.set_wide_form(form);
  return decode(reader, out) && reader.remaining() == 0;
}

template <typename T>
std::uint32_t refusal(const std::vector<std::byte>& wire, WideForm form) {
  Reader reader(wire, ByteOrder::big);
  reader.set_wide_form(form);
  T out{};
  CHECK_FALSE(decode(reader, out));
  return reader.minor();
}

template <typename T>
Error failure(const T& value, WideForm form) {
  Writer writer;
  writer.set_wide_form(form);
  encode(writer, value);
  REQUIRE_FALSE(writer.ok());
  return writer.error();
}

WideForm form() { return GENERATE(WideForm::fixed, WideForm::counted); }
ByteOrder order() { return GENERATE(ByteOrder::big, ByteOrder::little); }

}  // namespace

TEST_CASE("wide text survives both forms and both byte orders") {
  const WideForm f = form();
  const ByteOrder o = order();
  const std::wstring text = GENERATE(as<std::wstring>{}, L"", L"a", L"\u00e9\u4e2d", L"\U0001f600 x", L"\ufeff\ufffe");
  std::wstring out = L"before";
  REQUIRE(decodes(wire_of(text, f, o), f, o, out));
  CHECK(out == text);
}

TEST_CASE("a wide character survives both forms and both byte orders") {
  const WideForm f = form();
  const ByteOrder o = order();
  const wchar_t c = GENERATE(L'a', wchar_t{0}, wchar_t{0xd7ff}, wchar_t{0xe000}, wchar_t{0xfeff}, wchar_t{0xffff});
  wchar_t out = 0;
  REQUIRE(decodes(wire_of(c, f, o), f, o, out));
  CHECK(out == c);
}

TEST_CASE("wide characters beyond 16 bits need the counted form") {
  wchar_t out = 0;
  REQUIRE(decodes(wire_of(L'\U0001f600', WideForm::counted, ByteOrder::big), WideForm::counted, ByteOrder::big, out));
  CHECK(out == L'\U0001f600');
  CHECK(failure(L'\U0001f600', WideForm::fixed).kind == ErrorKind::data_conversion);
}

TEST_CASE("the counted form is big endian whatever the byte order, and has no terminator") {
  const ByteOrder o = order();
  const auto wire = wire_of(std::wstring(L"a\u4e2d"), WideForm::counted, o);
  const int high = o == ByteOrder::big ? 0 : 4;
  CHECK(wire == octets({high, 0, 0, 4 - high, 0, 'a', 0x4e, 0x2d}));
  CHECK(wire_of(L'\u4e2d', WideForm::counted, o) == octets({2, 0x4e, 0x2d}));
}

TEST_CASE("the fixed form follows the byte order, counts units and ends with NUL") {
  CHECK(wire_of(std::wstring(L"a"), WideForm::fixed, ByteOrder::little) == octets({2, 0, 0, 0, 'a', 0, 0, 0}));
  CHECK(wire_of(L'a', WideForm::fixed, ByteOrder::big) == octets({0, 'a'}));
}

TEST_CASE("a byte-order mark is obeyed and taken off") {
  std::wstring text;
  REQUIRE(decodes(octets({0, 0, 0, 4, 0xff, 0xfe, 'a', 0}), WideForm::counted, ByteOrder::big, text));
  CHECK(text == L"a");
  wchar_t c = 0;
  REQUIRE(decodes(octets({4, 0xfe, 0xff, 0, 'b'}), WideForm::counted, ByteOrder::little, c));
  CHECK(c == L'b');
}

TEST_CASE("a string of length 0 is empty in both forms, also in a sequence") {
  std::wstring text = L"before";
  REQUIRE(decodes(octets({0, 0, 0, 0}), form(), ByteOrder::big, text));
  CHECK(text.empty());
  std::vector<std::wstring> wide;
  REQUIRE(decodes(octets({0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0}), form(), ByteOrder::big, wide));
  CHECK(wide == std::vector<std::wstring>(2));
  std::vector<std::string> narrow;
  REQUIRE(decodes(octets({0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0}), form(), ByteOrder::big, narrow));
  CHECK(narrow == std::vector<std::string>(2));
}

TEST_CASE("a sequence of wide strings survives") {
  const std::vector<std::wstring> texts = {L"one", L"", L"three"};
  std::vector<std::wstring> out;
  REQUIRE(decodes(wire_of(texts, form(), ByteOrder::big), form(), ByteOrder::big, out));
  CHECK(out == texts);
}

// Error paths.

TEST_CASE("malformed wide text is refused") {
  using Wire = std::vector<std::byte>;
  const auto [f, wire] = GENERATE(
      table<WideForm, Wire>({{WideForm::counted, octets({0, 0, 0, 3, 0, 'a', 0})},          // half a unit
                             {WideForm::counted, octets({0, 0, 0, 2, 0xd8, 0x00})},         // the first half alone
                             {WideForm::counted, octets({0, 0, 0, 4, 0xdc, 0, 0xd8, 0})},   // halves in the wrong order
                             {WideForm::fixed, octets({0, 0, 0, 1, 0, 'a'})},               // no NUL at the end
                             {WideForm::fixed, octets({0, 0, 0, 2, 0, 0, 0, 0})},           // NUL inside
                             {WideForm::fixed, octets({0, 0, 0, 2, 0xd8, 0x00, 0, 0})}}));  // the first half alone
  CHECK(refusal<std::wstring>(wire, f) == minor::bad_string);
}

TEST_CASE("a wide length beyond the message is refused before anything grows") {
  CHECK(refusal<std::wstring>(octets({0xff, 0xff, 0xff, 0xff}), WideForm::counted) == minor::sequence_too_long);
  CHECK(refusal<std::wstring>(octets({0x7f, 0xff, 0xff, 0xff}), WideForm::fixed) == minor::sequence_too_long);
}

TEST_CASE("malformed wide characters are refused") {
  CHECK(refusal<wchar_t>(octets({0}), WideForm::counted) == minor::bad_string);
  CHECK(refusal<wchar_t>(octets({1, 'a'}), WideForm::counted) == minor::bad_string);
  CHECK(refusal<wchar_t>(octets({4, 0, 'a', 0, 'b'}), WideForm::counted) == minor::bad_string);
  CHECK(refusal<wchar_t>(octets({2, 0}), WideForm::counted) == minor::truncated);
  CHECK(refusal<wchar_t>(octets({0xdc, 0}), WideForm::fixed) == minor::bad_string);
}

TEST_CASE("GIOP 1.0 has no wide characters") {
  const std::uint32_t code = minor::omg | 5;
  CHECK(failure(std::wstring(L"a"), WideForm::none).minor == code);
  CHECK(failure(L'a', WideForm::none).minor == code);
  CHECK(refusal<std::wstring>(octets({0, 0, 0, 0}), WideForm::none) == code);
  CHECK(refusal<wchar_t>(octets({0, 'a'}), WideForm::none) == code);
}

TEST_CASE("a code that is no character is not written") {
  const wchar_t bad = GENERATE(wchar_t{0xd800}, wchar_t{0xdfff}, wchar_t{0x110000}, wchar_t{-1});
  CHECK(failure(bad, form()).kind == ErrorKind::data_conversion);
  CHECK(failure(std::wstring(1, bad), form()).kind == ErrorKind::data_conversion);
}
