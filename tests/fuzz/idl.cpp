// Fuzz target: any bytes are IDL text or are refused. The compiler ends, prints a limited amount, and breaks nothing.
// The text can include itself as "t.idl", and the files that are part of the compiler.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tests/idl/compile_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t most_said = 1'000'000;
  corelane::idl::test::Compiler compiler;
  compiler.options.limits.expanded_tokens = 20'000;  // otherwise a macro bomb takes as long as a thousand texts
  compiler.compile(std::string(reinterpret_cast<const char*>(data), size));
  if (!compiler.front.complete && !compiler.diagnostics.has_errors()) std::abort();
  if (render(compiler.diagnostics, compiler.sources).size() > most_said) std::abort();
  return 0;
}
