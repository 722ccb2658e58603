// Text tables for people: columns as wide as their widest cell, numbers aligned right.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "orb/base/time.h"

namespace corelane::pendulum {

// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

// Returns milliseconds, such as "10" or "2.5".
std::string milliseconds(Duration duration);

// Returns a line such as "[#####.....]  2.5 s  383 forces computed". It has fewer than `columns` characters, so that a
// terminal of that width does not break the line. 0: no limit.
std::string progress_of(Duration gone, Duration length, const std::string& state, std::size_t columns);

// Returns the state to show while the service does not answer the demo's own question.
std::string silence_of(bool overloaded);

class Table {
 public:
  explicit Table(std::vector<std::string> head);
  void add(std::vector<std::string> row);  // as many cells as the head
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // rows_[0] is the head
};

}  // namespace corelane::pendulum
