#include "idl/front/preprocessor/splices.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace corelane::idl {
namespace {

// Returns the size of the splice at the front of the text: the backslash and the end of its line. Returns 0 if there is
// none. A backslash at the end of the text counts.
std::size_t splice_size(std::string_view text) {
  for (const std::string_view splice : {"\\\n", "\\\r\n"})
    if (text.starts_with(splice)) return splice.size();
  return text == "\\" ? 1 : 0;
}

class Joiner {
 public:
  explicit Joiner(std::string_view text) : rest_(text) { out_.text.reserve(text.size() + 1); }

  JoinedText run() {
    start_line();
    // bound: the text, since each turn consumes at least one byte
    while (!rest_.empty()) step();
    if (waiting_ != 0) end_line();
    return std::move(out_);
  }

 private:
  void step() {
    const std::size_t size = std::min(rest_.find_first_of("\\\n"), rest_.size());
    out_.text += rest_.substr(0, size);
    rest_.remove_prefix(size);
    if (rest_.empty()) return;
    if (const std::size_t splice = splice_size(rest_); splice != 0) {
      rest_.remove_prefix(splice);
      const auto column = static_cast<std::uint32_t>(out_.text.size() - out_.lines.back() + 1);
      out_.splices.add({line_, column}, line_ + ++waiting_);
      return;
    }
    if (rest_.front() == '\n')
      end_line();
    else
      out_.text += '\\';
    rest_.remove_prefix(1);
  }

  // Ends the joined line. The preprocessor library would join it with the next one if it still ended with a backslash
  // or with the trigraph for one. The blank prevents that.
  void end_line() {
    if (out_.text.ends_with('\\') || out_.text.ends_with("\?\?/")) out_.text += ' ';
    // bound: the lines that were joined
    for (;; --waiting_) {
      out_.text += '\n';
      ++line_;
      start_line();
      if (waiting_ == 0) return;
    }
  }
  void start_line() { out_.lines.push_back(static_cast<std::uint32_t>(out_.text.size())); }

  std::string_view rest_;
  JoinedText out_;
  std::uint32_t line_ = 1;     // of the joined text
  std::uint32_t waiting_ = 0;  // lines of the source that were joined to it
};

}  // namespace

std::vector<Splices::Splice>::const_iterator Splices::after(const LinePlace& joined) const {
  return std::upper_bound(all_.begin(), all_.end(), joined, [](const LinePlace& place, const Splice& splice) {
    return std::tie(place.line, place.column) < std::tie(splice.joined.line, splice.joined.column);
  });
}

LinePlace Splices::in_source(const LinePlace& joined) const {
  const auto next = after(joined);
  if (next == all_.begin() || (next - 1)->joined.line != joined.line) return joined;
  const Splice& last = *(next - 1);
  return {last.source_line, joined.column - last.joined.column + 1};
}

std::uint32_t Splices::count(std::uint32_t line, std::uint32_t from, std::uint32_t to) const {
  return static_cast<std::uint32_t>(after({line, to}) - after({line, from}));
}

JoinedText join_lines(std::string_view text) { return Joiner(text).run(); }

std::string joined_line(const Source& source, std::uint32_t line) {
  std::string out(source.line(line));
  // bound: the lines of the source
  while (out.ends_with('\\') && line < source.lines.size()) (out.pop_back(), out += source.line(++line));
  return out;
}

}  // namespace corelane::idl
