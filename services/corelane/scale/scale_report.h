// `corelane scale report` names the functions that keep a program from scaling, from profiles of a run on one core and
// a run on many. The options are defined in scale_command.cpp.
// Threads: none of its own.
#pragma once

#include <iosfwd>
#include <string>

#include "services/corelane/scale/curve_format.h"

namespace corelane::tool {

struct ScaleReportOptions {
  // File with the profile of the run on one core: CSV with the columns time and function, or a trace of the recorder.
  // A trace gives the stages of the tasks' jobs, with the mean time of a job in nanoseconds.
  std::string one{};
  std::string many{};   // the same on many cores
  double work_one = 1;  // units of work of each run, above 0
  double work_many = 1;
  int most = 20;  // functions to show; 0: all
  CurveFormat format = CurveFormat::table;
};

// Writes functions to `out`, those that lose most first, and complaints to `err`. Returns 0, or 2 if the input is
// wrong.
int scale_report(const ScaleReportOptions& options, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
