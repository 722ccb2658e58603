// corelane-idl: compiles IDL to C++.
//
// Exit code: 0 success, 1 the IDL has errors or a file cannot be read or written, 2 the command line is wrong. Writes
// nothing unless everything succeeded.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "idl/cxx/generate.h"
#include "idl/cxx/support.h"
#include "idl/front/expand.h"
#include "idl/front/front.h"
#include "idl/front/lexer/lexer.h"
#include "idl/front/preprocessor/preprocessor.h"
#include "idl/front/render.h"
#include "idl/sema/names/scope.h"
#include "idl/sema/sema.h"
#include "idl/tool/arguments.h"
#include "idl/tool/dump.h"
#include "idl/tool/file_loader.h"
#include "idl/tool/output.h"

namespace corelane::idl::tool {
namespace {

namespace fs = std::filesystem;

struct Settings {
  std::string source;
  std::vector<fs::path> roots;
  PreprocessorOptions preprocessor;
  fs::path output_dir = ".";
  std::string depfile;
  std::string dump;
  bool expand = false;
  bool strip_annotations = false;
  bool list_outputs = false;
  cxx::Options cxx;
  std::vector<std::string> warnings;
  bool no_warnings = false;
  std::string colour = "auto";
};

void describe_options(CLI::App& app, Settings& settings) {
  app.add_option("source", settings.source, "The IDL file")->required()->type_name("FILE");
  const auto list = [&](const char* flag, auto& into, const char* help, const char* type) {
    return app.add_option(flag, into, help)->type_name(type)->allow_extra_args(false);
  };
  list("-I", settings.roots, "A folder to search for #include; outputs mirror paths inside it", "DIR")
      ->check(CLI::ExistingDirectory);
  list("-D", settings.preprocessor.defines, "Define a macro", "NAME[=TEXT]");
  list("-U", settings.preprocessor.undefines, "Undefine a macro", "NAME");
  app.add_option("-o,--output-dir", settings.output_dir, "Directory for the C++ files (default: the current one)")
      ->type_name("DIR");
  app.add_option("--depfile", settings.depfile, "Also write a make rule that names all files that were read")
      ->type_name("FILE");
  app.add_flag("-E", settings.expand, "Only preprocess; print the result to standard output");
  app.add_flag("--strip-annotations", settings.strip_annotations,
               "With -E: leave annotations out, for compilers that refuse them")
      ->needs("-E");
  app.add_flag("--list-outputs", settings.list_outputs, "Only print the names of the files that would be written");
  app.add_option("--dump-model", settings.dump, "Only print the checked model to standard output")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"json"}));
  app.add_flag("!--no-servant", settings.cxx.servant, "Leave out fooS.h and fooS.cpp");
  app.add_flag("--ami", settings.cxx.ami, "Also write asynchronous stubs and reply handlers: fooAmiC.h and so on");
  app.add_flag("--extensions", settings.cxx.extensions,
               "Allow @optional and map, whose encoding only Corelane understands");
  list("-W", settings.warnings, "A warning, as listed below: on, off or an error; `error`: all are",
       "[no-|error=|no-error=]NAME");
  app.add_flag("-w", settings.no_warnings, "Print no warnings");
  app.add_option("--color", settings.colour, "Color in messages: auto (on a terminal, unless NO_COLOR is set)")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  std::string footer = "Warnings:\n";
  for (const WarningText& warning : warning_texts)
    footer.append("  ").append(warning.name).append(": ").append(warning.about).append("\n");
  app.footer(footer + "@FILE is replaced by the words of that file.");
}

// Returns the files that the back end makes.
std::vector<TargetFile> generate_files(const Model& model, const Settings& settings) {
  std::vector<TargetFile> files;
  for (cxx::OutputFile& file : cxx::generate(model, settings.cxx))
    files.push_back({(settings.output_dir / file.path).lexically_normal(), std::move(file.text)});
  return files;
}

void add_depfile(std::vector<TargetFile>& files, const SourceMap& sources, const Settings& settings) {
  if (settings.depfile.empty()) return;
  std::vector<fs::path> targets;
  for (const TargetFile& file : files) targets.push_back(file.path);
  std::vector<std::string> read;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Source& source = sources[static_cast<SourceId>(i)];
    if (!source.embedded) read.push_back(source.path);
  }
  files.push_back({settings.depfile, depfile_text(targets, read)});
}

// Reports an error at each construct that the back end does not support. The model's files are the sources, in order.
void refuse_unsupported(const Model& model, const Settings& settings, const SourceMap& sources,
                        Diagnostics& diagnostics) {
  for (const cxx::Unsupported& use : cxx::unsupported_in(model, settings.cxx))
    diagnostics.error(
        sources.span(static_cast<SourceId>(use.place.file), use.place.line, use.place.column, use.place.length),
        use.message);
}

bool wants_colour(const Settings& settings) {
  if (settings.colour != "auto") return settings.colour == "always";
  const char* const refused = std::getenv("NO_COLOR");
  return isatty(STDERR_FILENO) != 0 && (refused == nullptr || *refused == '\0');
}

