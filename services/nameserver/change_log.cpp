#include "services/nameserver/change_log.h"

#include <string.h>

#include <algorithm>
#include <functional>

#include "orb/giop/name_text.h"
#include "orb/os/lock.h"

namespace corelane::nameserver {
namespace {

constexpr std::size_t entries_at_once = 1000;

std::size_t bytes_of(const NamedChange& change) {
  std::size_t bytes = change.path.size() * sizeof(NameComponent);
  for (const NameComponent& component : change.path) bytes += component.id.size() + component.kind.size();
  return bytes;
}

// Splits at the slashes that have no backslash before them.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts{""};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      parts.emplace_back();
      continue;
    }
    if (text[i] == '\\' && i + 1 < text.size()) parts.back() += text[i++];
    parts.back() += text[i];
  }
  return parts;
}

// Takes linear time, unlike string_view::find.
std::size_t place_of(std::string_view piece, std::string_view text) {
  const void* at = ::memmem(text.data(), text.size(), piece.data(), piece.size());
  return at == nullptr ? text.npos : static_cast<std::size_t>(static_cast<const char*>(at) - text.data());
}

// Returns whether `text` matches `glob`, in which * matches any text. Each piece between stars is matched at its first
// place. This leaves the longest possible rest for the other pieces, so no backtracking is needed.
bool fits(std::string_view glob, std::string_view text) {
  const std::size_t first = glob.find('*');
  if (first == glob.npos) return glob == text;
  const std::size_t last = glob.rfind('*');
  if (!text.starts_with(glob.substr(0, first))) return false;
  text.remove_prefix(first);
  for (std::size_t at = first; at < last;) {
    const std::size_t end = glob.find('*', at + 1);
    const std::string_view piece = glob.substr(at + 1, end - at - 1);
    const std::size_t place = place_of(piece, text);
    if (place == text.npos) return false;
    text.remove_prefix(place + piece.size());
    at = end;
  }
  return text.ends_with(glob.substr(last + 1));
}

}  // namespace

NamePattern::NamePattern(std::string_view text) : parts_(split(text)) {
  const auto is_rest = [](const std::string& part) { return part == "**"; };
  const auto twice = [&](const std::string& a, const std::string& b) { return is_rest(a) && is_rest(b); };
  parts_.erase(std::unique(parts_.begin(), parts_.end(), twice), parts_.end());
  fewest_ = static_cast<std::size_t>(std::count_if(parts_.begin(), parts_.end(), std::not_fn(is_rest)));
}

bool NamePattern::matches(const Name& path) const {
  if (path.size() < fewest_) return false;
  std::vector<std::string> texts;
  for (const NameComponent& component : path) texts.push_back(giop::to_string(component));
  // Holds which parts of the pattern may match next, after each component, as an automaton does. So ** needs no
  // backtracking.
  std::vector<bool> next(parts_.size() + 1, false);
  const auto open = [&](std::vector<bool>& states) {
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (states[i] && parts_[i] == "**") states[i + 1] = true;
  };
  next[0] = true;
  open(next);
  for (const std::string& text : texts) {
    std::vector<bool> then(parts_.size() + 1, false);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (!next[i]) continue;
      if (parts_[i] == "**")
        then[i] = true;
      else if (fits(parts_[i], text))
        then[i + 1] = true;
    }
    open(then);
    next.swap(then);
  }
  return next.back();
}

void ContextPaths::forget(const Way& way) {
  const auto known = bound_.find(way);
  if (known == bound_.end()) return;
  if (const auto ways = ways_.find(known->second); ways != ways_.end()) {
    std::erase(ways->second, way);
    if (ways->second.empty()) ways_.erase(ways);
  }
  bound_.erase(known);
}

