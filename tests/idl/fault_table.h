// The table of diagnostics: IDL texts with the messages of the compiler, in a text file. The file is the test and also
// the source of docs/diagnostics.md.
//
//   == A section of the catalogue
//   -- the subject of the cases below
//       IDL text, indented by four
//   > line:column: message | line:column: note        one line for each fault; none: the text is accepted
//
// An empty line separates cases. `|| name` inside a text begins another file, which the first one may include. A first
// line `// -Wno-error=NAME` or `// -WNAME` makes warnings of that kind.
#pragma once

#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/idl/compile_text.h"

namespace corelane::idl::test {

struct TableCase {
  std::string section;
  std::string about;
  std::string text;
  std::string faults;
  int line = 0;  // line number in the table
};

inline std::string file_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline std::vector<TableCase> read_table(const std::string& table) {
  std::vector<TableCase> result;
  TableCase open;
  const auto close = [&] {
    if (!open.text.empty()) result.push_back(open);
    open.text.clear();
    open.faults.clear();
  };
  std::istringstream lines(table);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty()) close();
    if (line.starts_with("== ")) open.section = line.substr(3);
    if (line.starts_with("-- ")) open.about = line.substr(3);
    if (line.starts_with("    ")) {
      if (open.text.empty()) open.line = number;
      open.text += line.substr(4) + '\n';
    }
    if (line.starts_with("> ")) open.faults += (open.faults.empty() ? "" : "\n") + line.substr(2);
  }
  close();
  return result;
}

// Returns the kind that the first line of the text requests.
inline std::optional<Warning> asked_for(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  for (const std::string start : {"// -Wno-error=", "// -W"})
    if (line.starts_with(start)) return warning_named(line.substr(start.size()));
  return std::nullopt;
}

// Returns what the compiler reports about the text of a case.
inline std::string faults_of(const TableCase& item) {
  Compiler compiler;
  if (const auto kind = asked_for(item.text)) compiler.diagnostics.set_policy(*kind, Policy::warn);
  std::string main;
  std::string* into = &main;
  std::istringstream lines(item.text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("|| ")) {
      into = &compiler.loader.files[line.substr(3)];
    } else {
      *into += line + '\n';
    }
  }
  return compiler.compile(main).faults();
}

// Returns the table with the compiler's current messages.
inline std::string renewed(const std::vector<TableCase>& cases) {
  std::string result;
  std::string section;
  std::string about;
  for (const TableCase& item : cases) {
    if (item.section != section) result += "== " + item.section + "\n\n";
    if (item.section != section || item.about != about) result += "-- " + item.about + "\n";
    section = item.section;
    about = item.about;
    std::istringstream lines(item.text);
    for (std::string line; std::getline(lines, line);) result += "    " + line + '\n';
    std::istringstream faults(faults_of(item));
    for (std::string line; std::getline(faults, line);) result += "> " + line + '\n';
    result += '\n';
  }
  result.pop_back();
  return result;
}

// Returns docs/diagnostics.md: the cases that have faults.
inline std::string catalogue_of(const std::vector<TableCase>& cases) {
  std::string result =
      "# Messages of the IDL compiler\n\n"
      "Look up a message of `corelane-idl` here, with an IDL text that causes it. Each text below causes\n"
      "the messages under it, here as `line:column: text`. The compiler also prints the file, the word\n"
      "`error` and the name of the warning. Messages without the word `warning` are errors. Notes follow\n"
      "after `|`, each with its place. A first line `// -W...` stands for that option of the compiler.\n"
      "The lines after `|| NAME` are another file, NAME. This page is generated from\n"
      "`tests/idl/sema/diagnostics.txt`, which the tests compile.\n";
  std::string section;
  std::string about;
  for (const TableCase& item : cases) {
    if (item.faults.empty()) continue;
    if (item.section != section) result += "\n## " + item.section + "\n";
    if (item.section != section || item.about != about) result += "\n**" + item.about + "**\n";
    section = item.section;
    about = item.about;
    result += "\n```idl\n" + item.text + "```\n";
    std::istringstream faults(item.faults);
    for (std::string line; std::getline(faults, line);) result += "- " + line + '\n';
  }
  return result;
}

}  // namespace corelane::idl::test
