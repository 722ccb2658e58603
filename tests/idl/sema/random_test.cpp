// Random IDL that keeps the rules is accepted. The generated text follows the grammar and refers only to earlier
// definitions. CORELANE_RANDOM_IDL=200 makes 200 texts; CORELANE_SEED=n makes other ones. With CORELANE_WRITE_IDL=FILE
// the last text is written to the file, for other tests to compile.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "tests/idl/compile_text.h"
#include "tests/support/system/from_environment.h"

using corelane::idl::test::faults_of;

namespace {

using Names = std::vector<std::string>;

class Generator {
 public:
  explicit Generator(unsigned long seed) : random_(seed) {}

  std::string text() {
    for (int i = 0; i < 40; ++i) definition(0);
    return std::move(out_);
  }

 private:
  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }
  bool once_in(std::size_t times) { return below(times) == 0; }
  const std::string& any_of(const Names& names) { return names[below(names.size())]; }
  std::string number(std::size_t most) { return std::to_string(1 + below(most)); }
  std::string fresh(const char* stem) { return stem + std::to_string(++made_); }

  // Returns a path from the file level, so that no scope hides the name.
  std::string path(const std::string& name) const { return scope_ + "::" + name; }

  std::string basic() {
    static const Names names = {"boolean",     "octet",
                                "char",        "wchar",
                                "short",       "unsigned short",
                                "long",        "unsigned long",
                                "long long",   "unsigned long long",
                                "float",       "double",
                                "long double", "string",
                                "wstring",     "any",
                                "Object",      "int8",
                                "uint8",       "int16",
                                "uint16",      "int32",
                                "uint32",      "int64",
                                "uint64",      "CORBA::TypeCode"};
    return any_of(names);
  }

  std::string type(int depth = 0) {
    if (!types_.empty() && once_in(2)) return any_of(types_);
    if (depth > 2 || !once_in(3)) return basic();
    switch (below(4)) {
      case 0:
        return "sequence<" + type(depth + 1) + ">";
      case 1:
        return "sequence<" + type(depth + 1) + ", " + number(1000) + ">";
      case 2:
        return (once_in(2) ? "string<" : "wstring<") + number(50) + ">";
      default:
        return "fixed<" + std::to_string(5 + below(26)) + ", " + std::to_string(below(5)) + ">";
    }
  }

  std::string members() {
    std::string result;
    for (std::size_t left = below(5); left > 0; --left) {
      const std::string dimensions = once_in(6) ? "[" + number(5) + "][" + number(3) + "]" : "";
      const std::string external = once_in(4) ? "@external(TRUE) " : "";  // `@external ::S` would name `external::S`
      result += "  " + external + type() + ' ' + fresh("m") + dimensions + ";\n";
    }
    return result;
  }

  void structure() {
    const std::string name = fresh("S");
    const std::string self = once_in(4) ? "  sequence<" + name + "> " + fresh("m") + ";\n" : "";
    const std::string base = !structures_.empty() && once_in(5) ? " : " + any_of(structures_) : "";
    out_ += "struct " + name + base + " {\n" + members() + self + "};\n";
    types_.push_back(path(name));
    structures_.push_back(path(name));
  }

  void enumeration() {
    const std::string name = fresh("E");
    std::string list;
    for (std::size_t left = 1 + below(4); left > 0; --left) list += fresh("e") + (left > 1 ? ", " : "");
    out_ += "enum " + name + " { " + list + " };\n";
    types_.push_back(path(name));
  }

  void union_() {
    const std::string name = fresh("U");
    out_ += "union " + name + " switch (" + (once_in(2) ? "long" : "octet") + ") {\n";
    int label = 0;
    for (std::size_t left = 1 + below(4); left > 0; --left) {
      const std::string first = std::to_string(label++);
      const std::string second = once_in(3) ? " case " + std::to_string(label++) + ":" : "";
      out_ += "  case " + first + ":" + second + ' ' + type() + ' ' + fresh("m") + ";\n";
    }
    if (once_in(4)) out_ += "  case " + std::to_string(label) + ": @external " + name + ' ' + fresh("m") + ";\n";
    if (once_in(2)) out_ += "  default: " + type() + ' ' + fresh("m") + ";\n";
    out_ += "};\n";
    types_.push_back(path(name));
  }

