// Splices: a backslash at the end of a line joins it with the next line. join_lines() removes them before anything else
// reads the text, so that they may stand anywhere: in a word, a directive, a literal or a comment mark.
//
// Threads: any; plain values and pure functions.
// Invariant: each joined line has the number of its first line in the source. Empty lines after it make up for those
// that were joined to it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "idl/ast/source.h"

namespace corelane::idl {

struct LinePlace {
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  friend bool operator==(const LinePlace&, const LinePlace&) = default;
};

// Where the lines of the source begin in the joined lines.
class Splices {
 public:
  // Adds a splice: after it the source is at the start of `source_line`. Precondition: the places ascend.
  void add(const LinePlace& joined, std::uint32_t source_line) { all_.push_back({joined, source_line}); }

  // Returns the place in the source of a place in the joined text.
  LinePlace in_source(const LinePlace& joined) const;
  // Returns how many splices of the line have a column after `from` and up to `to`.
  std::uint32_t count(std::uint32_t line, std::uint32_t from, std::uint32_t to) const;

 private:
  struct Splice {
    LinePlace joined;  // of the first byte after it
    std::uint32_t source_line;
  };
  std::vector<Splice>::const_iterator after(const LinePlace& joined) const;

  std::vector<Splice> all_;
};

struct JoinedText {
  std::string text;
  std::vector<std::uint32_t> lines;  // offset in `text` at which each line starts
  Splices splices;
};

JoinedText join_lines(std::string_view text);

// Returns a line of the source, together with the lines that splices join to it.
std::string joined_line(const Source& source, std::uint32_t line);

}  // namespace corelane::idl
