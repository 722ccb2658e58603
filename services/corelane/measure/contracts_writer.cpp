#include "services/corelane/measure/contracts_writer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "orb/core/contracts/contracts_file.h"
#include "orb/core/text/toml_text.h"
#include "orb/os/files/small_file.h"
#include "services/corelane/output/output_file.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

// Returns the line that begins at `at`, with its newline.
std::string_view line_at(std::string_view text, std::size_t at) {
  return text.substr(at, std::min(text.find('\n', at), text.size() - 1) + 1 - at);
}

// Removes what an earlier run added as a comment for the same table: see set_aside().
void drop_set_aside(std::string& text, const std::string& key) {
  const std::size_t table = text.find("\n# " + key);
  const std::size_t reason = table == text.npos ? table : text.rfind("# Not used: ", table);
  if (reason == text.npos || std::ranges::count(std::string_view(text).substr(reason, table - reason), '\n') != 1)
    return;
  std::size_t end = table + 1;
  end += line_at(text, end).size();
  while (end < text.size() && line_at(text, end).starts_with("# ") && line_at(text, end).find(" = ") != text.npos)
    end += line_at(text, end).size();
  const bool parted = reason > 1 && text[reason - 1] == '\n' && text[reason - 2] == '\n';
  text.erase(reason - (parted ? 1 : 0), end - reason + (parted ? 1 : 0));
}

// Returns the end of a sentence that begins with the label: why there is no proposal.
std::string why_no_table(const Measurement& measurement) {
  if (!measurement.contract || measurement.label.find(' ') != std::string::npos)
    return " has no contract or no name in the trace: its beginning was overwritten; a larger recorder.size keeps it";
  if (may_be_cut(measurement.label)) return " is cut: say --interface IDL:...:1.0 and --operation";
  return " names no interface: say which with --interface IDL:...:1.0";
}

// Adds the table to `text`. Returns what is wrong with that; "" if it was added.
std::string add_to(std::string& text, const std::string& path, const MeasuredOperation& measured) {
  const auto& [measurement, basis, fault, proposal] = measured;
  if (!proposal) return measurement.label + why_no_table(measurement);
  if (const std::string bad = fault_of_repository_id(proposal->repository_id); !bad.empty())
    return measurement.label + " has no interface that a table could name: " + bad;
  // The old text and the new table are well-formed by themselves, so only a second table of that name can fail.
  if (!core::ContractsFile::parse(text + "\n" + proposal->key() + "\nimportance = 0\n", path))
    return "it has a table for " + proposal->operation + " of " + proposal->repository_id + " already; " +
           (proposal->fault.empty() ? "put there: budget = \"" + to_string(proposal->contract.budget) + "\""
                                    : "measured, it would be wrong: " + proposal->fault);
  drop_set_aside(text, proposal->key());
  text += (text.empty() ? "" : "\n") + proposal->entry;
  return {};
}

// Returns the file that a symbolic link leads to, so that the file is replaced and not the link.
std::string target_of(const std::string& path) {
  std::error_code none;
  const auto target = std::filesystem::canonical(path, none);
  return none ? path : target.string();
}

// Returns the file's text, if it is well-formed; "" if there is no file. Returns nothing after reporting a fault.
std::optional<std::string> text_before(const std::string& path, bool is_there, const Complaints& complaints) {
  constexpr std::size_t largest_file = 1024 * 1024;
  if (!is_there) return "";
  auto before = os::read_small_file(path, largest_file);
  if (!before) return complaints.begin() << plain(before.error().text) << "\n", std::nullopt;
  if (const auto fault = core::nesting_fault_of(*before, path))
    return complaints.begin() << plain(fault->text) << "\n", std::nullopt;
  if (const auto file = core::ContractsFile::parse(*before, path); !file)
    return complaints.begin() << plain(file.error().text) << "\n", std::nullopt;
  return *std::move(before);
}

// Replaces the file by a new one with the same mode. The owner is the same if this user may give files away. Reports a
// fault.
bool replace_file(const std::string& path, const std::string& text, const Complaints& complaints) {
  const std::string target = target_of(path);
  struct stat before {};
  const bool is_there = ::stat(target.c_str(), &before) == 0;
  const auto written = os::write_small_file(target, text, is_there ? before.st_mode & 07777 : 0);
  if (!written) return complaints.begin() << plain(written.error().text) << "\n", false;
  if (is_there && ::lchown(target.c_str(), before.st_uid, before.st_gid) != 0)
    complaints.begin() << plain(target) << " belongs to this user now: it was replaced by a new file\n";
  return true;
}

}  // namespace

bool may_write_contracts(const MeasureOptions& options, const Complaints& complaints) {
  if (options.write.empty()) return true;
  const bool is_there = static_cast<bool>(std::ifstream(options.write));
  if (!text_before(options.write, is_there, complaints)) return false;
  const std::string fault = fault_of_output_file(options.write);
  if (!fault.empty()) complaints.begin() << "nothing was measured: " << plain(fault) << "\n";
  return fault.empty();
}

bool write_contracts(const MeasureOptions& options, const std::vector<MeasuredOperation>& found,
                     const Complaints& complaints) {
  const bool is_there = static_cast<bool>(std::ifstream(options.write));
  auto text = text_before(options.write, is_there, complaints);
  if (!text) return false;
  std::vector<std::string> left_out, comments;
  for (const MeasuredOperation& measured : found) {
    if (auto bad = add_to(*text, options.write, measured); !bad.empty())
      left_out.push_back(std::move(bad));
    else if (!measured.proposal->fault.empty())
      comments.push_back(" has " + measured.measurement.label + " as a comment alone: " + measured.proposal->fault);
  }
  const bool any = left_out.size() < found.size();
  const char* const without = any        ? " was written without this: "
                              : is_there ? " was left as it is: "
                                         : " was not made: ";
  for (const std::string& bad : left_out) complaints.begin() << plain(options.write + without + bad) << "\n";
  if (!any || !replace_file(options.write, *text, complaints)) return false;
  for (const std::string& comment : comments) complaints.begin() << plain(options.write + comment) << "\n";
  return left_out.empty() && comments.empty();
}

}  // namespace corelane::tool