  void alias() {
    const std::string name = fresh("T");
    const std::string dimension = once_in(4) ? "[" + number(4) + "]" : "";
    out_ += "typedef " + type() + ' ' + name + dimension + ";\n";
    types_.push_back(path(name));
  }

  std::string value(int depth = 0) {
    if (depth > 3 || once_in(3)) return constants_.empty() || once_in(2) ? number(99) : any_of(constants_);
    static const Names operators = {" + ", " | ", " & ", " ^ ", " % "};
    const std::string left = value(depth + 1);
    return "(" + left + any_of(operators) + number(9) + ")";
  }

  void constant() {
    const std::string name = fresh("c");
    out_ += "const long long " + name + " = " + value() + ";\n";
    constants_.push_back(path(name));
  }

  void exception() {
    const std::string name = fresh("X");
    out_ += "exception " + name + " {\n" + members() + "};\n";
    exceptions_.push_back(path(name));
  }

  std::string raises(const char* word) {
    return exceptions_.empty() || once_in(2) ? "" : std::string(word) + " (" + any_of(exceptions_) + ")";
  }

  void operation() {
    static const Names directions = {"in ", "out ", "inout "};
    if (once_in(4)) {
      out_ += "  " + std::string(once_in(2) ? "readonly " : "") + "attribute " + type() + ' ' + fresh("a") + ";\n";
      return;
    }
    out_ += "  " + (once_in(3) ? "void" : type()) + ' ' + fresh("f") + "(";
    for (std::size_t left = below(4); left > 0; --left)
      out_ += any_of(directions) + type() + ' ' + fresh("p") + (left > 1 ? ", " : "");
    out_ += ")" + raises(" raises") + ";\n";
  }

  void interface() {
    const std::string name = fresh("I");
    out_ += "interface " + name + (!interfaces_.empty() && once_in(3) ? " : " + any_of(interfaces_) : "") + " {\n";
    for (std::size_t left = below(5); left > 0; --left) operation();
    out_ += "};\n";
    types_.push_back(path(name));
    interfaces_.push_back(path(name));
  }

  void module(int depth) {
    const std::string name = fresh("M");
    const std::string outer = scope_;
    out_ += "module " + name + " {\n";
    scope_ += "::" + name;
    for (std::size_t left = 1 + below(5); left > 0; --left) definition(depth + 1);
    scope_ = outer;
    out_ += "};\n";
  }

  void definition(int depth) {
    switch (below(depth < 3 ? 9 : 8)) {
      case 0:
      case 1:
        return structure();
      case 2:
        return enumeration();
      case 3:
        return union_();
      case 4:
        return alias();
      case 5:
        return constant();
      case 6:
        return exception();
      case 7:
        return interface();
      default:
        return module(depth);
    }
  }

  std::mt19937_64 random_;
  std::string out_;
  std::string scope_;
  int made_ = 0;
  Names types_, structures_, constants_, exceptions_, interfaces_;
};

}  // namespace

TEST_CASE("random texts that keep the rules are accepted") {
  const unsigned long seed = corelane::testing::from_environment("CORELANE_SEED", 1);
  std::string text;
  for (unsigned long i = 0; i < corelane::testing::from_environment("CORELANE_RANDOM_IDL", 50); ++i) {
    text = Generator(seed + i).text();
    const std::string faults = faults_of(text);
    if (faults.empty()) continue;
    CAPTURE(seed + i, text);
    CHECK(faults == "");
  }
  CHECK(!text.empty());
  if (const char* path = std::getenv("CORELANE_WRITE_IDL")) std::ofstream(path) << text;
}
