#include "services/nameserver/change_log.h"

#include <algorithm>

#include "orb/giop/name_text.h"

namespace corelane::nameserver {
namespace {

constexpr std::size_t entries_at_once = 1000;

// At the slashes that no backslash stands before.
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

// Whether `text` is `glob`, in which * stands for anything. The last star is tried again, one character on, until the
// rest fits: never more than the product of both lengths.
bool fits(std::string_view glob, std::string_view text) {
  std::size_t g = 0, t = 0, star = glob.npos, behind = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      behind = t;
    } else if (g < glob.size() && glob[g] == text[t]) {
      ++g;
      ++t;
    } else if (star != glob.npos) {
      g = star + 1;
      t = ++behind;
    } else {
      return false;
    }
  }
  return glob.find_first_not_of('*', g) == glob.npos;
}

}  // namespace

NamePattern::NamePattern(std::string_view text) : parts_(split(text)) {
  const auto is_rest = [](const std::string& part) { return part == "**"; };
  const auto twice = [&](const std::string& a, const std::string& b) { return is_rest(a) && is_rest(b); };
  parts_.erase(std::unique(parts_.begin(), parts_.end(), twice), parts_.end());
}

bool NamePattern::matches(const Name& path) const {
  std::vector<std::string> texts;
  for (const NameComponent& component : path) texts.push_back(giop::to_string(component));
  // Which parts of the pattern may come next, after each component: what an automaton does, so that ** costs no more.
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

// Bound: each context is looked at once.
bool ContextPaths::find_way(ContextId context, std::set<ContextId>& seen, Name& path) const {
  if (context == root_context) return true;
  const auto ways = ways_.find(context);
  if (ways == ways_.end() || !seen.insert(context).second) return false;
  for (const Way& way : ways->second)
    if (find_way(way.first, seen, path)) return path.push_back(way.second), true;
  return false;
}

std::optional<Name> ContextPaths::path_of(ContextId context) const {
  std::set<ContextId> seen;
  Name path;
  if (!find_way(context, seen, path)) return std::nullopt;
  return path;
}

void ChangeLog::learn(Store& store) {
  auto contexts = store.contexts().value_or(std::vector<ContextId>{});
  contexts.push_back(root_context);
  const std::lock_guard lock(mutex_);
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
  const std::lock_guard lock(mutex_);
  paths_.note(change);
  if (change.kind == Change::Kind::made || change.kind == Change::Kind::destroyed) return;
  auto path = paths_.path_of(change.context);
  if (!path) return;
  path->push_back(change.name);
  changes_.push_back({++last_, change.kind, std::move(*path), change.binding.type, !change.binding.owner.empty()});
  if (changes_.size() > capacity_) changes_.pop_front();
}

ChangeLog::Reading ChangeLog::read(const NamePattern& pattern, std::uint64_t since, std::size_t most) const {
  const std::lock_guard lock(mutex_);
  if (since == latest) return {{}, last_, false};
  const std::uint64_t known_from = last_ - changes_.size();  // all after this number are here
  // A number from the future is one of an earlier run.
  Reading reading{{}, last_, since > last_ || since < known_from};
  for (const NamedChange& change : changes_) {
    if (change.number <= since && !reading.lost) continue;
    if (!pattern.matches(change.path)) continue;
    if (reading.changes.size() == most) {
      reading.until = reading.changes.back().number;
      break;
    }
    reading.changes.push_back(change);
  }
  return reading;
}

}  // namespace corelane::nameserver
