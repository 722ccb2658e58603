// The two programs that corelane-bench-concurrency starts: a server, and its clients.
#pragma once

#include <string>
#include <vector>

namespace concurrency {

// Words: KIND SECTION OUTSIDE [-ORB options]. A servant of the kind `mutex` holds a std::mutex for SECTION steps of
// work, then works for OUTSIDE steps. `spinlock`: the same with a lock whose waiters spin. `compute`: all steps without
// a lock. A step takes about a nanosecond. Prints its reference. Then it answers each line of standard input with its
// present limit (0: none). Returns the exit status.
int serve(const std::vector<std::string>& words);

// Words: REFERENCE CLIENTS SECONDS. So many threads make one call after the other. Prints the calls that have ended so
// far, `samples_per_second` times a second. Returns the exit status.
int call(const std::vector<std::string>& words);

constexpr int samples_per_second = 10;

}  // namespace concurrency