void ContextPaths::note(const Change& change) {
  if (change.kind == Change::Kind::made || change.kind == Change::Kind::destroyed) return;
  const Way way{change.context, change.name};
  forget(way);
  const bool leads_on = change.binding.type == BindingType::context && change.binding.reference.empty();
  if (change.kind == Change::Kind::unbound || !leads_on) return;
  bound_.emplace(way, change.binding.context);
  ways_[change.binding.context].push_back(way);
}

std::optional<Name> ContextPaths::path_of(ContextId context, std::size_t longest) const {
  struct Step {
    const NameComponent* name;
    ContextId below;
  };
  // Searches upwards from the context, breadth first. Visits each context once.
  std::map<ContextId, Step> steps{{context, {nullptr, context}}};
  std::vector<ContextId> level{context};
  for (std::size_t length = 0; length < longest && !level.empty() && !steps.contains(root_context); ++length) {
    std::vector<ContextId> above;
    for (const ContextId below : level) {
      const auto ways = ways_.find(below);
      if (ways == ways_.end()) continue;
      for (const auto& [from, name] : ways->second)
        if (steps.emplace(from, Step{&name, below}).second) above.push_back(from);
    }
    level.swap(above);
  }
  if (!steps.contains(root_context)) return std::nullopt;
  Name path;
  for (ContextId at = root_context; at != context; at = steps.at(at).below) path.push_back(*steps.at(at).name);
  return path;
}

void ChangeLog::learn(Store& store) {
  auto contexts = store.contexts().value_or(std::vector<ContextId>{});
  contexts.push_back(root_context);
  const os::LockGuard lock(mutex_);
  for (const ContextId context : contexts) {
    NameComponent after;
    const NameComponent* from = nullptr;
    for (;;) {  // bound: what the store holds
      const auto entries = store.list(context, from, entries_at_once);
      if (!entries) break;
      for (const Entry& entry : *entries) paths_.note({Change::Kind::bound, context, entry.name, entry.binding});
      if (entries->size() < entries_at_once) break;
      after = entries->back().name;
      from = &after;
    }
  }
}

void ChangeLog::record(const Change& change) {
  const os::LockGuard lock(mutex_);
  paths_.note(change);
  if (change.kind == Change::Kind::made || change.kind == Change::Kind::destroyed) return;
  auto path = paths_.path_of(change.context, depth_ - 1);
  if (!path) return;
  path->push_back(change.name);
  changes_.push_back(std::make_shared<const NamedChange>(
      NamedChange{++last_, change.kind, std::move(*path), change.binding.type, !change.binding.owner.empty()}));
  bytes_ += bytes_of(*changes_.back());
  while (changes_.size() > capacity_ || (bytes_ > most_bytes && changes_.size() > 1)) {
    bytes_ -= bytes_of(*changes_.front());
    changes_.pop_front();
  }
}

ChangeLog::Reading ChangeLog::begin(std::uint64_t since, Kept& kept) const {
  const os::LockGuard lock(mutex_);
  if (since == latest) return {{}, last_, false};
  const std::uint64_t known_from = last_ - changes_.size();  // the log holds all changes after this number
  // A number above the last one is from an earlier run.
  const bool lost = since > last_ || since < known_from;
  const std::size_t skipped = lost ? 0 : since - known_from;
  kept.assign(changes_.begin() + static_cast<std::ptrdiff_t>(skipped), changes_.end());
  return {{}, last_, lost};
}

ChangeLog::Reading ChangeLog::read(const NamePattern& pattern, std::uint64_t since, std::size_t most) const {
  Kept kept;
  Reading reading = begin(since, kept);
  std::size_t bytes = 0;
  for (const auto& change : kept) {
    if (!pattern.matches(change->path)) continue;
    const bool is_enough = bytes >= most_bytes_read && !reading.changes.empty();
    if (reading.changes.size() == most || is_enough) {
      reading.until = reading.changes.empty() ? since : reading.changes.back().number;
      break;
    }
    bytes += bytes_of(*change);
    reading.changes.push_back(*change);
  }
  return reading;
}

}  // namespace corelane::nameserver
