// CommaTable reads text with one row a line and commas between the columns. The first row has the names of the columns.
// Empty lines and lines that begin with # do not count. The last column has the rest of its line, commas included;
// quotation marks mean nothing.
// Threads: pure. Allocates.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"

namespace corelane::tool {

class CommaTable {
 public:
  // `path` names the text in messages. The result is a message if the text has no rows, or a row has fewer columns than
  // the first one.
  static Expected<CommaTable, std::string> parse(std::string_view text, const std::string& path);

  std::size_t rows() const { return rows_.size(); }  // without the first one
  std::optional<std::size_t> column(std::string_view name) const;
  // Returns the column's number, or a message that lists the columns there are.
  Expected<std::size_t, std::string> required_column(std::string_view name) const;
  const std::string& value(std::size_t row, std::size_t column) const { return rows_[row].values[column]; }
  std::string place(std::size_t row) const;  // "FILE:LINE"
  // Returns the value as a number, or a message with the line.
  Expected<double, std::string> number(std::size_t row, std::size_t column) const;

 private:
  struct Row {
    int line = 0;
    std::vector<std::string> values{};
  };

  std::string path_{};
  std::vector<std::string> names_{};
  std::vector<Row> rows_{};
};

}  // namespace corelane::tool
