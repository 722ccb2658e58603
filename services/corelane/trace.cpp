#include "services/corelane/trace.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <ostream>
#include <thread>
#include <utility>
#include <vector>

#include "orb/dispatch/recorder_options.h"
#include "orb/os/clock.h"
#include "orb/os/fd.h"
#include "orb/sched/trace_file.h"
#include "orb/sim/replay.h"
#include "services/corelane/perfetto.h"

namespace corelane::tool {
namespace {

using sched::TraceFile;
using sched::TraceKind;

std::string why() { return std::strerror(errno); }

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::optional<TraceFile> load(const std::string& path, std::ostream& err) {
  const auto text = read_file(path);
  if (!text) {
    err << "corelane trace: " << path << ": " << why() << "\n";
    return std::nullopt;
  }
  auto trace = sched::parse_trace(std::as_bytes(std::span(*text)));
  if (!trace) {
    err << "corelane trace: " << path << ": " << trace.error().text << "\n";
    return std::nullopt;
  }
  return std::move(*trace);
}

struct Summary {
  std::map<TraceKind, std::size_t> kinds;
  Time first = never;
  Time last{};
};

Summary summary_of(const TraceFile& trace) {
  Summary summary;
  for (const sched::Track& track : trace.tracks)
    for (const sched::TraceView& record : records_of(track)) {
      ++summary.kinds[record.kind];
      if (record.at == Time{}) continue;  // told before the first fact
      summary.first = std::min(summary.first, record.at);
      summary.last = std::max(summary.last, record.at);
    }
  return summary;
}

void print_summary(const TraceFile& trace, std::ostream& out) {
  const Summary summary = summary_of(trace);
  const auto count = [&](TraceKind kind) {
    const auto found = summary.kinds.find(kind);
    return found == summary.kinds.end() ? 0 : found->second;
  };
  out << trace.program << ", process " << trace.pid << ", written because of: " << name_of(trace.reason) << "\n";
  if (summary.first != never)
    out << std::chrono::duration_cast<std::chrono::milliseconds>(summary.last - summary.first).count()
        << " ms of scheduling\n";
  out << "tasks admitted " << count(TraceKind::admit) << ", jobs started " << count(TraceKind::started) << ", finished "
      << count(TraceKind::finished) << ", deadlines missed " << count(TraceKind::missed) << ", overruns "
      << count(TraceKind::overran) << ", refusals " << count(TraceKind::refuse) << "\n";
  for (const sched::Track& track : trace.tracks) {
    out << "  " << sim::name_of(track) << ": " << records_of(track).size() << " records";
    if (track.lost > 0) out << ", the older " << track.lost << " slots were overwritten";
    out << "\n";
  }
}

void print_records(const TraceFile& trace, std::ostream& out) {
  for (const sched::Track& track : trace.tracks)
    for (const sched::TraceView& record : records_of(track))
      out << record.at.time_since_epoch().count() << " " << sim::name_of(track) << ": " << text_of(record) << "\n";
}

bool print_replay(const TraceFile& trace, std::ostream& out, std::ostream& err) {
  const auto report = sim::replay(trace);
  if (!report) {
    err << "corelane trace: it cannot be replayed: " << report.error().text << "\n";
    return false;
  }
  for (const sim::ReplayedTrack& track : report->tracks)
    if (track.replayed)
      out << "replayed " << track.name << ": " << track.inputs << " inputs, " << track.commands << " equal commands\n";
    else if (track.lost > 0)
      out << "not replayed " << track.name << ": its beginning was overwritten; a larger recorder.size keeps it\n";
  if (!report->difference) return report->same();
  const sim::ReplayDifference& difference = *report->difference;
  err << "corelane trace: the replay differs at record " << difference.record << " of " << difference.track << ", time "
      << difference.at.time_since_epoch().count() << "\n  recorded: " << difference.recorded
      << "\n  replayed: " << difference.replayed << "\n";
  return false;
}

bool write_perfetto(const TraceFile& trace, const std::string& path, std::ostream& out, std::ostream& err) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const std::string bytes = perfetto_of(trace);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) {
    err << "corelane trace: " << path << " cannot be written: " << why() << "\n";
    return false;
  }
  out << "wrote " << path << "; open it in https://ui.perfetto.dev\n";
  return true;
}

// Asks and waits; the path of the trace, or nothing when `err` has the reason.
std::optional<std::string> request(const TraceOptions& options, std::ostream& err) {
  const std::string question = dispatch::dump_request(options.directory, options.request);
  const std::string answer = dispatch::dump_answer(options.directory, options.request);
  if (::kill(options.request, 0) != 0 && errno == ESRCH) {
    err << "corelane trace: there is no process " << options.request << "\n";
    return std::nullopt;
  }
  ::unlink(answer.c_str());  // of somebody who did not wait for it
  if (!os::Fd(::open(question.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600))) {
    err << "corelane trace: " << question << ": " << why() << "; is this the server's runtime.directory?\n";
    return std::nullopt;
  }
  const Time patience = os::now() + options.wait;
  while (::access(answer.c_str(), F_OK) != 0 && os::now() < patience)  // bound: the wait
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  const auto path = read_file(answer);
  ::unlink(answer.c_str());
  if (path && !path->empty()) return path;
  ::unlink(question.c_str());
  err << "corelane trace: process " << options.request
      << (path ? " could not write a trace; its log says why\n"
               : " did not answer; is it a Corelane server with this runtime.directory?\n");
  return std::nullopt;
}

}  // namespace

int trace(const TraceOptions& options, std::ostream& out, std::ostream& err) {
  std::string path = options.file;
  if (options.request != 0) {
    const auto written = request(options, err);
    if (!written) return 1;
    out << *written << "\n";
    path = *written;
  }
  const auto trace = load(path, err);
  if (!trace) return 1;
  if (options.text)
    print_records(*trace, out);
  else
    print_summary(*trace, out);
  bool done = !options.replay || print_replay(*trace, out, err);
  if (!options.output.empty()) done = write_perfetto(*trace, options.output, out, err) && done;
  return done ? 0 : 1;
}

}  // namespace corelane::tool
