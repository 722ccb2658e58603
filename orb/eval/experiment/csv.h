// Fields and lines of CSV (RFC 4180).
// Threads: pure functions. They allocate.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace corelane::eval {

// Returns the line with its end. Fields that need quotes get them. An end of a line in a field becomes a blank, so that
// each record is one line. Other control characters become question marks.
std::string csv_line(const std::vector<std::string>& fields);

// Returns the fields of a line without its end.
std::vector<std::string> csv_fields(std::string_view line);

}  // namespace corelane::eval
