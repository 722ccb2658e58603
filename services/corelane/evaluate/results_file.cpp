#include "services/corelane/evaluate/results_file.h"

#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

#include "orb/os/files/small_file.h"

namespace corelane::tool {
namespace {

constexpr std::size_t largest_results = std::size_t{1} << 30;  // bytes

}  // namespace

Expected<ResultsFile, std::string> ResultsFile::open(const std::string& path, const eval::ResultsOrigin& origin,
                                                     const eval::SweptValues& swept) {
  ResultsFile results;
  std::error_code missing;
  std::string text;
  if (std::filesystem::exists(path, missing)) {
    auto found = os::read_small_file(path, largest_results);
    if (!found) return found.error().text;
    text = *std::move(found);
  }
  auto parsed = eval::parse_results(text, origin);
  if (!parsed) return path + ": " + parsed.error().text;
  const std::string header = eval::results_header(swept);
  if (parsed->whole_lines > 0 && !text.starts_with(header))
    return path + ": its columns are not those of this scenario; move it away, or name another file";
  if (parsed->whole_lines < text.size()) std::filesystem::resize_file(path, parsed->whole_lines, missing);
  results.earlier_ = std::move(parsed->results);
  results.file_.open(path, std::ios::app);
  if (parsed->whole_lines == 0) results.file_ << header;
  if (!results.file_.flush())
    return path + " cannot be written; name a file in a directory that you may write to, on a disk that is not full";
  return results;
}

bool ResultsFile::append(const std::string& lines) { return static_cast<bool>(file_ << lines << std::flush); }

}  // namespace corelane::tool
