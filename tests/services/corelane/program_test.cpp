// The program corelane: how it answers a command line, and what it does if its output cannot be written.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "orb/os/fd.h"
#include "orb/os/process/child_process.h"
#include "tests/support/system/temp_directory.h"

using Catch::Contains;
using corelane::os::ChildProcess;
using corelane::os::program_beside;
using corelane::testing::TempDirectory;

namespace {

struct Answer {
  std::string exit, text;
};

Answer answer_of(const std::vector<std::string>& command) {
  ChildProcess program(command, {.joins_errors = true});
  std::string text = program.read_all().value();
  return {program.wait()->text(), std::move(text)};
}

Answer answer_of_tool(std::vector<std::string> words) {
  words.insert(words.begin(), program_beside("corelane"));
  return answer_of(words);
}

// Returns each command that does something, such as "ns list", from the text of the completion script.
std::vector<std::string> commands_known_by(const std::string& completion) {
  std::vector<std::string> commands;
  const std::regex known(R"(' ([a-z ]+)'( \||\) command))");
  for (std::sregex_iterator at(completion.begin(), completion.end(), known), end; at != end; ++at)
    if ((*at)[1] != "ns") commands.push_back((*at)[1]);
  return commands;
}

std::vector<std::string> words_in(const std::string& command) {
  std::istringstream stream(command);
  return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace

TEST_CASE("the help of the program names its commands") {
  const Answer answer = answer_of_tool({"--help"});
  CHECK(answer.exit == "exit status 0");
  for (const char* command : {"trace", "measure", "top", "doctor"}) CHECK_THAT(answer.text, Contains(command));
}

TEST_CASE("help and version are commands, too") {
  CHECK(answer_of_tool({"help"}).text == answer_of_tool({"--help"}).text);
  CHECK(answer_of_tool({"help", "ns", "bind"}).text == answer_of_tool({"ns", "bind", "--help"}).text);
  const Answer version = answer_of_tool({"version"});
  CHECK(version.exit == "exit status 0");
  CHECK(version.text == answer_of_tool({"--version"}).text);
}

TEST_CASE("the help of top explains its columns, and that of measure when it fails and which contract it takes") {
  const std::string top = answer_of_tool({"top", "--help"}).text;
  for (const char* column : {"misses: ", "overruns: ", "oversleeps: ", "blocks: ", "p99, max: ", "bound: "})
    CHECK_THAT(top, Contains(column));
  CHECK_THAT(top, Contains("comes on top of it, so max may be more."));
  const std::string measure = answer_of_tool({"measure", "--help"}).text;
  for (const char* said : {"1 not, or an operation is TOO LONG", "deadline [the period]", "--jitter TIME"})
    CHECK_THAT(measure, Contains(said));
}

TEST_CASE("each command has help, is completed with what that names, and refuses anything else") {
  const std::string completion = answer_of_tool({"completion", "bash"}).text;
  const std::vector<std::string> commands = commands_known_by(completion);
  REQUIRE(commands.size() >= 15);
  for (const std::string& command : commands) {
    CAPTURE(command);
    std::vector<std::string> words = words_in(command);
    words.push_back("--help");
    const Answer help = answer_of_tool(words);
    CHECK(help.exit == "exit status 0");
    const std::size_t begin = completion.find("' " + command + "') words='");
    REQUIRE(begin != completion.npos);
    const std::string offered = completion.substr(begin, completion.find(";;", begin) - begin);
    const std::regex option("\n  (-[a-z],)?(--[a-z-]+)");
    for (std::sregex_iterator at(help.text.begin(), help.text.end(), option), end; at != end; ++at)
      CHECK_THAT(offered, Contains(" " + (*at)[2].str() + " ") || Contains("'" + (*at)[2].str() + " "));
    words.back() = "--bogus";
    const Answer bogus = answer_of_tool(words);
    CHECK(bogus.exit == "exit status 2");
    CHECK_THAT(bogus.text, Catch::StartsWith("corelane " + command + ": ") && Contains("--help"));
  }
}

TEST_CASE("each command that shows something shows it as JSON, and faults as text on standard error") {
  struct Case {
    const char* words;
    bool shows;
  };
  const Case c = GENERATE(
      Case{"top --once", true}, Case{"clean --dry-run", true}, Case{"doctor --for tasks", true},
      Case{"ior corbaloc::127.0.0.1:1/x", true}, Case{"cores", false}, Case{"reserve --cores 1 -- true", false},
      Case{"ns list --service corbaloc::127.0.0.1:1/NameService", false},
      Case{"ns resolve x --service corbaloc::127.0.0.1:1/NameService", false},
      Case{"ns status --service corbaloc::127.0.0.1:1/NameService", false},
      Case{"ns unbind x --service corbaloc::127.0.0.1:1/NameService", false},
      Case{"ping corbaloc::127.0.0.1:1/x", false}, Case{"trace /nowhere/x", false}, Case{"plan /nowhere/x", false});
  const TempDirectory place;
  std::vector<std::string> words = words_in(c.words);
  words.insert(words.begin() + (words[0] == "ns" ? 2 : 1), {"--format", "json"});
  words.insert(words.begin(),
               {"/usr/bin/env", "CORELANE_RUNTIME_DIRECTORY=" + place.path(), program_beside("corelane")});
  ChildProcess program(words);
  const std::string shown = program.read_all().value();
  CAPTURE(c.words, shown);
  CHECK(nlohmann::json::accept(shown) == c.shows);
  if (c.shows) return;
  CHECK(shown.empty());
  CHECK(program.wait()->text() != "exit status 0");
}

TEST_CASE("a live view as JSON is a value a line and nothing between") {
  const TempDirectory place;
  ChildProcess view({program_beside("corelane"), "top", "--format", "json", "--interval", "0.1", "--runtime-directory",
                     place.path()});
  for (int i = 0; i < 3; ++i) CHECK(nlohmann::json::accept(view.read_line().value()));
}

TEST_CASE("a misspelt option is named with the one that was meant, whatever was left over for it") {
  const Answer answer = answer_of_tool({"reserve", "--core", "1", "--", "true"});
  CHECK(answer.exit == "exit status 2");
  CHECK(answer.text == "corelane reserve: there is no option --core; is --cores meant? See corelane reserve --help\n");
}

TEST_CASE("words after -- belong to the program, whatever option stands before them") {
  const TempDirectory place;
  const std::string before = GENERATE(as<std::string>{}, "", "--wait 1s", "--wait", "--wait=1s", "--note n", "-q",
                                      "--near any", "--memory 1MiB", "--best-effort", "--format json");
  std::vector<std::string> words{"reserve", "--cores", "1"};
  for (const std::string& word : words_in(before)) words.push_back(word);
  words.insert(words.end(), {"--runtime-directory", place.path()});
  std::rotate(words.begin() + 3, words.end() - 2, words.end());  // the option comes right before --
  for (const char* word : {"--", "echo", "--foo", "--wait", "--", "-ORBx"}) words.emplace_back(word);
  const Answer answer = answer_of_tool(words);
  CAPTURE(before, answer.text);
  CHECK(answer.exit == "exit status 125");  // the command line is right, but no daemon runs
  CHECK_THAT(answer.text, Contains("reserved") && !Contains("--foo"));
}

TEST_CASE("a signal to tune ends all processes of the load, and nothing is written") {
  const int asked = GENERATE(SIGINT, SIGTERM);
  const TempDirectory place;
  int ends[2];
  REQUIRE(::pipe(ends) == 0);  // inherited: its other end closes with the last process that has it
  const corelane::os::Fd read_end(ends[0]);
  corelane::os::Fd write_end(ends[1]);
  const std::string load = "exec 2>/dev/null; sleep 1000000 & printf x >/dev/fd/" + std::to_string(ends[1]) + "; wait";
  ChildProcess tune({program_beside("corelane"), "tune", "--output", place / "t.toml", "--", "sh", "-c", load},
                    {.joins_errors = true});
  char byte = 0;
  REQUIRE(::read(read_end.get(), &byte, 1) == 1);
  REQUIRE(::kill(tune.pid(), asked) == 0);
  const std::string text = tune.read_all().value();
  REQUIRE(tune.wait()->text() == "exit status 1");
  CHECK(text == "corelane tune: a run of sh with the defaults was interrupted, and nothing was written to " +
                    (place / "t.toml") + "\n");
  CHECK_FALSE(std::ifstream(place / "t.toml"));
  write_end.reset();
  CHECK(::read(read_end.get(), &byte, 1) == 0);
}

TEST_CASE("an option that lacks its value before -- is told, and so is a program that is missing") {
  struct Case {
    std::vector<std::string> words;
    const char* said;
  };
  const Case c = GENERATE(
      Case{{"reserve", "--cores", "1", "--note", "--", "true"}, "corelane reserve: --note needs TEXT behind it; "},
      Case{{"reserve", "--cores", "--", "true"}, "corelane reserve: --cores needs COUNT behind it; "},
      Case{{"reserve", "--cores", "1", "--wait", "soon", "--", "true"}, "corelane reserve: --wait: 'soon' is no time "},
      Case{{"reserve", "--cores", "1", "--wait", "--"}, "corelane reserve: name the program after --; "},
      Case{{"reserve", "--cores", "1"}, "corelane reserve: name the program after --; "},
      Case{{"ns", "bind", "--", "-odd"}, "corelane ns bind: what is '-odd' to mean? "},
      Case{{"ns", "resolve", "--", "a", "b"}, "corelane ns resolve: b is one word too many; "});
  const Answer answer = answer_of_tool(c.words);
  CAPTURE(c.words);
  CHECK(answer.exit == "exit status 2");
  CHECK_THAT(answer.text, Catch::StartsWith(c.said) && Contains("--help"));
}

TEST_CASE("a naming service is named by a file that holds its reference, too") {
  const TempDirectory place;
  std::ofstream(place / "service") << "corbaloc::127.0.0.1:1/NameService\n";
  CHECK_THAT(answer_of_tool({"ns", "list", "--service", place / "service"}).text, Contains("127.0.0.1:1"));
  const Answer none = answer_of_tool({"ns", "list", "--service", place / "missing"});
  CHECK(none.exit == "exit status 2");
  CHECK_THAT(none.text, Contains("--service: ") && Contains(place / "missing") && Contains("a file that holds one"));
  std::ofstream(place / "junk") << "\x1b[2J\n";
  const Answer junk = answer_of_tool({"ns", "list", "--service", place / "junk"});
  CHECK(junk.exit == "exit status 2");
  CHECK_THAT(junk.text, Contains((place / "junk") + " holds no reference: at character 1") && !Contains("\x1b"));
}

TEST_CASE("a call to be measured takes the file of a reference") {
  const TempDirectory place;
  std::ofstream(place / "reference") << "corbaloc::127.0.0.1:1/x\n";
  const std::vector<std::string> words{"measure", "--operation", "step", "--call"};
  const auto said_of = [&](const std::string& reference) {
    auto all = words;
    all.push_back(reference);
    return answer_of_tool(all).text;
  };
  CHECK_THAT(said_of(place / "reference"), Contains("127.0.0.1:1"));
  CHECK_THAT(said_of(place / "missing"), Catch::StartsWith("corelane measure: ") && Contains("a file that holds one"));
}

TEST_CASE("commands find the servers' directory where a server finds its own") {
  const TempDirectory place;
  std::ofstream(place / "corelane.toml") << "[runtime]\ndirectory = '/nowhere/file'\n[contracts]\nfile = 'none.toml'\n";
  std::ofstream(place / "other.toml") << "[runtime]\ndirectory = '/nowhere/other'\n";
  const auto directory_of = [&](const std::string& before, const std::string& options) {
    const std::string tool = program_beside("corelane");
    return answer_of({"/bin/sh", "-c", "cd " + place.path() + " && " + before + " " + tool + " top --once " + options})
        .text;
  };
  const auto says = [](const std::string& directory) {
    return Catch::StartsWith("corelane top: " + directory + " is not there: ");
  };
  CHECK_THAT(directory_of("", ""), says("/nowhere/file"));
  CHECK_THAT(directory_of("", "-ORBConfig other.toml"), says("/nowhere/other"));
  CHECK_THAT(directory_of("CORELANE_RUNTIME_DIRECTORY=/nowhere/variable", ""), says("/nowhere/variable"));
  CHECK_THAT(directory_of("", "-ORBRuntimeDirectory /nowhere/option"), says("/nowhere/option"));
  CHECK_THAT(directory_of("", "--runtime-directory /nowhere/word"), says("/nowhere/word"));
  std::ofstream(place / "corelane.toml") << "[runtime]\ndirectry = 'x'\n";
  CHECK(directory_of("", "") ==
        "corelane top: ./corelane.toml:2:1: unknown key runtime.directry; the nearest known is runtime.directory\n");
}

TEST_CASE("plan, simulate and eval read the file of slowdowns, but not that of contracts, and top reads neither") {
  const TempDirectory place;
  std::ofstream(place / "s.toml") << "[platform]\ncores = 2\n[[task]]\nperiod = \"10ms\"\nbudget = \"1ms\"\n"
                                     "[experiment]\nlength = \"100ms\"\n";
  const auto answer = [](std::vector<std::string> words) {
    words.insert(words.end(), {"-ORBDispatchSlowdowns", "/nowhere.toml", "-ORBContractsFile", "/none.toml"});
    return answer_of_tool(words);
  };
  std::vector<std::string> words{GENERATE(as<std::string>{}, "plan", "simulate", "eval"), place / "s.toml"};
  if (words[0] == "eval") words.insert(words.end(), {"--virtual", "--output", place / "r.csv"});
  const Answer admits = answer(words);
  CAPTURE(words[0], admits.text);
  CHECK(admits.exit != "exit status 0");
  CHECK_THAT(admits.text, Contains("file of slowdowns /nowhere.toml does not exist") && !Contains("none.toml"));
  const std::string looks = answer({"top", "--once", "--runtime-directory", "/nowhere/word"}).text;
  CHECK_THAT(looks, Catch::StartsWith("corelane top: /nowhere/word is not there: "));
}

TEST_CASE("a ping without an answer ends after its timeout") {
  const corelane::os::Fd silent(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));  // accepts, and does not answer
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  REQUIRE((::bind(silent.get(), any, length) == 0 && ::listen(silent.get(), 1) == 0));
  REQUIRE(::getsockname(silent.get(), any, &length) == 0);
  const std::string reference = "corbaloc::127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/x";
  const Answer answer = answer_of_tool({"ping", reference, "--timeout", "10ms"});
  CHECK(answer.exit == "exit status 1");
  CHECK_THAT(answer.text, Contains("TIMEOUT"));
}

TEST_CASE("bash completes commands and what they take") {
  const auto completed = [](const std::string& line) {
    const std::string script = "source <(" + program_beside("corelane") + " completion bash); COMP_WORDS=(" + line +
                               "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _corelane; echo ${COMPREPLY[*]}";
    return answer_of({"/bin/bash", "-c", script}).text;
  };
  CHECK(completed("corelane do") == "doctor\n");
  CHECK(completed("corelane ns b") == "bind\n");
  CHECK(completed("corelane ns st") == "status\n");
  CHECK(completed("corelane ns bind --rep") == "--replace\n");
  CHECK(completed("corelane ping x --wait pa") == "park\n");
  CHECK(completed("corelane trace some.file") == "\n");
  CHECK(completed("corelane doctor --for la") == "latency\n");
  CHECK(completed("corelane ping x --timeout ''") == "\n");
  CHECK(completed("corelane ns list -ORBNamingSo") == "-ORBNamingSocket\n");
  CHECK(completed("corelane ns list -ORBNamingSocket ''") == "\n");
  CHECK(completed("corelane top --format = js") == "json\n");  // bash splits --format=js like this
  CHECK(completed("corelane top --format =") == "table json\n");
  CHECK(completed("corelane completion z") == "zsh\n");
  CHECK(completed("corelane reserve --cores 1 -- ./app --for") == "\n");
}

TEST_CASE("the completion for zsh is that of bash, behind zsh's compatibility commands") {
  const std::string bash = answer_of_tool({"completion", "bash"}).text;
  const std::string zsh = answer_of_tool({"completion", "zsh"}).text;
  CHECK_THAT(zsh, Catch::StartsWith("(( $+functions[compdef] ))") && Catch::EndsWith("bashcompinit\n" + bash));
}

TEST_CASE("a missing directory is a failure for a single look, and is reported once") {
  const Answer answer = answer_of_tool({"top", "--once", "--runtime-directory", "/nowhere"});
  CHECK(answer.exit == "exit status 1");
  CHECK_THAT(answer.text, Contains("corelane top: /nowhere is not there: no server has run with it") &&
                              !Contains("no Corelane server runs"));
}

TEST_CASE("a live view without a terminal writes no escapes") {
  const TempDirectory place;
  ChildProcess view({program_beside("corelane"), "top", "--runtime-directory", place.path()});
  CHECK_THAT(view.read_line().value(), Catch::StartsWith("no Corelane server runs with runtime.directory "));
}

TEST_CASE("doctor examines this host and changes nothing") {
  const Answer answer = answer_of_tool({"doctor", "--format", "json"});
  CHECK((answer.exit == "exit status 0" || answer.exit == "exit status 1"));
  CHECK_THAT(answer.text, Contains("\"findings\"") && Contains("SCHED_FIFO") && Contains("\"clock source\""));
}

// Errors.

TEST_CASE("a command line that is none is answered in a line that says how to mend it") {
  struct Case {
    std::vector<std::string> words;
    const char* said;
  };
  const Case c = GENERATE(
      Case{
          {},
          "corelane: which command? There are trace, measure, plan, simulate, eval, scale, tune, convert, ping, top, "},
      Case{{"tpo"},
           "corelane: there is no command tpo; is top meant? There are trace, measure, plan, simulate, eval, scale, "
           "tune, "
           "convert, ping, top, "},
      Case{{"nope"}, "corelane: there is no command nope; there are trace, "},
      Case{{"to"}, "corelane: there is no command to; is top meant? There are trace, "},
      Case{{"bogus"},
           "corelane: there is no command bogus; there are trace, measure, plan, simulate, eval, scale, tune, convert, "
           "ping, "
           "top, "},
      Case{{"ns"}, "corelane ns: which command? There are list, resolve, bind, unbind, status, watch; see "},
      Case{{"tasks"}, "corelane tasks: which command? There is end; see "},
      Case{{"tasks", "nope"}, "corelane tasks: there is no command nope; there is end; see "},
      Case{{"tune", "./load"}, "corelane tune: ./load is one word too many; write -- before the program; see "},
      Case{{"reserve", "--cores", "1", "./app", "--frobnicate"},
           "corelane reserve: there is no option --frobnicate; if it belongs to the program, write -- before the "
           "program; "},
      Case{{"ns", "lits"}, "corelane ns: there is no command lits; is list meant? There are list, "},
      Case{{"ns", "-x"}, "corelane ns: there is no option -x; "}, Case{{""}, "corelane: there is no command ''; "},
      Case{{"ns", "resolve"}, "corelane ns resolve: NAME is required; "},
      Case{{"ping", "-x"}, "corelane ping: there is no option -x; "},
      Case{{"ping", "x", "--timeout", "1"},
           "corelane ping: --timeout: '1' is no duration; write a whole number and its unit: 10ms, "},
      Case{{"top", ""}, "corelane top: an empty word is one too many; "},
      Case{{"top", "--runtime-directory", ""}, "corelane top: --runtime-directory: it is empty; is a variable not "},
      Case{{"trace", "x", "-o", ""}, "corelane trace: --output: it is empty; is a variable not set?"},
      Case{{"ns", "watch", "--interval", "0s"}, "corelane ns watch: --interval: 0s is less than 1ms; "},
      Case{{"measure", "x", "--request", "1"}, "corelane measure: FILE and --request exclude each other: "},
      Case{{"measure", "x", "--interface", "a\"b"}, "corelane measure: --interface: 'a\"b' is no repository id; "},
      Case{{"measure", "x", "--interface", "Crane::Winch"},
           "corelane measure: --interface: 'Crane::Winch' is no repository id; write IDL:Crane/Winch:1.0; "},
      Case{{"measure", "x", "--interface", "IDL:Crane/Winch"},
           "corelane measure: --interface: 'IDL:Crane/Winch' is a repository id without its version; write "
           "IDL:Crane/Winch:1.0; "},
      Case{{"measure", "--operation", "x", "--call", "x", "--deadline", "0s"},
           "corelane measure: --deadline: 0s is less than 1ns; "},
      Case{{"measure", "x", "--jitter", "1ms"}, "corelane measure: --jitter"},
      Case{{"measure"}, "corelane measure: name a FILE, "},
      Case{{"measure", "--operation", "x", "--call", "x", "--beside", "y", "--task", "x\xff"},
           "corelane measure: --task: \"x\xef\xbf\xbd\" is not UTF-8; write the label in UTF-8; "},
      Case{{"measure", "--operation", "x", "--call", "x", "--beside", "y", "--beside-task", "x\xff"},
           "corelane measure: --beside-task: \"x\xef\xbf\xbd\" is not UTF-8; write the label in UTF-8; "},
      Case{{"ns", "watch", "--interval", "never"}, "corelane ns watch: --interval: 'never' is no duration"},
      Case{{"--bogus"}, "corelane: "}, Case{{"top", "bogus"}, "corelane top: "},
      Case{{"top", "--interval", "never"}, "corelane top: --interval: never is not from 0.1 to 3600; "},
      Case{{"top", "--interval", "nan"}, "corelane top: --interval: nan is not from 0.1 to 3600; "},
      Case{{"ns", "watch", "a", "b", "c"}, "corelane ns watch: b, c are words too many; "},
      Case{{"doctor", "extra"}, "corelane doctor: extra is one word too many; "},
      Case{{"doctor", "-x"}, "corelane doctor: there is no option -x; "},
      Case{{"doctor", "--format", "xml"}, "corelane doctor: --format: xml is none of table, json; "},
      Case{{"reserve", "--cores"}, "corelane reserve: --cores needs COUNT behind it; "},
      Case{{"reserve", "--cores", "1", "--share", "1ms/2ms", "x"},
           "corelane reserve: --cores and --share exclude each other: give one of them; "},
      Case{{"ping", "IOR:", "--interval", "never"}, "corelane ping: --interval: 'never' is no duration"},
      Case{{"trace", "--request", "-1"}, "corelane trace: --request: -1 is not from 1 to 4194304; "},
      Case{{"measure", "--request", "abc"}, "corelane measure: --request: abc is not from 1 to 4194304; "},
      Case{{"scale", "locksim", "--simulate", "constant", "--seed", "-1"},
           "corelane scale locksim: --seed: -1 is not from 0 to 1000000000000000000; "},
      Case{{"scale", "report", "--one", "x", "--many", "x", "--work-one", "0"},
           "corelane scale report: --work-one: 0 is no number above 0, at most 1e18; "},
      Case{{"scale", "report", "--one", "x", "--many", "x", "--work-many", "nan"},
           "corelane scale report: --work-many: nan is no number above 0, at most 1e18; "},
      Case{{"trace", "--forma", "json", "x"}, "corelane trace: "},
      Case{{"trace"},
           "corelane trace: name either a FILE or, with --request PID, a server; see corelane trace --help\n"});
  const Answer answer = answer_of_tool(c.words);
  CAPTURE(answer.text);
  CHECK(answer.exit == "exit status 2");
  CHECK_THAT(answer.text, Catch::StartsWith(c.said) && Contains("--help"));
}

TEST_CASE("an overheads file is not run in virtual time") {
  const TempDirectory place;
  std::ofstream(place / "o.toml") << "[[overhead]]\nscenario = \"x.toml\"\n";
  const Answer answer = answer_of_tool({"eval", place / "o.toml", "--virtual"});
  CHECK(answer.exit == "exit status 2");
  CHECK(answer.text == "corelane eval: " + (place / "o.toml") +
                           " is an overheads file, which is measured in real time only; leave out --virtual\n");
}

TEST_CASE("options without effect on the kind of file are refused") {
  const TempDirectory place;
  std::ofstream(place / "o.toml") << "[[overhead]]\nscenario = \"x.toml\"\n";
  std::ofstream(place / "r.toml") << "[[reproduction]]\n";
  const Answer overheads = answer_of_tool({"eval", place / "o.toml", "--real", "--output", place / "r.csv"});
  CHECK(overheads.exit == "exit status 2");
  CHECK(overheads.text == "corelane eval: " + (place / "o.toml") +
                              " is an overheads file, on which --output has no effect; leave it out\n");
  const Answer reproduction = answer_of_tool({"eval", place / "r.toml", "--virtual", "--threads", "2"});
  CHECK(reproduction.exit == "exit status 2");
  CHECK(reproduction.text == "corelane eval: " + (place / "r.toml") +
                                 " is a reproduction file, on which --threads has no effect; leave it out\n");
}

TEST_CASE("an experiment whose results fill the disk names their file, and goes on when there is room") {
  const TempDirectory place;
  std::ofstream(place / "s.toml") << "repetitions = 3\n[platform]\ncores = 2\n[generate]\ntasks = 4\n"
                                     "[experiment]\nlength = \"100ms\"\n"
                                     "[[sweep]]\nfield = \"generate.utilization\"\nvalues = [1.0, 1.9]\n";
  const std::string evaluation =
      program_beside("corelane") + " eval " + (place / "s.toml") + " --virtual --output " + (place / "r.csv");
  // The limit of 3 blocks holds the heading, and not all lines.
  const Answer full = answer_of({"/bin/sh", "-c", "trap '' XFSZ; ulimit -f 3; exec " + evaluation});
  CAPTURE(full.text);
  CHECK(full.exit == "exit status 1");
  CHECK_THAT(full.text, Contains("corelane eval: " + (place / "r.csv") + " takes no more results; is the disk full?"));
  CHECK(answer_of({"/bin/sh", "-c", "exec " + evaluation}).exit == "exit status 0");
}

TEST_CASE("output that goes nowhere is a failure") {
  const std::string words =
      GENERATE(as<std::string>{}, "--help", "top --once --runtime-directory /tmp", "top --runtime-directory /tmp");
  const std::string nowhere = GENERATE(as<std::string>{}, " > /dev/full", " >&-");
  const Answer answer = answer_of({"/bin/sh", "-c", program_beside("corelane") + " " + words + nowhere});
  CHECK(answer.exit == "exit status 1");
  CHECK(answer.text ==
        "corelane: standard output did not take everything: it is closed, or its disk is full; "
        "open it, or free space there\n");
}

TEST_CASE("a command with a closed standard output fails, though the ORB holds the descriptor open") {
  ChildProcess server({program_beside("corelane-quickstart-server"), "-ORBRuntimeLedger", "off"});
  const std::string reference = server.read_line().value_or("");
  const Answer answer =
      answer_of({"/bin/sh", "-c", program_beside("corelane") + " ping --calls 1 " + reference + " >&-"});
  CHECK(answer.exit == "exit status 1");
  CHECK_THAT(answer.text, Contains("corelane: standard output did not take everything"));
}

TEST_CASE("a run with too many jobs is refused before it starts, by simulate and by eval") {
  const TempDirectory place;
  std::ofstream(place / "long.toml") << "[platform]\ncores = 1\n[[task]]\nperiod = \"1us\"\nbudget = \"100ns\"\n"
                                        "[experiment]\nlength = \"86400s\"\n";
  std::vector<std::string> words{"simulate", place / "long.toml"};
  if (GENERATE(false, true)) words = {"eval", place / "long.toml", "--virtual", "--output", place / "long.csv"};
  const Answer answer = answer_of_tool(words);
  CHECK(answer.exit == "exit status 2");
  CHECK_THAT(answer.text, Contains("86400s has 86486400000 jobs, and 100000000 are the most"));
}
