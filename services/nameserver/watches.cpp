#include "services/nameserver/watches.h"

#include <algorithm>
#include <random>
#include <utility>

#include "orb/base/text/counted.h"
#include "orb/base/thread_safety.h"
#include "orb/core/call_deadline.h"
#include "orb/core/exception.h"
#include "orb/core/object.h"
#include "orb/giop/name_text.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/thread.h"

namespace corelane::nameserver {
namespace {

constexpr std::size_t most_at_once = 256;

WatchId random_watch() {
  static thread_local std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

Corelane::Naming::ChangeKind cos_kind_of(Change::Kind kind) {
  if (kind == Change::Kind::bound) return Corelane::Naming::ChangeKind::bound;
  return kind == Change::Kind::rebound ? Corelane::Naming::ChangeKind::rebound : Corelane::Naming::ChangeKind::unbound;
}

}  // namespace

Corelane::Naming::Change cos_change_of(const NamedChange& change) {
  using Corelane::Naming::Lifetime;
  return Corelane::Naming::Change(
      change.number, cos_kind_of(change.kind), giop::to_string(change.path),
      change.type == BindingType::object ? CosNaming::BindingType::nobject : CosNaming::BindingType::ncontext,
      change.ephemeral ? Lifetime::ephemeral : Lifetime::persistent);
}

Watches::Watches(const ChangeLog& log, const WatchLimits& limits) : log_(log), limits_(limits) {
  auto thread = os::plain_thread<std::thread>([this] { run(); });
  if (!thread) core::raise(thread.error());
  thread_ = std::move(*thread);
}

Expected<WatchId, std::string> Watches::add(const std::string& pattern, Listener listener, const Client& client) {
  // Locked before log_.read(): a change after `now` wakes the thread only when the watch is in the map.
  const os::LockGuard lock(mutex_);
  const auto now = log_.read(NamePattern("**"), ChangeLog::latest, 0).until;
  auto watch = std::make_shared<Watch>(Watch{client, NamePattern(pattern), std::move(listener), now});
  if (watches_.size() >= limits_.watches)
    return std::string("there are as many listeners as naming.watches allows; ask with changes() now and then");
  const auto held = static_cast<std::size_t>(std::count_if(
      watches_.begin(), watches_.end(), [&](const auto& item) { return item.second->client.name == client.name; }));
  if (!client.name.empty() && held >= limits_.of_client)
    return std::string(client.name + " has " + counted(held, "listener") +
                       ", as many as one client may have; unwatch some, or see naming.client_watches");
  const WatchId id = random_watch();
  watches_.emplace(id, std::move(watch));
  return id;
}

void Watches::remove(WatchId id) {
  const os::LockGuard lock(mutex_);
  watches_.erase(id);
}

std::size_t Watches::size() const {
  const os::LockGuard lock(mutex_);
  return watches_.size();
}

void Watches::ring() {
  {
    const os::LockGuard lock(mutex_);
    if (watches_.empty()) return;
    news_ = true;
  }
  rung_.notify_one();
}

void Watches::look_at(std::int32_t process) {
  {
    const os::LockGuard lock(mutex_);
    for (const auto& [id, watch] : watches_)
      if (watch->client.process == process) asks_ = watch->is_asked = true;
    if (!asks_) return;
  }
  rung_.notify_one();
}

void Watches::stop() {
  {
    const os::LockGuard lock(mutex_);
    stopped_ = true;
  }
  rung_.notify_one();
  if (thread_.joinable()) thread_.join();
}

// Returns all watches, the prompt ones first.
std::vector<std::pair<WatchId, std::shared_ptr<Watches::Watch>>> Watches::copy() const {
  std::vector<std::pair<WatchId, std::shared_ptr<Watch>>> all;
  {
    const os::LockGuard lock(mutex_);
    all.assign(watches_.begin(), watches_.end());
  }
  std::partition(all.begin(), all.end(), [](const auto& item) { return item.second->prompt; });
  return all;
}

// Does not reset news_: this round continues after the listeners that have had their turn.
bool Watches::has_news() const {
  const os::LockGuard lock(mutex_);
  return news_;
}

bool Watches::is_stopped() const {
  const os::LockGuard lock(mutex_);
  return stopped_;
}

// Sends as many new matching changes as fit into one call. Returns false if there was none.
bool Watches::tell_some(Watch& watch) const {
  const auto reading = log_.read(watch.pattern, watch.seen, most_at_once);
  watch.seen = reading.until;
  if (reading.changes.empty() && !reading.lost) return false;
  Corelane::Naming::ChangeList list;
  for (const NamedChange& change : reading.changes) list.push_back(cos_change_of(change));
  const core::CallDeadline bound(os::now() + patience);
  watch.listener->changed(list, reading.lost);
  return true;
}

// Gives the listener one turn. What is left goes to the next round, because the log may grow as fast as it is sent.
void Watches::tell(Watch& watch) {
  const Time end = os::now() + limits_.turn;
  while (!is_stopped() && tell_some(watch)) {
    watch.prompt = os::now() < end;
    if (watch.prompt) continue;
    const os::LockGuard lock(mutex_);
    news_ = true;
    return;
  }
}

void Watches::tell_or_forget(WatchId id, Watch& watch) {
  try {
    tell(watch);
  } catch (const std::exception& why) {
    os::log::info(std::string("naming: removed a listener to changes: ") + why.what());
    remove(id);
  }
}

void Watches::tell_prompt() {
  for (const auto& [id, watch] : copy())
    if (watch->prompt) tell_or_forget(id, *watch);
}

void Watches::tell_all() {
  for (const auto& [id, watch] : copy()) {
    if (is_stopped()) return;
    if (!watch->prompt && has_news()) tell_prompt();
    tell_or_forget(id, *watch);
  }
}

// A timeout does not mean that it is gone: its process may be stopped, or its host busy.
bool Watches::is_there(const Watch& watch) const {
  const core::CallDeadline bound(os::now() + patience);
  try {
    return core::locate(watch.listener);
  } catch (const CORBA::TIMEOUT&) {
    return true;
  } catch (const CORBA::Exception&) {
    return false;
  }
}

void Watches::look(bool at_all) {
  for (const auto& [id, watch] : copy()) {
    {
      const os::LockGuard lock(mutex_);
      if (stopped_) return;
      if (!std::exchange(watch->is_asked, false) && !at_all) continue;
    }
    if (is_there(*watch)) continue;
    os::log::info("naming: removed a listener to changes, because it no longer exists or cannot be reached");
    remove(id);
  }
}

// Bound: until stop().
void Watches::run() {
  Time next_look = os::now() + limits_.look;
  for (;;) {
    bool has_news = false, asks = false;
    {
      os::UniqueLock lock(mutex_);
      rung_.wait_for(lock, os::left_until(next_look),
                     [this]() CORELANE_REQUIRES(mutex_) { return news_ || asks_ || stopped_; });
      if (stopped_) return;
      has_news = std::exchange(news_, false);
      asks = std::exchange(asks_, false);
    }
    if (has_news) tell_all();
    const bool is_due = os::now() >= next_look;
    if (asks || is_due) look(is_due);
    if (is_due) next_look = os::now() + limits_.look;
  }
}

}  // namespace corelane::nameserver