int print_diagnostics(const Diagnostics& diagnostics, const SourceMap& sources, const Settings& settings) {
  std::cerr << render(diagnostics, sources, {.colour = wants_colour(settings)});
  return diagnostics.has_errors() ? 1 : 0;
}

// -E does not parse the text, since it may use extensions of another compiler.
int print_expanded(const Settings& settings, SourceMap& sources, SourceLoader& loader, Diagnostics& diagnostics) {
  const Preprocessed text = preprocess(sources, loader, settings.source, settings.preprocessor, diagnostics);
  if (!diagnostics.has_errors()) {
    const std::vector<Token> tokens = tokenize(text, sources, diagnostics);
    std::cout << expand(tokens, sources, {.strip_annotations = settings.strip_annotations});
  }
  return print_diagnostics(diagnostics, sources, settings);
}

int usage_fault(const std::string& message) {
  std::cerr << "corelane-idl: error: " << message << '\n';
  return 2;
}

// Returns the message for a wrong command line. CLI11 names the leftover words, which may be correct while a misspelled
// option is elsewhere.
std::string fault_of_command_line(const CLI::App& app, const std::vector<std::string>& words, std::string said) {
  std::vector<std::string> known;
  for (const CLI::Option* const option : app.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  for (const std::string& word : words) {
    if (word == "--") break;  // words after it are not options
    const std::string name = word.substr(0, word.find('='));
    if (!name.starts_with("--") || std::ranges::find(known, name) != known.end()) continue;
    const std::string similar = similar_word(name, known);
    return "there is no option " + name + (similar.empty() ? "" : "; is " + similar + " meant?");
  }
  return said;
}

// Applies -w and -W. Returns a fault for the first invalid value.
std::optional<std::string> set_warnings(const Settings& settings, Diagnostics& diagnostics) {
  auto fault = apply_warnings(settings.warnings, diagnostics);
  if (settings.no_warnings) turn_warnings(Policy::ignore, diagnostics);
  return fault;
}

int run(const Settings& settings) {
  SourceMap sources;
  Diagnostics diagnostics;
  if (const auto fault = set_warnings(settings, diagnostics)) return usage_fault(*fault);
  FileLoader loader(settings.roots);
  if (settings.expand) return print_expanded(settings, sources, loader, diagnostics);
  const FrontResult front = run_front(sources, loader, settings.source, settings.preprocessor, diagnostics);
  Model model;
  if (front.complete) model = analyze(front.specification, sources, diagnostics);
  if (settings.dump.empty() && !diagnostics.has_errors()) refuse_unsupported(model, settings, sources, diagnostics);
  if (print_diagnostics(diagnostics, sources, settings) != 0) return 1;
  if (!settings.dump.empty()) {
    std::cout << dump_json(model) << '\n';
    return 0;
  }
  std::vector<TargetFile> files = generate_files(model, settings);
  if (settings.list_outputs) {
    for (const TargetFile& file : files) std::cout << file.path.generic_string() << '\n';
    return 0;
  }
  add_depfile(files, sources, settings);
  if (const auto fault = write_all(files)) {
    std::cerr << "corelane-idl: error: " << *fault << '\n';
    return 1;
  }
  return 0;
}

// Reports an error if standard output lost data, because of a full disk or a closed pipe. Otherwise a build would go on
// without the data.
int flushed(int status) {
  if (std::cout.flush() && std::ferror(stdout) == 0) return status;
  std::cerr << "corelane-idl: error: standard output did not take everything: it is closed, or its disk is full; open "
               "it, or free space there\n";
  return 1;
}

int run_within_memory(const Settings& settings) try { return flushed(run(settings)); } catch (const std::bad_alloc&) {
  std::cerr << settings.source << ": error: the compiler got no memory for this; a literal or comment may never end\n";
  return 1;
}

}  // namespace
}  // namespace corelane::idl::tool

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond `ulimit -f` then gives a write error, which is reported
  CLI::App app("Compiles IDL to C++: fooC.h, fooC.cpp (client), fooS.h, fooS.cpp (servant) for foo.idl",
               "corelane-idl");
  corelane::idl::tool::Settings settings;
  app.set_version_flag("--version", "corelane-idl " CORELANE_VERSION);
  corelane::idl::tool::describe_options(app, settings);
  namespace tool = corelane::idl::tool;
  auto arguments = tool::expand_arguments(std::vector<std::string>(argv + 1, argv + argc));
  if (const auto* fault = std::get_if<tool::ArgumentFault>(&arguments)) return tool::usage_fault(fault->message);
  const auto& words = std::get<std::vector<std::string>>(arguments);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // the library expects reverse order
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return tool::usage_fault(tool::fault_of_command_line(app, words, error.what()) + "; see corelane-idl --help");
  }
  if (const auto fault = corelane::idl::fault_of(settings.preprocessor)) return tool::usage_fault(*fault);
  return tool::run_within_memory(settings);
}
