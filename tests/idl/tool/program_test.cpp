// The program corelane-idl, run as a user runs it. Its output is compared with that of omniidl if omniidl is installed.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "idl/tool/output.h"
#include "tests/support/system/temp_directory.h"

namespace fs = std::filesystem;

namespace {

struct Outcome {
  int code = -1;
  std::string text;  // both streams
};

// A folder in which commands run; removed at the end.
class Workshop {
  const corelane::testing::TempDirectory directory_;

 public:
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  }
  std::string read(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(folder / name).rdbuf();
    return text.str();
  }
  bool has(const std::string& name) const { return fs::exists(folder / name); }

  Outcome shell(const std::string& command) const {
    Outcome outcome;
    const std::string whole = "cd '" + folder.string() + "' && (" + command + ") 2>&1";
    FILE* pipe = popen(whole.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::array<char, 4096> block;
    while (const std::size_t count = fread(block.data(), 1, block.size(), pipe))
      outcome.text.append(block.data(), count);
    outcome.code = WEXITSTATUS(pclose(pipe));
    return outcome;
  }
  Outcome idl(const std::string& arguments) const {
    return shell(std::string(CORELANE_IDL_PROGRAM " ").append(arguments));
  }

  const fs::path folder{directory_.path()};
};

bool have_omniidl() { return std::system("command -v omniidl > /dev/null 2>&1") == 0; }

const char* const plant =
    "#include <corelane/rt.idl>\n#include \"types.idl\"\nmodule Plant {\n#pragma prefix \"inner\"\n"
    "  interface Base { readonly attribute string name; oneway void ping(in octet n); };\n"
    "  interface Controller : Base {\n    enum Kind { one, two };\n"
    "    @rt::task(period = \"10ms\", budget = \"1ms\")\n    double step(in double reading) raises (Broken);\n"
    "    void configure(in string profile, inout Samples all, out Kind k);\n  };\n};\n";
const char* const types =
    "#pragma prefix \"acme.com\"\nmodule Plant {\n  struct Sample { @key double value; unsigned long long stamp; };\n"
    "  typedef sequence<Sample> Samples;\n  exception Broken { string why; };\n  const long limit = 3 + 4;\n};\n";

}  // namespace

TEST_CASE("a sound file makes four files beside its place and a depfile") {
  Workshop shop;
  shop.write("plant/ctl.idl", plant);
  shop.write("plant/types.idl", types);
  const Outcome outcome = shop.idl("-I . --output-dir out --depfile out/ctl.d plant/ctl.idl");
  CHECK(outcome.text == "");
  CHECK(outcome.code == 0);
  for (const char* name : {"out/plant/ctlC.h", "out/plant/ctlC.cpp", "out/plant/ctlS.h", "out/plant/ctlS.cpp"})
    CHECK(shop.has(name));
  CHECK(shop.read("out/plant/ctlC.h").find("plant/typesC.h") != std::string::npos);
  CHECK(shop.read("out/plant/ctlC.h").find("rtC.h") == std::string::npos);
  CHECK(shop.read("out/ctl.d") ==
        "out/plant/ctlC.h out/plant/ctlC.cpp out/plant/ctlS.h out/plant/ctlS.cpp: \\\n  plant/ctl.idl \\\n  "
        "plant/types.idl\n");
}

TEST_CASE("outputs are listed without being written") {
  Workshop shop;
  shop.write("a.idl", "struct S { long x; };");
  CHECK(shop.idl("--list-outputs -o gen a.idl").text == "gen/aC.h\ngen/aC.cpp\ngen/aS.h\ngen/aS.cpp\n");
  CHECK_FALSE(shop.has("gen"));
  shop.write("b.pidl", "struct S { long x; };");
  CHECK(shop.idl("--list-outputs --no-servant b.pidl").text == "bC.h\nbC.cpp\n");
}

TEST_CASE("output that standard output did not take is an error") {
  Workshop shop;
  shop.write("a.idl", "struct S { long x; };");
  for (const std::string option : {"-E", "--list-outputs", "--dump-model=json"}) {
    const Outcome outcome = shop.idl(option + " a.idl 2>&1 >/dev/full");
    CHECK(outcome.code == 1);
    CHECK(outcome.text.find("standard output did not take everything") != std::string::npos);
  }
}

TEST_CASE("a path that is no regular file is not replaced by an output") {
  Workshop shop;
  shop.write("a.idl", "struct S { long x; };");
  CHECK(shop.shell("mkfifo d").code == 0);
  const Outcome outcome = shop.idl("--depfile d a.idl");
  CHECK(outcome.code == 1);
  CHECK(outcome.text.find("d is there and no regular file") != std::string::npos);
  CHECK(fs::is_fifo(shop.folder / "d"));
}

