#include "services/corelane/trace/trace.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <system_error>

#include "orb/base/text/counted.h"
#include "orb/sched/trace/trace_file.h"
#include "orb/sim/replay.h"
#include "services/corelane/output/json_text.h"
#include "services/corelane/output/text.h"
#include "services/corelane/trace/perfetto.h"
#include "services/corelane/trace/record_text.h"
#include "services/corelane/trace/trace_source.h"
#include "services/corelane/trace/trace_summary.h"

namespace corelane::tool {
namespace {

using sched::TraceFile;
using Json = nlohmann::ordered_json;

void print_summary(const TraceFile& trace, std::ostream& out) {
  const TraceSummary summary = summary_of(trace);
  out << plain(trace.program) << ", process " << trace.pid << ", written because of: " << name_of(trace.reason) << "\n";
  if (summary.first != never)
    out << std::chrono::duration_cast<std::chrono::milliseconds>(summary.last - summary.first).count()
        << " ms of scheduling" << (summary.lost > 0 ? ", as far as it was kept: a larger recorder.size keeps more" : "")
        << "\n";
  if (!trace.options.test->promises) out << "dispatch.admission was off: nothing was promised\n";
  out << "tasks admitted " << summary.admitted << ", jobs started " << summary.started << ", finished "
      << summary.finished << ", deadlines missed " << summary.misses << ", overruns " << summary.overruns
      << ", oversleeps " << summary.oversleeps << ", blocks " << summary.blocks << ", refusals " << summary.refusals
      << "\n";
  for (const auto& [task, trouble] : summary.troubles)
    out << "  task " << task.value << (trouble.name.empty() ? "" : " ") << plain(trouble.name) << ": "
        << text_of(trouble) << "\n";
  if (summary.overruns > 0)
    out << "  on a virtual machine the time that the host took from a job counts as the job's own\n";
  for (const sched::Track& track : trace.tracks) {
    out << "  " << sim::name_of(track) << ": " << counted(records_of(track).size(), "record");
    if (track.lost > 0) out << ", " << counted(track.lost, "older slot was", "older slots were") << " overwritten";
    out << "\n";
  }
}

void print_records(const TraceFile& trace, std::ostream& out) {
  for (const sched::Track& track : trace.tracks)
    for (const sched::TraceView& record : records_of(track))
      out << record.at.time_since_epoch().count() << " " << sim::name_of(track) << ": "
          << plain(text_for_people(record)) << "\n";
}

Json summary_json(const TraceFile& trace) {
  const TraceSummary summary = summary_of(trace);
  Json json{{"program", trace.program},         {"pid", trace.pid},
            {"reason", name_of(trace.reason)},  {"admitted", summary.admitted},
            {"jobs_started", summary.started},  {"jobs_finished", summary.finished},
            {"misses", summary.misses},         {"overruns", summary.overruns},
            {"oversleeps", summary.oversleeps}, {"blocks", summary.blocks},
            {"refusals", summary.refusals},     {"troubles", Json::array()},
            {"tracks", Json::array()}};
  json["promises"] = trace.options.test->promises;
  for (const auto& [task, trouble] : summary.troubles)
    json["troubles"].push_back({{"task", task.value},
                                {"label", trouble.name},
                                {"misses", trouble.misses},
                                {"own_misses", trouble.own_misses},
                                {"overruns", trouble.overruns},
                                {"oversleeps", trouble.oversleeps},
                                {"blocks", trouble.blocks},
                                {"jobs_refused", trouble.refused}});
  if (summary.first != never) json["scheduling_ns"] = (summary.last - summary.first).count();
  for (const sched::Track& track : trace.tracks)
    json["tracks"].push_back(
        {{"name", sim::name_of(track)}, {"records", records_of(track).size()}, {"slots_lost", track.lost}});
  return json;
}

Json records_json(const TraceFile& trace) {
  auto json = Json::array();
  for (const sched::Track& track : trace.tracks)
    for (const sched::TraceView& record : records_of(track))
      json.push_back({{"at_ns", record.at.time_since_epoch().count()},
                      {"track", sim::name_of(track)},
                      {"record", text_of(record)}});
  return json;
}

Json replay_json(const sim::ReplayReport& report) {
  Json json{{"same", report.same()}, {"tracks", Json::array()}};
  for (const sim::ReplayedTrack& track : report.tracks)
    json["tracks"].push_back({{"name", track.name},
                              {"replayed", track.replayed},
                              {"inputs", track.inputs},
                              {"equal_commands", track.commands},
                              {"slots_lost", track.lost}});
  if (!report.difference) return json;
  json["difference"] = {{"track", report.difference->track},
                        {"record", report.difference->record},
                        {"at_ns", report.difference->at.time_since_epoch().count()},
                        {"recorded", report.difference->recorded},
                        {"replayed", report.difference->replayed}};
  return json;
}

void print_replay(const sim::ReplayReport& report, std::ostream& out) {
  for (const sim::ReplayedTrack& track : report.tracks)
    if (track.replayed)
      out << "replayed " << track.name << ": " << counted(track.inputs, "input") << ", "
          << counted(track.commands, "equal command") << "\n";
    else if (track.lost > 0)
      out << "not replayed " << track.name << ": its beginning was overwritten; a larger recorder.size keeps it\n";
  if (report.difference) return;
  const auto replayed = std::ranges::count_if(report.tracks, &sim::ReplayedTrack::replayed);
  const bool all = replayed == std::ranges::ssize(report.tracks);
  out << (!report.same() ? "nothing could be replayed\n"
          : all          ? "nothing differs\n"
                         : "nothing differs in what was replayed\n");
}

void complain_of_difference(const sim::ReplayReport& report, const Complaints& complaints) {
  if (!report.difference) return;
  const sim::ReplayDifference& difference = *report.difference;
  complaints.begin() << "the replay differs at record " << difference.record << " of " << difference.track << ", time "
                     << difference.at.time_since_epoch().count() << "\n  recorded: " << difference.recorded
                     << "\n  replayed: " << difference.replayed << "\n";
}

bool write_perfetto(const TraceFile& trace, const std::string& from, const std::string& path,
                    const Complaints& complaints) {
  std::error_code not_there;
  if (std::filesystem::equivalent(from, path, not_there)) {
    complaints.begin() << plain(path) << " is the trace itself, and stays as it is; name another file\n";
    return false;
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const std::string bytes = perfetto_of(trace);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) complaints.begin() << plain(path) << " cannot be written: " << std::strerror(errno) << "\n";
  return static_cast<bool>(file);
}

// Returns nothing after a complaint.
std::optional<sim::ReplayReport> replay_of(const TraceFile& trace, const Complaints& complaints) {
  auto report = sim::replay(trace);
  if (report) return std::move(*report);
  complaints.begin() << "it cannot be replayed: " << report.error().text << "\n";
  return std::nullopt;
}

void print_json(const TraceFile& trace, const std::string& path, const TraceOptions& options,
                const std::optional<sim::ReplayReport>& replayed, std::ostream& out) {
  Json json{{"file", path}};
  json.update(summary_json(trace));
  if (options.text) json["records"] = records_json(trace);
  if (replayed) json["replay"] = replay_json(*replayed);
  out << json_lines(json);
}

}  // namespace

int trace(const TraceOptions& options, std::ostream& out, std::ostream& err) {
  const Complaints complaints{.command = "trace", .out = err};
  std::string path = options.file;
  const bool table = options.format == Format::table;
  if (options.request != 0) {
    const auto written = request_trace(options.directory, options.request, options.wait, complaints);
    if (!written) return 1;
    if (table) out << *written << "\n";
    path = *written;
  }
  const auto trace = load_trace(path, complaints);
  if (!trace) return 1;
  if (table) options.text ? print_records(*trace, out) : print_summary(*trace, out);
  const auto replayed = options.replay ? replay_of(*trace, complaints) : std::nullopt;
  if (replayed && table) print_replay(*replayed, out);
  if (replayed) complain_of_difference(*replayed, complaints);
  if (!table) print_json(*trace, path, options, replayed, out);
  const bool same = !options.replay || (replayed && replayed->same());
  if (options.output.empty()) return same ? 0 : 1;
  if (!write_perfetto(*trace, path, options.output, complaints)) return 1;
  if (table) out << "wrote " << plain(options.output) << "; open it in https://ui.perfetto.dev\n";
  return same ? 0 : 1;
}

}  // namespace corelane::tool
