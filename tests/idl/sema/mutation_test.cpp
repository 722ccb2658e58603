// Texts of the table with random damage. The compiler may report anything about them, and must survive. The sanitizer
// builds run this under the sanitizers. CORELANE_MUTATIONS=100000 runs longer; CORELANE_SEED=n changes the random
// numbers.
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/idl/fault_table.h"
#include "tests/support/system/from_environment.h"

using namespace corelane::idl::test;

namespace {

class Mutator {
 public:
  explicit Mutator(std::vector<TableCase> cases, unsigned long seed) : cases_(std::move(cases)), random_(seed) {}

  std::string next() {
    std::string text = any_text();
    for (std::size_t left = 1 + below(4); left > 0; --left) damage(text);
    return text;
  }

 private:
  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }
  const std::string& any_text() { return cases_[below(cases_.size())].text; }

  // Returns a piece of a random text, at most as long as a word.
  std::string any_piece() {
    const std::string& from = any_text();
    return from.substr(below(from.size()), 1 + below(12));
  }

  void damage(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    switch (below(6)) {
      case 0:
        text.insert(at, any_piece());
        break;
      case 1:
        text.erase(at, 1 + below(8));
        break;
      case 2:
        text.insert(at, 1, static_cast<char>(below(256)));
        break;
      case 3:
        text.insert(at, any_text());
        break;
      case 4:
        text.insert(at, text.substr(below(text.size() + 1)));
        break;
      default:
        text.replace(at, 1 + below(4), any_piece());
        break;
    }
    if (text.size() > 4000) text.resize(4000);
  }

  std::vector<TableCase> cases_;
  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("damaged texts end in a verdict") {
  Mutator mutator(read_table(file_text(CORELANE_DIAGNOSTICS "/tests/idl/sema/diagnostics.txt")),
                  corelane::testing::from_environment("CORELANE_SEED", 1));
  const unsigned long count = corelane::testing::from_environment("CORELANE_MUTATIONS", 1000);
  for (unsigned long i = 0; i < count; ++i) {
    Compiler compiler;
    const std::string text = mutator.next();
    UNSCOPED_INFO(text);
    REQUIRE_NOTHROW(compiler.compile(text));
    if (!compiler.front.complete) CHECK(compiler.diagnostics.has_errors());
    CHECK(render(compiler.diagnostics, compiler.sources).size() < 1'000'000);
  }
}