TEST_CASE("a literal of half a megabyte that never ends is an error with the file's name") {
  Workshop shop;
  shop.write("a.idl", "const string s = \"" + std::string(500'000, 'x'));
  const Outcome outcome = shop.idl("a.idl");
  CHECK(outcome.code == 1);
  CHECK(outcome.text.find("a.idl") == 0);
}

TEST_CASE("the model is dumped as JSON") {
  Workshop shop;
  shop.write("a.idl", "#pragma prefix \"p\"\nstruct S { sequence<long> x; };");
  const Outcome outcome = shop.idl("--dump-model json a.idl");
  CHECK(outcome.code == 0);
  CHECK(outcome.text.find("\"id\": \"IDL:p/S:1.0\"") != std::string::npos);
  CHECK(outcome.text.find("\"type\": \"sequence<long>\"") != std::string::npos);
}

TEST_CASE("names are escaped in a depfile") {
  CHECK(corelane::idl::tool::depfile_text({"a b.h"}, {"c#$.idl"}) == "a\\ b.h: \\\n  c\\#$$.idl\n");
}

// Errors.

TEST_CASE("a faulty file is shown with line and caret and nothing is written") {
  Workshop shop;
  shop.write("bad.idl", "interface X { void f(in long }; };");
  const Outcome outcome = shop.idl("bad.idl");
  CHECK(outcome.code == 1);
  CHECK(outcome.text ==
        "bad.idl:1:30: error: expected a parameter's name, found `}`\n"
        "  interface X { void f(in long }; };\n"
        "                               ^\n");
  CHECK(std::distance(fs::directory_iterator(shop.folder), {}) == 1);
}

TEST_CASE("a span is underlined and a note shows the other place") {
  Workshop shop;
  shop.write("bad.idl", "struct Sample { long x; };\n\tstruct Sample { long x; };\n");
  CHECK(shop.idl("bad.idl").text ==
        "bad.idl:2:9: error: `Sample` is declared twice\n"
        "  \tstruct Sample { long x; };\n"
        "  \t       ^~~~~~\n"
        "bad.idl:1:8: note: first declared here\n"
        "  struct Sample { long x; };\n"
        "         ^~~~~~\n");
}

TEST_CASE("an unknown option and a missing file are errors") {
  Workshop shop;
  CHECK(shop.idl("--frobnicate a.idl").code == 2);
  CHECK(shop.idl("--depfil x a.idl").text ==
        "corelane-idl: error: there is no option --depfil; is --depfile meant?; see corelane-idl --help\n");
  CHECK(shop.idl("a.idl -- --x.idl").code == 2);
  CHECK_THAT(shop.idl("a.idl -- --x.idl").text, !Catch::Contains("no option"));
  CHECK(shop.idl("").code == 2);
  CHECK(shop.idl("").text == "corelane-idl: error: source is required; see corelane-idl --help\n");
  const Outcome missing = shop.idl("none.idl");
  CHECK(missing.code == 1);
  CHECK(missing.text == "corelane-idl: error: cannot open `none.idl`: no such file\n");
}

TEST_CASE("a folder to search must be one") {
  Workshop shop;
  shop.write("a.idl", "struct S { long x; };");
  for (const char* folder : {"a.idl", "missing"}) {
    const Outcome outcome = shop.idl(std::string("-I ") + folder + " -o out a.idl");
    CAPTURE(outcome.text);
    CHECK(outcome.code == 2);
    CHECK(outcome.text.find("-I") != std::string::npos);
    CHECK(outcome.text.find(folder) != std::string::npos);
    CHECK_FALSE(shop.has("out"));
  }
}

TEST_CASE("a fault of -D is one of the command line") {
  Workshop shop;
  shop.write("a.idl", "struct S { long x; };");
  const Outcome outcome = shop.idl("-D A -D A=2 a.idl");
  CHECK(outcome.code == 2);
  CHECK(outcome.text == "corelane-idl: error: -D defines `A` twice, with other texts\n");
  CHECK(shop.idl("-D 1=2 a.idl").code == 2);
}

TEST_CASE("warnings are named, and switched off or made errors by that name") {
  Workshop shop;
  shop.write("a.idl", "interface Never;\n@unheard struct S { long x; };;\n");
  const auto warnings = [&](const std::string& options) {
    const Outcome outcome = shop.idl(options + " --dump-model json a.idl");
    std::string result = std::to_string(outcome.code);
    std::istringstream lines(outcome.text);
    for (std::string line; std::getline(lines, line);)
      if (const auto at = line.find("[-W"); at != std::string::npos) result += ' ' + line.substr(at);
    return result;
  };
  CHECK(warnings("") == "0 [-Wforward] [-Wannotation] [-Wsemicolon]");
  CHECK(warnings("-w") == "0");
  CHECK(warnings("-Wno-forward -W no-annotation") == "0 [-Wsemicolon]");
  CHECK(warnings("-Werror=forward") == "1 [-Werror=forward] [-Wannotation] [-Wsemicolon]");
  CHECK(warnings("-Werror -Wno-error=annotation -Wno-forward") == "1 [-Wannotation] [-Werror=semicolon]");
  CHECK(shop.idl("-Wnonsense a.idl").text == "corelane-idl: error: -Wnonsense names no warning; see --help\n");
  CHECK(shop.idl("-Wno-nonsense a.idl").code == 2);
}

TEST_CASE("a response file stands for its words") {
  Workshop shop;
  shop.write("a.idl", "#if defined(NAME)\nconst string s = NAME;\n#endif\n");
  shop.write("words", "--dump-model json\n'-DNAME=\"two words\"' @more");
  shop.write("more", "a.idl");
  CHECK(shop.idl("@words").text.find("two words") != std::string::npos);
  CHECK(shop.idl("@gone").text == "corelane-idl: error: cannot read the response file gone: no such file\n");
  shop.write("loop", "@loop");
  CHECK(shop.idl("@loop").text == "corelane-idl: error: response files are nested too deeply at @loop\n");
  shop.write("open", "a.idl 'b");
  CHECK(shop.idl("@open").text == "corelane-idl: error: a quote stays open in the response file open\n");
  CHECK(shop.idl("@open").code == 2);
}

TEST_CASE("messages have colour where they are asked to") {
  Workshop shop;
  shop.write("a.idl", "struct S { long };");
  CHECK(shop.idl("a.idl").text.find('\033') == std::string::npos);  // the output is not a terminal
  CHECK(shop.idl("--color always a.idl").text.find("\033[1;31merror: ") != std::string::npos);
  CHECK(shop.idl("--color never a.idl").text.find('\033') == std::string::npos);
  CHECK(shop.idl("--color blue a.idl").code == 2);
}

TEST_CASE("links in a circle are called so") {
  Workshop shop;
  REQUIRE(shop.shell("ln -s b.idl a.idl && ln -s a.idl b.idl").code == 0);
  CHECK(shop.idl("a.idl").text ==
        "corelane-idl: error: cannot open `a.idl`: " + std::generic_category().message(ELOOP) + "\n");
}

TEST_CASE("a limit of file sizes is an error, and nothing is half written") {
  Workshop shop;
  shop.write("a.idl", "struct S { long x; };");
  const Outcome outcome = shop.shell("ulimit -f 1 && " CORELANE_IDL_PROGRAM " -o out a.idl");
  CHECK(outcome.code == 1);
  CHECK(outcome.text.find("corelane-idl: error: cannot write out/a") == 0);
  CHECK(outcome.text.find(std::generic_category().message(EFBIG)) != std::string::npos);
  CHECK(shop.shell("ls out").text.empty());
}

TEST_CASE("only regular files are read") {
  Workshop shop;
  REQUIRE(shop.shell("mkfifo pipe && mkdir folder").code == 0);
  CHECK(shop.idl("pipe").text == "corelane-idl: error: cannot open `pipe`: it is not a regular file\n");
  CHECK(shop.idl("/dev/zero").text == "corelane-idl: error: cannot open `/dev/zero`: it is not a regular file\n");
  CHECK(shop.idl("folder").text == "corelane-idl: error: cannot open `folder`: it is a directory\n");
  const auto include = [&](const std::string& name) {
    shop.write("a.idl", "#include \"" + name + "\"\n");
    return shop.idl("-I . a.idl").text;
  };
  CHECK(shop.idl("@pipe").text ==
        "corelane-idl: error: cannot read the response file pipe: it is not a regular file\n");
  CHECK(shop.idl("@folder").text == "corelane-idl: error: cannot read the response file folder: it is a directory\n");
  CHECK(include("pipe").find("cannot include `pipe`: it is not a regular file") != std::string::npos);
  CHECK(include("/dev/zero").find("cannot include `/dev/zero`: it is not a regular file") != std::string::npos);
  CHECK(include("folder").find("cannot include `folder`: it is a directory") != std::string::npos);
  CHECK(include("/tmp").find("cannot include `/tmp`: it is a directory") != std::string::npos);
}

TEST_CASE("a file that is too large is refused") {
  Workshop shop;
  REQUIRE(shop.shell("truncate -s 65M big.idl").code == 0);
  CHECK(shop.idl("big.idl").text.find("it is larger than 64 MiB") != std::string::npos);
}

TEST_CASE("an output folder that cannot be made leaves nothing behind") {
  Workshop shop;
  shop.write("a.idl", "struct S { long x; };");
  shop.write("out", "a file in the way");
  CHECK(shop.idl("-o out/deep a.idl").code == 1);
  CHECK(shop.read("out") == "a file in the way");
}

// Compared with another compiler.

TEST_CASE("omniidl accepts text without annotations and makes the same repository ids") {
  if (!have_omniidl()) {
    std::cout << "SKIPPED: omniidl is not installed\n";
    return;
  }
  Workshop shop;
  shop.write("plant/ctl.idl", plant);
  shop.write("plant/types.idl", types);
  REQUIRE(shop.shell(CORELANE_IDL_PROGRAM " -I . -E --strip-annotations plant/ctl.idl > flat.idl").code == 0);
  const Outcome omniidl = shop.shell("omniidl -bcxx flat.idl");
  CAPTURE(omniidl.text);
  CHECK(omniidl.code == 0);
  const std::string header =
      shop.read("flat.hh") + shop.shell("omniidl -bcxx -Wbinline flat.idl && cat flat.hh flatSK.cc").text;
  const std::string model = shop.idl("-I . --dump-model json plant/ctl.idl").text;
  for (const char* id : {"IDL:inner/Base:1.0", "IDL:inner/Controller:1.0"}) {
    CAPTURE(id);
    CHECK(model.find(id) != std::string::npos);
    CHECK(header.find(id) != std::string::npos);
  }
}

TEST_CASE("files that would share their C++ are refused") {
  const Workshop shop;
  shop.write("a/types.idl", "#include \"../b/types.idl\"\nstruct A { B one; };\n");
  shop.write("b/types.idl", "struct B { long x; };\n");
  const Outcome refused = shop.idl("--output-dir out a/types.idl");
  CHECK(refused.code == 1);
  CHECK_THAT(refused.text, Catch::Contains("a/types.idl:1:1: error: `a/types.idl` and `b/types.idl` would both be "
                                           "`typesC.h`: name a folder that holds both with -I, or rename one"));
  CHECK_FALSE(shop.has("out/typesC.h"));
  CHECK(shop.idl("-I . --output-dir out a/types.idl").code == 0);
  CHECK_THAT(shop.read("out/a/typesC.h"), Catch::Contains("#include <b/typesC.h>"));

  shop.write("c.idl", "#include \"c.pidl\"\nstruct C { D one; };\n");
  shop.write("c.pidl", "struct D { long x; };\n");
  CHECK_THAT(shop.idl("--output-dir out c.idl").text, Catch::Contains("would both be `cC.h`"));
}

TEST_CASE("a generated header includes the header of the file that the IDL includes, and not one beside it") {
  const Workshop shop;
  shop.write("lib/t.idl", "const long limit = 1;\n");
  shop.write("src/app/t.idl", "#include <t.idl>\nstruct B { string<limit> first; };\n");
  shop.write("src/app/main.idl", "#include <t.idl>\nstruct C { string<limit> first; };\n");
  for (const char* file : {"lib/t.idl", "src/app/t.idl", "src/app/main.idl"}) {
    CAPTURE(file);
    CHECK(shop.idl(std::string("-I src -I lib --ami --output-dir out ") + file).text == "");
  }
  CHECK_THAT(shop.read("out/app/tC.h"), Catch::Contains("#include <tC.h>\n"));
  CHECK_THAT(shop.read("out/app/mainC.h"), Catch::Contains("#include <tC.h>\n"));
  CHECK_THAT(shop.read("out/app/mainS.h"), Catch::Contains("#include <app/mainC.h>\n"));
  CHECK_THAT(shop.read("out/app/mainAmiC.h"), Catch::Contains("#include <app/mainC.h>\n"));
}

TEST_CASE("a typedef outside all modules keeps its name where C has the same one") {
  const Workshop shop;
  shop.write("t.idl",
             "typedef long int32_t;\ntypedef int32_t time_t;\ntypedef long long ssize_t;\ntypedef uint8 u_char;\n");
  REQUIRE(shop.idl("--output-dir out t.idl").code == 0);
  const std::string header = shop.read("out/tC.h");
  CHECK_THAT(header, Catch::Contains("using int32_t = std::int32_t;"));
  CHECK_THAT(header, Catch::Contains("using _cxx_time_t = ::int32_t;"));
  CHECK_THAT(header, Catch::Contains("using ssize_t = std::int64_t;"));
  CHECK_THAT(header, Catch::Contains("using u_char = std::uint8_t;"));
}
