// RecorderOptions are the settings of the recorder; see docs/recorder.md.
// Threads: values; read at start.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "orb/base/time.h"

namespace corelane::dispatch {

struct RecorderOptions {
  std::size_t size = 8192;    // recorder.size: slots of 64 bytes in each ring, rounded up to a power of two; 0: off
  std::string directory{};    // recorder.directory: where files go; it is made when the first one is written
  unsigned dump_on_miss = 0;  // recorder.dump_on_miss: at most so many files ...
  Duration between = std::chrono::seconds{10};  // ... and the next one so long after the one before, at the earliest
  bool dump_at_exit = false;                    // recorder.dump_at_exit
  std::string runtime_directory{};              // where dumps are requested, and the counter page is; empty: nowhere
};

// dump_request() returns the path of a file. A program that makes this file requests a dump of process `pid`, whose
// runtime directory is `directory`. dump_answer() returns the path of the file with the answer. It contains the path of
// the dump, or nothing if the dump failed. The program that requested the dump removes the answer.
inline std::string dump_request(const std::string& directory, int pid) {
  return directory + "/dump-" + std::to_string(pid);
}
// A program locks this file until it has its answer, because there is only one file for answers.
inline std::string dump_turn(const std::string& directory, int pid) { return dump_request(directory, pid) + ".lock"; }
inline std::string dump_answer(const std::string& directory, int pid) { return dump_request(directory, pid) + ".done"; }

}  // namespace corelane::dispatch
