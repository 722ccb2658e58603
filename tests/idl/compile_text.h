// Compiles IDL that a test has as text, and returns its faults, one line each.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "idl/front/front.h"
#include "idl/front/render.h"
#include "idl/sema/sema.h"

namespace corelane::idl::test {

// A SourceLoader over a map from path to text.
class MapLoader final : public SourceLoader {
 public:
  std::map<std::string, std::string> files;

  std::variant<Located, LoadFailure> locate_main(const std::string& path) override { return locate(path); }
  std::variant<Located, LoadFailure> locate_include(const std::string& name, bool, const std::string&) override {
    return locate(name);
  }
  std::variant<std::string, LoadFailure> read(const Located& file, std::size_t) override { return files.at(file.path); }

 private:
  std::variant<Located, LoadFailure> locate(const std::string& name) const {
    if (files.count(name) == 0) return LoadFailure{"no such file"};
    return Located{name, name};
  }
};

struct Compiler {
  MapLoader loader;
  SourceMap sources;
  Diagnostics diagnostics;
  PreprocessorOptions options;
  FrontResult front;
  Model model;

  // Adds a file that #include finds.
  Compiler& with(const std::string& path, std::string text) {
    loader.files[path] = std::move(text);
    return *this;
  }
  // Compiles `text` as the file t.idl.
  Compiler& compile(std::string text) {
    with("t.idl", std::move(text));
    front = run_front(sources, loader, "t.idl", options, diagnostics);
    if (front.complete) model = analyze(front.specification, sources, diagnostics);
    return *this;
  }

  // Returns the faults as "line:column: message", one per line. The path comes first for files other than t.idl;
  // "warning: " comes before a warning's message.
  std::string faults() const {
    std::string result;
    for (const Diagnostic* fault : diagnostics.sorted()) {
      if (!result.empty()) result += '\n';
      result += place(fault->span) + (fault->severity == Severity::warning ? " warning: " : " ") + fault->message;
      for (const auto& note : fault->notes) result += " | " + place(note.span) + ' ' + note.message;
    }
    return result;
  }

  // Returns the definition of that scoped name. Throws if there is none, so the test fails.
  const Definition& operator[](const std::string& name) const {
    const Definition* last = nullptr;
    for (const Definition& definition : model.definitions)
      if (definition.scoped_name == name) last = &definition;
    if (last == nullptr) throw std::out_of_range(name);
    return *last;
  }
  template <typename Body>
  const Body& body(const std::string& name) const {
    return std::get<Body>((*this)[name].body);
  }

 private:
  std::string place(const Span& at) const {
    if (at.source == SourceId::none) return "-:";
    const std::string file = at.source == SourceId::main ? "" : sources[at.source].path + ':';
    return file + std::to_string(at.line) + ':' + std::to_string(at.column) + ':';
  }
};

inline std::string faults_of(std::string text) { return Compiler().compile(std::move(text)).faults(); }

}  // namespace corelane::idl::test
