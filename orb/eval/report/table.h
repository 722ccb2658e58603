// Table is text in rows and columns, for a terminal or a report.
// Threads: values and pure functions. They allocate.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace corelane::eval {

struct Table {
  std::string title{};
  std::vector<std::string> columns{};
  std::vector<std::vector<std::string>> rows{};  // each has as many cells as there are columns
  std::vector<std::string> notes{};              // sentences below the table
};

// Returns lines: the title, the columns aligned to the right, and the notes, wrapped. Control characters become
// question marks.
std::string text_of(const Table& table);

// Returns the text in lines of at most 100 characters, each with its end. A longer word is a line of its own.
// Ends of lines in the text become blanks, and other control characters question marks. The first line begins with
// `first` blanks, and the others with `others`.
std::string wrapped(const std::string& text, std::size_t first = 0, std::size_t others = 0);

// Returns the number with `digits` digits behind the point.
std::string fixed(double value, int digits);

}  // namespace corelane::eval
