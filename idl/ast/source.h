// Sources and spans: the texts that were read, and the bytes of a text that a token, a name or an expression covers.
//
// Threads: plain values. A SourceMap only grows while front reads; afterwards it is constant.
// Invariants: SourceId is an index into SourceMap, and source 0 is the main file. Texts contain no byte-order mark, so
// columns count from the first visible byte. Lines and columns count from 1, columns in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace corelane::idl {

enum class SourceId : std::uint32_t { main = 0, none = 0xffff'ffff };  // none: the command line

struct Span {
  SourceId source = SourceId::none;
  std::uint32_t offset = 0;  // bytes from the start of the text
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t length = 0;  // in bytes; a span never continues on the next line
};

struct Source {
  std::string path;          // as it was opened; unique in its map
  std::string include_path;  // relative to its -I root, with '/'
  std::string text;
  bool embedded = false;  // part of the compiler: no code is generated for it
  // `is_part`: included only inside definitions. Then its text belongs to the files that include it.
  bool is_part = false;
  std::vector<std::uint32_t> lines;          // offset at which each line starts
  std::vector<SourceId> includes;            // direct ones, each once, in order
  std::vector<std::uint32_t> include_lines;  // lines of the #includes

  // Returns the text of a line without its end; "" past the last line.
  std::string_view line(std::uint32_t number) const;
};

class SourceMap {
 public:
  // Adds a text, without its byte-order mark. `path` must be new.
  SourceId add(std::string path, std::string include_path, std::string text, bool embedded = false);

  Source& operator[](SourceId id) { return sources_[static_cast<std::size_t>(id)]; }
  const Source& operator[](SourceId id) const { return sources_[static_cast<std::size_t>(id)]; }
  std::size_t size() const { return sources_.size(); }

  // Returns the source with that path; none if there is none.
  SourceId find(std::string_view path) const;

  // Returns the span of `length` bytes at a place. The span ends at the end of the line.
  Span span(SourceId id, std::uint32_t line, std::uint32_t column, std::size_t length) const;

 private:
  std::deque<Source> sources_;  // references to sources stay valid
};

// Returns the span from the start of `first` to the end of `last`; only `first` if they are on different lines.
Span join(const Span& first, const Span& last);

}  // namespace corelane::idl
