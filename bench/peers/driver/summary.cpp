#include "bench/peers/driver/summary.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace peers {
namespace {

std::uint64_t nearest_rank(const std::vector<std::uint64_t>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\')
      result += '\\', result += letter;
    else
      result += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
  }
  return result + '"';
}

}  // namespace

Percentiles percentiles_of(std::vector<std::uint64_t>& samples) {
  std::sort(samples.begin(), samples.end());
  return {.count = samples.size(),
          .min = samples.front(),
          .p50 = nearest_rank(samples, 0.5),
          .p99 = nearest_rank(samples, 0.99),
          .p999 = nearest_rank(samples, 0.999),
          .p9999 = nearest_rank(samples, 0.9999),
          .max = samples.back()};
}

Record& Record::add(std::string_view key, std::int64_t value) { return add_raw(key, std::to_string(value)); }

Record& Record::add(std::string_view key, double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3f", value);
  return add_raw(key, text);
}

Record& Record::add(std::string_view key, std::string_view value) { return add_raw(key, quoted(value)); }

Record& Record::add(const Percentiles& percentiles) {
  const auto add_number = [&](std::string_view key, std::uint64_t value) {
    add(key, static_cast<std::int64_t>(value));
  };
  add_number("count", percentiles.count);
  add_number("min_ns", percentiles.min);
  add_number("p50_ns", percentiles.p50);
  add_number("p99_ns", percentiles.p99);
  add_number("p999_ns", percentiles.p999);
  add_number("p9999_ns", percentiles.p9999);
  add_number("max_ns", percentiles.max);
  return *this;
}

std::string Record::text() const { return "{" + members_ + "}"; }

Record& Record::add_raw(std::string_view key, const std::string& value) {
  if (!members_.empty()) members_ += ", ";
  members_ += quoted(key) + ": " + value;
  return *this;
}

}  // namespace peers
