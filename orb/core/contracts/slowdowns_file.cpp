#include "orb/core/contracts/slowdowns_file.h"

#include <utility>

#include "orb/core/text/spelling.h"
#include "orb/core/text/toml_text.h"
#include "orb/os/lock.h"

namespace corelane::core {

Expected<std::shared_ptr<const SlowdownsFile>, SettingsFault> SlowdownsFile::load(const std::string& path) {
  const auto text = read_toml("file of slowdowns", path);
  if (!text) return text.error();
  return parse(*text, path);
}

Expected<std::shared_ptr<const SlowdownsFile>, SettingsFault> SlowdownsFile::parse(std::string_view text,
                                                                                   const std::string& path) {
  const auto pairs = parse_slowdowns(text, path);
  if (!pairs) return pairs.error();
  if (pairs->empty())
    return SettingsFault{path +
                         ": there is no table [[slowdown]] in it; name a file that corelane measure --slowdowns " +
                         "has written, or leave dispatch.slowdowns out"};
  return std::make_shared<const SlowdownsFile>(path, *pairs);
}

SlowdownsFile::SlowdownsFile(std::string path, const std::vector<PairSlowdown>& pairs)
    : path_(std::move(path)), worst_(worst_of(pairs)) {
  for (const PairSlowdown& pair : pairs) operations_.emplace(pair.operation, pair.at);
}

void SlowdownsFile::note(const Skeleton& skeleton) const {
  const os::LockGuard lock(mutex_);
  for (const Upcall& upcall : skeleton.upcalls) active_.insert(label_of(skeleton, upcall));
}

std::vector<std::string> SlowdownsFile::unused(ContractsFile::Look look) const {
  const bool running = look == ContractsFile::Look::running;
  const os::LockGuard lock(mutex_);
  const std::vector<std::string> active(active_.begin(), active_.end());
  Labels& told = running ? told_running_ : told_ended_;
  std::vector<std::string> lines;
  for (const auto& [operation, place] : operations_) {
    if (active_.contains(operation) || !told.insert(operation).second) continue;
    const std::string best = meant(operation, active, "is");
    lines.push_back(text_of(path_, place) + "no object with the operation " + operation + " was activated" +
                    (running ? " so far" : "") + ": its slowdowns are charged to no task" +
                    (best.empty() ? std::string() : best + " meant?"));
  }
  return lines;
}

}  // namespace corelane::core
