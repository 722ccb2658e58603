// Text is the file under construction. It is written line by line and keeps track of the indentation.
//
// Patterns: $0 to $9 stand for the arguments. A pattern with several lines writes several lines. A line that is empty
// after substitution is written without trailing blanks, and two empty lines in a row become one.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace corelane::idl::cxx {

using Arguments = std::initializer_list<std::string_view>;

// Returns the pattern with its arguments filled in. A '$' inside an argument has no meaning.
std::string fill(std::string_view pattern, Arguments arguments);

std::string join(const std::vector<std::string>& items, std::string_view separator);

class Text {
 public:
  static constexpr std::size_t columns = 120;

  void line(std::string_view pattern = {}, Arguments arguments = {});
  // Writes a line and indents the following lines until close().
  void open(std::string_view pattern, Arguments arguments = {});
  void close(std::string_view pattern, Arguments arguments = {});
  // Indents the following lines until close(). Call it after list() has written the first line.
  void indent() { indentation_ += 2; }
  // Writes a label such as "public:", one column to the right of the enclosing brace.
  void label(std::string_view name);
  // Writes head, items and tail on one line if they fit. Otherwise breaks the line between items and indents by four
  // columns.
  void list(std::string_view head, const std::vector<std::string>& items, std::string_view tail);

  const std::string& str() const { return text_; }

 private:
  void put(std::size_t indentation, std::string_view line);

  std::string text_;
  std::size_t indentation_ = 0;
};

}  // namespace corelane::idl::cxx
