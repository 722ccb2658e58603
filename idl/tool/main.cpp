// corelane-idl: compiles IDL to C++.
//
// Exit code: 0 done, 1 the IDL has errors or a file cannot be read or written, 2 the command line is wrong.
// Nothing is written unless everything succeeded.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "idl/cxx/generate.h"
#include "idl/cxx/support.h"
#include "idl/front/expand.h"
#include "idl/front/front.h"
#include "idl/front/lexer.h"
#include "idl/front/preprocessor.h"
#include "idl/front/render.h"
#include "idl/sema/sema.h"
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
  bool servant = true;
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
  app.add_option("-o,--output-dir", settings.output_dir, "Where the C++ goes (default: here)")->type_name("DIR");
  app.add_option("--depfile", settings.depfile, "Also write a rule of make with all files that were read")
      ->type_name("FILE");
  app.add_flag("-E", settings.expand, "Only preprocess, to the standard output");
  app.add_flag("--strip-annotations", settings.strip_annotations,
               "With -E: leave annotations out, for compilers that refuse them")
      ->needs("-E");
  app.add_flag("--list-outputs", settings.list_outputs, "Only print the names of the files that would be written");
  app.add_option("--dump-model", settings.dump, "Only print the checked model, to the standard output")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"json"}));
  app.add_flag("!--no-servant", settings.servant, "Leave out fooS.h and fooS.cpp");
}

// The files that back ends make, in place of those that were read.
std::vector<TargetFile> generate_files(const Model& model, const Settings& settings) {
  std::vector<TargetFile> files;
  for (cxx::OutputFile& file : cxx::generate(model, {.servant = settings.servant}))
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

// What the language has and the back end lacks is an error where it stands. Files of the model are the sources, in
// order.
void refuse_unsupported(const Model& model, const SourceMap& sources, Diagnostics& diagnostics) {
  for (const cxx::Unsupported& use : cxx::unsupported_in(model))
    diagnostics.error(
        sources.span(static_cast<SourceId>(use.place.file), use.place.line, use.place.column, use.place.length),
        use.message);
}

int print_diagnostics(const Diagnostics& diagnostics, const SourceMap& sources) {
  std::cerr << render(diagnostics, sources, {.colour = isatty(STDERR_FILENO) != 0});
  return diagnostics.has_errors() ? 1 : 0;
}

// -E: what is no IDL of ours may be that of another compiler, so nothing is parsed.
int print_expanded(const Settings& settings, SourceMap& sources, SourceLoader& loader, Diagnostics& diagnostics) {
  const Preprocessed text = preprocess(sources, loader, settings.source, settings.preprocessor, diagnostics);
  if (!diagnostics.has_errors()) {
    const std::vector<Token> tokens = tokenize(text, sources, diagnostics);
    std::cout << expand(tokens, sources, {.strip_annotations = settings.strip_annotations});
  }
  return print_diagnostics(diagnostics, sources);
}

int run(const Settings& settings) {
  SourceMap sources;
  Diagnostics diagnostics;
  FileLoader loader(settings.roots);
  if (settings.expand) return print_expanded(settings, sources, loader, diagnostics);
  const FrontResult front = run_front(sources, loader, settings.source, settings.preprocessor, diagnostics);
  Model model;
  if (front.complete) model = analyze(front.specification, sources, diagnostics);
  if (settings.dump.empty() && !diagnostics.has_errors()) refuse_unsupported(model, sources, diagnostics);
  if (print_diagnostics(diagnostics, sources) != 0) return 1;
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

}  // namespace
}  // namespace corelane::idl::tool

int main(int argc, char** argv) {
  CLI::App app("Compiles IDL to C++: fooC.h, fooC.cpp (client), fooS.h, fooS.cpp (servant) for foo.idl",
               "corelane-idl");
  corelane::idl::tool::Settings settings;
  app.set_version_flag("--version", "corelane-idl " CORELANE_VERSION);
  corelane::idl::tool::describe_options(app, settings);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (const auto fault = corelane::idl::fault_of(settings.preprocessor)) {
    std::cerr << "corelane-idl: error: " << *fault << '\n';
    return 2;
  }
  return corelane::idl::tool::run(settings);
}
