#include "idl/sema/analyzer/analyzer.h"

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "idl/sema/types/endless.h"

namespace corelane::idl {
namespace {

template <typename Reader, typename Node>
concept Reads = requires(Reader& reader, const Node& node, const ast::Definition& definition) {
  reader.read(node, definition);
};

// Calls the first reader that reads such a node. Does not compile if there is none.
template <typename Node, typename Reader, typename... Others>
void read_with(const Node& node, const ast::Definition& definition, [[maybe_unused]] Reader& reader,
               [[maybe_unused]] Others&... others) {
  if constexpr (Reads<Reader, Node>)
    reader.read(node, definition);
  else
    read_with(node, definition, others...);
}

void copy_files(const SourceMap& sources, Model& model) {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Source& source = sources[static_cast<SourceId>(i)];
    File file{.path = source.path, .include_path = source.include_path, .includes = {}};
    for (const SourceId included : source.includes) file.includes.push_back(static_cast<FileId>(included));
    file.include_lines = source.include_lines;
    file.is_main = i == 0;
    file.generates_code = !source.embedded && !source.is_part;
    model.files.push_back(std::move(file));
  }
}

// Reports types that have no finite value, since no value of them could ever be sent.
void check_endless(const Analysis& analysis) {
  if (analysis.diagnostics.errors() != 0) return;
  for (const Endless& cycle : endless_members(analysis.model)) {
    const Place& place = cycle.member->place;
    const std::string& held = analysis.model[cycle.held].name;
    analysis.diagnostics.error(
        analysis.sources.span(static_cast<SourceId>(place.file), place.line, place.column, place.length),
        "every " + quoted(held) + " would hold another " + quoted(held) +
            ", without end; make this member `@external @optional` or a `sequence<" + held + ", 1>`");
  }
}

}  // namespace

Model Analyzer::run(const ast::Specification& specification) {
  copy_files(analysis_.sources, analysis_.model);
  std::vector<DefId> contents;
  {
    const OpenContents open(analysis_.builder, contents);
    read_all(specification.definitions);
  }
  analysis_.ids.finish();
  forwards_.finish();
  check_endless(analysis_);
  analysis_.model.contents = std::move(contents);
  return std::move(analysis_.model);
}

void Analyzer::read(const ast::Definition& definition) {
  const auto read_node = [&](const auto& node) {
    read_with(node, definition, modules_, declarations_, structures_, unions_, enumerations_, bitsets_, interfaces_,
              operations_, valuetypes_, value_members_);
  };
  std::visit(read_node, definition.node);
}

}  // namespace corelane::idl
