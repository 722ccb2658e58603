#include "idl/tool/output.h"

#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

namespace corelane::idl::tool {
namespace {

namespace fs = std::filesystem;

// Removes the temporary files that were not renamed.
struct Pending {
  std::vector<fs::path> paths;
  ~Pending() {
    std::error_code ignored;
    for (const fs::path& path : paths) fs::remove(path, ignored);
  }
};

std::string make_escaped(const std::string& path) {
  std::string result;
  for (const char c : path) {
    if (c == ' ' || c == '#' || c == '\\') result += '\\';
    if (c == '$') result += '$';
    result += c;
  }
  return result;
}

}  // namespace

std::optional<std::string> write_all(const std::vector<TargetFile>& files) {
  Pending pending;
  for (const TargetFile& file : files) {
    std::error_code fault;
    if (fs::exists(file.path, fault) && !fs::is_regular_file(file.path, fault))
      return file.path.string() + " is there and no regular file: it would be replaced";
    fault.clear();
    if (file.path.has_parent_path()) fs::create_directories(file.path.parent_path(), fault);
    if (fault) return "cannot create the folder of " + file.path.string() + ": " + fault.message();
    fs::path temporary = file.path;
    temporary += ".tmp" + std::to_string(getpid());
    pending.paths.push_back(temporary);
    std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
    stream.write(file.text.data(), static_cast<std::streamsize>(file.text.size()));
    stream.close();
    if (!stream) return "cannot write " + file.path.string() + ": " + std::generic_category().message(errno);
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::error_code fault;
    fs::rename(pending.paths[i], files[i].path, fault);
    if (fault) return "cannot write " + files[i].path.string() + ": " + fault.message();
  }
  pending.paths.clear();
  return std::nullopt;
}

std::string depfile_text(const std::vector<fs::path>& targets, const std::vector<std::string>& depends_on) {
  std::string text;
  for (const fs::path& target : targets) {
    if (!text.empty()) text += ' ';
    text += make_escaped(target.generic_string());
  }
  text += ':';
  for (const std::string& dependency : depends_on) text.append(" \\\n  ").append(make_escaped(dependency));
  text += '\n';
  return text;
}

}  // namespace corelane::idl::tool
