// Text: the file under construction, written line by line with the indentation kept.
//
// Patterns: $0 to $9 stand for the arguments; a pattern of several lines writes several lines. A line that is empty
// after substitution is written without trailing blanks, and two empty lines in a row become one.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace corelane::idl::cxx {

using Arguments = std::initializer_list<std::string_view>;

// The pattern with its arguments in place. Arguments are not looked through for '$'.
std::string fill(std::string_view pattern, Arguments arguments);

std::string join(const std::vector<std::string>& items, std::string_view separator);

class Text {
 public:
  static constexpr std::size_t columns = 120;

  void line(std::string_view pattern = {}, Arguments arguments = {});
  // A line, then one level deeper until close().
  void open(std::string_view pattern, Arguments arguments = {});
  void close(std::string_view pattern, Arguments arguments = {});
  // One level deeper, after a line that list() wrote.
  void indent() { indentation_ += 2; }
  // A label such as "public:", one column to the right of the enclosing brace.
  void label(std::string_view name);
  // head items... tail on one line where it fits, else broken between items with four columns of indentation.
  void list(std::string_view head, const std::vector<std::string>& items, std::string_view tail);

  const std::string& str() const { return text_; }

 private:
  void put(std::size_t indentation, std::string_view line);

  std::string text_;
  std::size_t indentation_ = 0;
};

}  // namespace corelane::idl::cxx
