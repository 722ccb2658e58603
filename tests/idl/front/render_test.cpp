#include "idl/front/render.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/idl/compile_text.h"

using namespace corelane::idl;
using namespace corelane::idl::test;

namespace {

std::string rendered(const std::string& text) {
  Compiler compiler;
  compiler.compile(text);
  return render(compiler.diagnostics, compiler.sources);
}

}  // namespace

TEST_CASE("a line of the source is shown without what a terminal obeys") {
  const std::string shown = rendered("/* \x1b[2J\x07\xc2\x9b \xe2\x80\xae */\tstruct S { Nothing a; };\n");
  CHECK_THAT(shown, Catch::Contains("  /* ?[2J??") && Catch::Contains("*/\tstruct S { Nothing a; };\n"));
  for (const char* control : {"\x1b", "\x07", "\xc2\x9b", "\xe2\x80\xae"}) CHECK_THAT(shown, !Catch::Contains(control));
  CHECK_THAT(shown, Catch::Contains("\n                \t           ^~~~~~~\n"));
}

TEST_CASE("letters beyond ASCII are shown as they are") {
  CHECK_THAT(rendered("/* \xc3\xa4\xe2\x82\xac */ struct S { Nothing a; };\n"),
             Catch::Contains("  /* \xc3\xa4\xe2\x82\xac */ struct"));
}
