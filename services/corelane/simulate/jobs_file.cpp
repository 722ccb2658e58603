#include "services/corelane/simulate/jobs_file.h"

#include <cstdint>

#include "orb/eval/experiment/csv.h"

namespace corelane::tool {
namespace {

std::string number_of(Time time) { return std::to_string(time.time_since_epoch().count()); }

}  // namespace

JobsFile::JobsFile(const std::string& path, const std::vector<eval::Task>& tasks) : file_(path), tasks_(tasks) {
  file_ << eval::csv_line(
      {"task", "job", "release_ns", "arrival_ns", "start_ns", "finish_ns", "deadline_ns", "core", "demand_ns", "late"});
}

void JobsFile::finished(const sim::FinishedJob& job) {
  file_ << eval::csv_line({tasks_[job.task].label, std::to_string(job.number), number_of(job.release),
                           number_of(job.arrival), number_of(job.start), number_of(job.finish), number_of(job.deadline),
                           std::to_string(job.core.value), std::to_string(job.demand.count()),
                           job.finish > job.deadline ? "1" : "0"});
}

bool JobsFile::close() {
  file_.close();
  return !file_.fail();
}

}  // namespace corelane::tool
