// Sources and spans: which text was read, and which bytes of it a token, a name or an expression covers.
//
// Threads: plain values. A SourceMap only grows while front reads; afterwards it is constant.
// Invariants: SourceId indexes SourceMap; source 0 is the main file; texts hold no byte-order mark, so columns count
// from the first visible byte. Lines and columns count from 1, columns in bytes.
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
  std::uint32_t length = 0;  // bytes; a span never runs on to the next line
};

struct Source {
  std::string path;          // as it was opened; unique in its map
  std::string include_path;  // relative to its -I root, with '/'
  std::string text;
  bool embedded = false;             // part of the compiler: makes no code
  bool is_part = false;              // included only inside definitions: its text belongs to the files that include it
  std::vector<std::uint32_t> lines;  // offset at which each line starts
  std::vector<SourceId> includes;    // directly, each once, in order
  std::vector<std::uint32_t> include_lines;  // of the #includes

  // The text of a line without its end; empty past the last.
  std::string_view line(std::uint32_t number) const;
};

class SourceMap {
 public:
  // Takes a text (stripped of its byte-order mark); `path` was not added before.
  SourceId add(std::string path, std::string include_path, std::string text, bool embedded = false);

  Source& operator[](SourceId id) { return sources_[static_cast<std::size_t>(id)]; }
  const Source& operator[](SourceId id) const { return sources_[static_cast<std::size_t>(id)]; }
  std::size_t size() const { return sources_.size(); }

  // The source of that path; none when it was not added.
  SourceId find(std::string_view path) const;

  // The span of `length` bytes at a place, cut at the end of its line.
  Span span(SourceId id, std::uint32_t line, std::uint32_t column, std::size_t length) const;

 private:
  std::deque<Source> sources_;  // references to sources stay valid
};

// From the start of `first` to the end of `last`; only `first`, where they stand on different lines.
Span join(const Span& first, const Span& last);

}  // namespace corelane::idl
