#include "services/corelane/simulate/jobs_file.h"

#include <cstdint>
#include <filesystem>
#include <system_error>

#include "orb/eval/experiment/csv.h"

namespace corelane::tool {
namespace {

namespace fs = std::filesystem;

std::string resolved(const std::string& path) {
  std::error_code failure;
  const fs::path target = fs::canonical(path, failure);
  return failure ? path : target.string();
}

std::string temporary_of(const std::string& path) {
  std::error_code failure;
  const bool is_special = fs::exists(path, failure) && !fs::is_regular_file(path, failure);
  return is_special ? path : path + ".new";
}

bool are_same(const std::string& one, const std::string& other) {
  std::error_code failure;
  return fs::equivalent(one, other, failure) && !failure;
}

std::string number_of(Time time) { return std::to_string(time.time_since_epoch().count()); }

}  // namespace

JobsFile::JobsFile(const std::string& path, const std::vector<eval::Task>& tasks)
    : path_(resolved(path)), written_(temporary_of(path_)), file_(written_), tasks_(tasks) {
  file_ << eval::csv_line(
      {"task", "job", "release_ns", "arrival_ns", "start_ns", "finish_ns", "deadline_ns", "core", "demand_ns", "late"});
}

JobsFile::~JobsFile() {
  std::error_code ignored;
  if (is_open() && written_ != path_) fs::remove(written_, ignored);
}

bool JobsFile::overwrites(const std::string& path, const std::string& other) {
  const std::string target = resolved(path);
  return are_same(target, other) || are_same(temporary_of(target), other);
}

void JobsFile::finished(const sim::FinishedJob& job) {
  file_ << eval::csv_line({tasks_[job.task].label, std::to_string(job.number), number_of(job.release),
                           number_of(job.arrival), number_of(job.start), number_of(job.finish), number_of(job.deadline),
                           std::to_string(job.core.value), std::to_string(job.demand.count()),
                           job.finish > job.deadline ? "1" : "0"});
}

bool JobsFile::close() {
  file_.flush();
  if (file_.fail()) return false;
  std::error_code failure;
  if (written_ != path_) fs::rename(written_, path_, failure);
  if (failure) return false;
  file_.close();
  return !file_.fail();
}

}  // namespace corelane::tool
