#include "orb/transport/memory_budget.h"

#include <algorithm>
#include <utility>

#include "orb/os/lock.h"
#include "orb/os/thread.h"
#include "orb/os/threads/closer.h"

namespace corelane::transport {
namespace {

// The most that one read may add, and the unit in which half messages are counted.
constexpr std::size_t step = 64 * 1024;

std::size_t in_steps(std::size_t bytes) noexcept { return (bytes + step - 1) / step * step; }

}  // namespace

std::shared_ptr<MemoryAccount> MemoryBudget::open(std::uint32_t peer, std::int32_t process) {
  Peers made;
  made.try_emplace(peer);
  Accounts place(1);
  const os::LockGuard lock(mutex_);
  const auto entry = peers_.insert(made.extract(made.begin())).position;
  ++entry->second.accounts;
  try {
    auto account = std::make_shared<MemoryAccount>(shared_from_this(), entry, process);
    account->place_ = place.begin();
    place.front() = account.get();
    accounts_.splice(accounts_.end(), place);
    return account;
  } catch (...) {
    if (--entry->second.accounts == 0) peers_.erase(entry);
    throw;
  }
}

void MemoryBudget::close(MemoryAccount& account) noexcept {
  Accounts gone;
  const Peer* left = &account.peer_->second;
  bool wakes_all = false;
  {
    const os::LockGuard lock(mutex_);
    Peer& peer = account.peer_->second;
    account.messages_.store(0, std::memory_order_relaxed);  // relaxed: no other thread uses it any more
    peer.backlogs -= std::exchange(account.backlog_, 0);
    peer.channels -= account.channel_;
    channels_ -= account.channel_;
    count(account);
    end_wait(account);
    wakes_all = end_election(account) || account.was_evicted_ || account.wait_.is_refused();
    gone.splice(gone.begin(), accounts_, account.place_);
    if (--peer.accounts == 0) peers_.erase(account.peer_), left = nullptr;
  }
  wake(wakes_all ? nullptr : left);
}

std::size_t MemoryBudget::used() const noexcept {
  const os::LockGuard lock(mutex_);
  return used_;
}

std::size_t MemoryBudget::channels() const noexcept {
  const os::LockGuard lock(mutex_);
  return channels_;
}

// Updates the sums to what the account holds.
void MemoryBudget::count(MemoryAccount& account) noexcept {
  Peer& peer = account.peer_->second;
  const std::size_t messages = account.messages();
  const std::size_t counted_messages = messages > bounds_.free ? messages - bounds_.free : 0;
  const std::size_t goal = account.was_evicted_ ? 0 : account.backlog_ + counted_messages;
  // relaxed: see MemoryAccount::hold_half()
  const std::size_t half =
      std::min(account.half_.load(std::memory_order_relaxed), account.was_evicted_ ? 0 : counted_messages);
  const std::size_t before = std::exchange(account.counted_, goal),
                    half_before = std::exchange(account.counted_half_, half);
  if (before == goal && half_before == half) return;
  peer.halves = peer.halves - half_before + half;
  account.progress_.limit_half(account.half_.load(std::memory_order_relaxed));  // relaxed: as above
  const auto is_held = [](std::size_t bytes) { return bytes > 0 ? std::size_t{1} : std::size_t{0}; };
  peer.holders = peer.holders - is_held(before) + is_held(goal);
  holders_ -= is_held(peer.held);
  peer.held = peer.held - before + goal;
  holders_ += is_held(peer.held);
  used_ = used_ - before + goal;
  if (peer.elected == &account) held_by_elected_ = held_by_elected_ - before + goal;
  // A thread that sees these values late reads once more, or takes the lock without need.
  // PAIR memory_budget.suspended: seq_cst here and in makes_progress() -> seq_cst in begin_wait().
  peer.is_tight.store(has_used_share(peer), std::memory_order_seq_cst);
  is_tight_.store(used_ + step > bounds_.all, std::memory_order_seq_cst);
}

// Returns whether the peer has used up its share, or its half messages have used up half of it. The other half is for
// connections that come later: each has an equal part, see has_part_left().
bool MemoryBudget::has_used_share(const Peer& peer) const noexcept {
  return peer.held + step > bounds_.of_peer || peer.halves + step > bounds_.of_peer / 2;
}

// Returns whether the peer has used up its share. If the whole budget is used up, all peers that hold something have
// equal shares.
bool MemoryBudget::is_beyond_share(const Peer& peer) const noexcept {
  if (has_used_share(peer)) return true;
  return used_ + step > bounds_.all && peer.held + step > bounds_.all / std::max<std::size_t>(holders_, 1);
}

// Returns whether the process of the account may still be read. For a peer whose backlogs exceed its share. Bound: the
// connections.
bool MemoryBudget::has_backlog_to_spare(const MemoryAccount& account) const noexcept {
  if (account.process_ == 0 || used_ + step > bounds_.all) return false;
  const Peer& peer = account.peer_->second;
  std::size_t backlogs = 0;
  for (const MemoryAccount* each : accounts_)
    if (&each->peer_->second == &peer && each->process_ == account.process_) backlogs += each->backlog_;
  return backlogs + step <= bounds_.of_peer / (peer.holders + 1);
}

// Returns whether the account may be read. If it may not because it is another one's turn, sets `next` to that one,
// which has to ask.
bool MemoryBudget::may_read(MemoryAccount& account, Time now, MemoryAccount*& next) noexcept {
  Peer& peer = account.peer_->second;
  if (account.was_evicted_) return true;  // then the reader finds the end
  if (peer.backlogs > bounds_.of_peer && !has_backlog_to_spare(account)) return false;
  if (account.messages() <= bounds_.free || !is_beyond_share(peer)) return true;
  const bool progresses = makes_progress(peer), is_elected = peer.elected == &account;
  if (is_elected && !progresses) return true;
  const std::size_t most = bounds_.of_peer + bounds_.message;
  const std::size_t most_of_all = bounds_.all + bounds_.of_peer;
  if (is_elected) return peer.held <= most && used_ <= most_of_all;
  if (peer.held <= most && projected_use() <= most_of_all && has_part_left(account)) return true;
  const bool has_waited = account.wait_.is_refused() && now - account.wait_.refused_since() >= bounds_.patience;
  const bool has_room = peer.held + step <= bounds_.of_peer && used_ + step <= bounds_.all;
  const bool waits_for_requests = progresses && !has_waited && !has_room;
  if (peer.elected != nullptr || waits_for_requests) return false;
  find_firsts(account);
  if (peer.first != &account) return false;
  // Half messages do not become less by waiting. So one of them goes on, however much memory is in use. Those of other
  // peers go on at the same time, as long as there is room for all of them.
  if (peer.held - peer.halves > most || !has_room_to_elect()) return false;
  if (MemoryAccount* const first = first_in_turn(account); first != &account) return next = first, false;
  elect(account, now);
  return true;
}

// Returns whether the account may still grow within its equal part of its peer's share. Half messages that are not
// elected together hold no more than the share. The memory beyond the share is reserved for the elected one, so that it
// can become complete.
bool MemoryBudget::has_part_left(const MemoryAccount& account) const noexcept {
  const Peer& peer = account.peer_->second;
  const std::size_t halves = peer.halves - (peer.elected != nullptr ? peer.elected->counted_half_ : 0);
  return halves + step <= bounds_.of_peer && account.counted_ + step <= bounds_.of_peer / (peer.holders + 1);
}

// Returns what all peers hold when the messages of the elected connections are complete.
std::size_t MemoryBudget::projected_use() const noexcept {
  return used_ - held_by_elected_ + elected_ * bounds_.message;
}

bool MemoryBudget::has_room_to_elect() const noexcept {
  return elected_ == 0 || projected_use() + bounds_.message <= 2 * std::max(bounds_.all, bounds_.of_peer);
}

// Returns the account that is to be elected next: `asking`, or one of those that find_firsts() has found, if it waits
// and could be elected. While the whole budget is used up, peers take turns: first those that have sent a request over
// that connection before, then those that have waited for longest. Bound: the peers.
MemoryAccount* MemoryBudget::first_in_turn(MemoryAccount& asking) noexcept {
  if (used_ + step <= bounds_.all) return &asking;
  const auto rank = [](const MemoryAccount& each) {
    return std::pair(!each.has_sent_request(), each.wait_.refused_since());
  };
  MemoryAccount* best = &asking;
  for (auto& [number, peer] : peers_) {
    MemoryAccount* const each = peer.first;
    if (each == nullptr || !each->wait_.is_refused() || peer.elected != nullptr) continue;
    if (peer.backlogs > bounds_.of_peer || peer.held - peer.halves > bounds_.of_peer + bounds_.message) continue;
    if (rank(*each) < rank(*best)) best = each;
  }
  return best;
}

void MemoryBudget::elect(MemoryAccount& account, Time now) noexcept {
  account.peer_->second.elected = &account;
  ++elected_;
  held_by_elected_ += account.counted_;
  account.progress_.count_half_from(account.counted_half_, now);
  account.is_elected_.store(true, std::memory_order_relaxed);  // relaxed: see MemoryAccount::add()
}

// Ends the elections of connections that hold hardly anything and have sent nothing for `patience`.
void MemoryBudget::end_idle_elections(Time now) noexcept {
  for (MemoryAccount* each : accounts_) {
    const bool is_idle = !each->wait_.is_queued() && each->progress_.half_rests(now, bounds_.patience);
    if (each->peer_->second.elected == each && is_idle && each->counted_half_ <= bounds_.free)
      (void)end_election(*each);
  }
}

// Called when the message of the account is complete, or the connection ends. Returns whether it was elected. Then
// connections of all peers may have waited for the end of it.
bool MemoryBudget::end_election(MemoryAccount& account) noexcept {
  Peer& peer = account.peer_->second;
  if (peer.elected != &account) return false;
  peer.elected = nullptr;
  --elected_;
  held_by_elected_ -= account.counted_;
  account.is_elected_.store(false, std::memory_order_relaxed);  // relaxed: see MemoryAccount::add()
  return true;
}

// Returns whether a request of the peer runs that will end by itself and thereby make room. Bound: the connections.
bool MemoryBudget::makes_progress(const Peer& peer) const noexcept {
  return std::any_of(accounts_.begin(), accounts_.end(), [&](const MemoryAccount* each) {
    // relaxed: a reader that waits checks again after `patience`. seq_cst: see begin_wait()
    return &each->peer_->second == &peer && each->has_requests() &&
           each->running_.load(std::memory_order_relaxed) > each->suspended_.load(std::memory_order_seq_cst);
  });
}

// relaxed, in both: see MemoryAccount::hold_half()
bool MemoryBudget::takes_part(const MemoryAccount& account) noexcept {
  return account.half_.load(std::memory_order_relaxed) > 0 && !account.was_evicted_;
}
std::pair<bool, std::size_t> MemoryBudget::rank_in_peer(const MemoryAccount& account) noexcept {
  return {account.has_sent_request(), account.half_.load(std::memory_order_relaxed)};
}

// Finds the connection of each peer that continues, among those that hold half a message and `asking`. First come
// connections over which a request has come before, then the longest half, then the older connection. Bound: the
// connections and the peers.
void MemoryBudget::find_firsts(const MemoryAccount& asking) noexcept {
  for (auto& [number, peer] : peers_) peer.first = nullptr;
  for (MemoryAccount* each : accounts_) {
    MemoryAccount*& first = each->peer_->second.first;
    if (each != &asking && !takes_part(*each)) continue;
    if (first == nullptr || rank_in_peer(*each) > rank_in_peer(*first)) first = each;
  }
}

// Returns the connection that holds most of what does not become free by waiting, of the peers that exceed their share.
// Connections over which no request has come are chosen first. Bound: the connections.
MemoryAccount* MemoryBudget::stalled(const MemoryAccount& asking, Time now) noexcept {
  const Peer& own = asking.peer_->second;
  const bool of_own = own.held + step > bounds_.of_peer;
  MemoryAccount* found = nullptr;
  std::pair<bool, std::size_t> most;
  for (MemoryAccount* each : accounts_) {
    const Peer& peer = each->peer_->second;
    if (each == &asking || each->was_evicted_ || each->counted_ == 0 || each->holder_.expired()) continue;
    const bool stops_all = peer.elected == each && (used_ + step > bounds_.all || !has_room_to_elect() ||
                                                    projected_use() > bounds_.all + bounds_.of_peer);
    if (!stops_all && (of_own ? &peer != &own : !is_beyond_share(peer))) continue;
    std::size_t idle = 0;
    if (!each->wait_.is_queued() && each->progress_.half_rests(now, bounds_.patience))
      idle += each->half_.load(std::memory_order_relaxed);  // relaxed: see MemoryAccount::hold_half()
    if (each->progress_.backlog_rests(now, bounds_.patience)) idle += each->backlog_;
    if (idle <= bounds_.free) continue;
    const std::pair rank(!each->has_sent_request(), idle);
    if (found == nullptr || rank > most) found = each, most = rank;
  }
  return found;
}

// For a peer whose connections cannot all be kept waiting.
bool MemoryBudget::has_room_without_waiting(const Peer& peer, std::size_t bytes) const noexcept {
  const std::size_t all = std::max(bounds_.all, bounds_.of_peer);
  return peer.held + bytes <= all && used_ + bytes <= 2 * all;
}

// Ends the accounting of the connection that stalled() found, so that it holds nothing any more. The caller makes it
// give up. Returns null if there is none.
std::shared_ptr<MemoryHolder> MemoryBudget::take_from_stalled(const MemoryAccount& asking, Time now,
                                                              MemoryHolder::Stalled& why) noexcept {
  MemoryAccount* const idle = stalled(asking, now);
  if (idle == nullptr) return nullptr;
  why = idle->backlog_ > 0 ? MemoryHolder::Stalled::takes_nothing : MemoryHolder::Stalled::sends_nothing;
  idle->was_evicted_ = true;
  (void)end_election(*idle);  // close() wakes those that wait for it
  idle->peer_->second.backlogs -= std::exchange(idle->backlog_, 0);
  count(*idle);
  return idle->holder_.lock();
}

void MemoryBudget::end_wait(MemoryAccount& account) noexcept {
  if (account.wait_.leave(waiting_)) account.progress_.let_half_grow(now_());
}

// Called when the connection may be read, or no longer needs to be.
void MemoryBudget::forget_wait(MemoryAccount& account) noexcept {
  end_wait(account);
  account.wait_.end_refusal();
  account.waits_hint_.store(false, std::memory_order_relaxed);  // relaxed: a hint
}

// Wakes waiting connections. A real-time thread leaves that to an ordinary one, because every connection may be
// waiting.
void MemoryBudget::wake(const Peer* peer) noexcept {
  {
    const os::LockGuard lock(mutex_);
    if (waiting_.empty()) return;
  }
  if (!os::is_real_time()) return wake_here(peer);
  if (!wake_elsewhere()) wake_here(nullptr);
}

// Returns false if no ordinary thread can take the task. Then the caller wakes the connections of all peers, because
// threads that made room for others meanwhile have relied on the ordinary thread.
bool MemoryBudget::wake_elsewhere() noexcept {
  {
    const os::LockGuard lock(mutex_);
    if (woken_elsewhere_) return true;  // that thread has not begun yet
    woken_elsewhere_ = shared_from_this();
  }
  const auto run = [](const os::Closer::Task& task) noexcept {
    auto* const budget = static_cast<MemoryBudget*>(task.base);
    std::shared_ptr<MemoryBudget> kept;
    {
      const os::LockGuard lock(budget->mutex_);
      kept = std::move(budget->woken_elsewhere_);
    }
    kept->wake_here(nullptr);
  };
  if (os::Closer::of_memory().take({.run = run, .base = this})) return true;
  std::shared_ptr<MemoryBudget> kept;  // the caller keeps it, too
  const os::LockGuard lock(mutex_);
  kept = std::move(woken_elsewhere_);
  return false;
}

// Wakes the waiting connections of one peer, or of all peers if `peer` is null or there is room for all. Bound: the
// connections that wait, each once. To find the next one takes no search if all are woken.
void MemoryBudget::wake_here(const Peer* peer) noexcept {
  std::uint64_t last = 0;
  for (;;) {
    std::shared_ptr<MemoryHolder> holder;
    {
      const os::LockGuard lock(mutex_);
      if (last == 0) last = last_wait_;
      const bool wakes_all = peer == nullptr || used_ + step <= bounds_.all;
      const auto found = std::find_if(waiting_.begin(), waiting_.end(), [&](const MemoryAccount* each) {
        return wakes_all || each->wait_.order() > last || &each->peer_->second == peer;
      });
      if (found == waiting_.end() || (*found)->wait_.order() > last) return;
      MemoryAccount& next = **found;
      end_wait(next);
      holder = next.holder_.lock();
    }
    if (holder) holder->on_room();
  }
}

MemoryAccount::~MemoryAccount() { budget_->close(*this); }

void MemoryAccount::belongs_to(std::weak_ptr<MemoryHolder> holder) noexcept {
  const os::LockGuard lock(budget_->mutex_);
  holder_.swap(holder);
}

[[gnu::hot]] bool MemoryAccount::is_tight() const noexcept {
  // relaxed: hints, see MemoryBudget::count(); only the connection's reader begins to wait
  return peer_->second.is_tight.load(std::memory_order_relaxed) || budget_->is_tight_.load(std::memory_order_relaxed) ||
         waits_hint_.load(std::memory_order_relaxed);
}

void MemoryAccount::stop_waiting() noexcept {
  const os::LockGuard lock(budget_->mutex_);
  const MemoryProgress before = progress_;
  budget_->forget_wait(*this);
  progress_ = before;
}

[[gnu::hot]] bool MemoryAccount::may_read() noexcept {
  if (!is_tight()) return true;
  for (;;) {  // bound: the connections; one ends each time
    std::shared_ptr<MemoryHolder> other, has_turn;
    MemoryHolder::Stalled why{};
    {
      const os::LockGuard lock(budget_->mutex_);
      const Time now = budget_->now_();
      MemoryAccount* next = nullptr;
      budget_->end_idle_elections(now);
      if (holder_.expired() || budget_->may_read(*this, now, next)) {
        budget_->forget_wait(*this);
        return true;
      }
      if (next != nullptr) {
        budget_->end_wait(*next);
        has_turn = next->holder_.lock();
      }
      wait_.enter(budget_->waiting_, budget_->last_wait_);
      wait_.refuse(now);
      waits_hint_.store(true, std::memory_order_relaxed);  // relaxed: a hint
      other = budget_->take_from_stalled(*this, now, why);
    }
    if (has_turn) has_turn->on_room();
    if (!other) return false;
    other->close_stalled(why);
  }
}

bool MemoryAccount::may_keep_half() noexcept {
  for (;;) {  // bound: as in may_read()
    std::shared_ptr<MemoryHolder> other;
    MemoryHolder::Stalled why{};
    {
      const os::LockGuard lock(budget_->mutex_);
      if (budget_->has_room_without_waiting(peer_->second, 0)) return true;
      other = budget_->take_from_stalled(*this, budget_->now_(), why);
    }
    if (!other) return false;
    other->close_stalled(why);
  }
}

bool MemoryAccount::hold_half(std::size_t bytes) noexcept {
  const std::size_t after = bytes <= budget_->bounds_.free ? bytes : in_steps(bytes);
  // relaxed: only this thread changes it; others read it with the lock, or need only an approximate value
  const std::size_t before = half_.load(std::memory_order_relaxed);
  if (before == after) return true;
  half_.store(after, std::memory_order_relaxed);  // relaxed: as above
  if (after > before && after > budget_->bounds_.free) {
    const os::LockGuard lock(budget_->mutex_);
    if (before <= budget_->bounds_.free || progress_.half_has_grown(after))
      progress_.count_half_from(after, budget_->now_());
  }
  return add(after - before);  // modulo 2^64 if it is less
}

[[gnu::hot]] void MemoryAccount::note_request() noexcept {
  // relaxed: it only decides which connection waits
  if (!has_sent_request()) has_sent_request_.store(true, std::memory_order_relaxed);
}

void MemoryAccount::add_request(std::size_t bytes) noexcept {
  note_request();
  (void)add(bytes);
}

// If the half belonged to another message, the next hold_half() corrects that.
void MemoryAccount::turn_into_request(std::size_t bytes) noexcept {
  const std::size_t half = half_.load(std::memory_order_relaxed);  // relaxed: see hold_half()
  const std::size_t moved = std::min(half, bytes <= budget_->bounds_.free ? bytes : in_steps(bytes));
  half_.store(half - moved, std::memory_order_relaxed);  // relaxed: see hold_half()
  add_request(bytes - moved);                            // modulo 2^64
}

void MemoryAccount::remove_request(std::size_t bytes) noexcept { (void)add(std::size_t{0} - bytes); }

// Adds bytes of messages, modulo 2^64. Returns false if the connection had to end. Every thread that changes the part
// beyond the free bytes counts again. So the last of them sees the result of all.
bool MemoryAccount::add(std::size_t bytes) noexcept {
  const std::size_t before = messages_.fetch_add(bytes, std::memory_order_relaxed);  // relaxed: the lock orders counts
  const std::size_t after = before + bytes;
  const bool is_elected = is_elected_.load(std::memory_order_relaxed);  // relaxed: this thread, the reader, elected it
  if (std::max(before, after) <= budget_->bounds_.free && !is_elected) return true;
  bool may_go_on = false, was_elected = false;
  {
    const os::LockGuard lock(budget_->mutex_);
    budget_->count(*this);
    may_go_on = !was_evicted_;
    // relaxed: see hold_half()
    was_elected = half_.load(std::memory_order_relaxed) == 0 && budget_->end_election(*this);
  }
  if (was_elected || after < before) budget_->wake(was_elected ? nullptr : &peer_->second);
  return may_go_on;
}

bool MemoryAccount::has_requests() const noexcept {
  return messages() > half_.load(std::memory_order_relaxed) + budget_->bounds_.free;  // relaxed: see hold_half()
}

void MemoryAccount::begin_wait() noexcept {
  // PAIR memory_budget.suspended: seq_cst here <- seq_cst in count() and makes_progress().
  // Either this thread sees that memory is tight, or the reader that is about to wait sees that this request waits.
  suspended_.fetch_add(1, std::memory_order_seq_cst);
  const bool is_tight =
      peer_->second.is_tight.load(std::memory_order_seq_cst) || budget_->is_tight_.load(std::memory_order_seq_cst);
  if (is_tight) budget_->wake(&peer_->second);
}

void MemoryAccount::hold_backlog(std::size_t bytes, bool was_taken) noexcept {
  const os::LockGuard lock(budget_->mutex_);
  if (was_evicted_) return;
  if (was_taken || backlog_ == 0) progress_.take_backlog(budget_->now_());
  if (bytes < backlog_) made_room_.store(true, std::memory_order_relaxed);  // relaxed: see tell_others()
  peer_->second.backlogs = peer_->second.backlogs - backlog_ + bytes;
  backlog_ = bytes;
  budget_->count(*this);
}

void MemoryAccount::tell_others() noexcept {
  // relaxed: set by this thread, or by another one that tells others, too
  if (made_room_.load(std::memory_order_relaxed) && made_room_.exchange(false, std::memory_order_relaxed))
    budget_->wake(&peer_->second);
}

bool MemoryAccount::grow_channel(std::size_t bytes, bool is_promised) noexcept {
  MemoryBudget& all = *budget_;
  const os::LockGuard lock(all.mutex_);
  MemoryBudget::Peer& peer = peer_->second;
  const bool has_room = !was_evicted_ && peer.held + peer.channels + bytes <= all.bounds_.of_peer &&
                        all.used_ + all.channels_ + bytes <= all.bounds_.all;
  if (!has_room && !is_promised) return false;
  channel_ += bytes;
  peer.channels += bytes;
  all.channels_ += bytes;
  return true;
}

void MemoryAccount::shrink_channel(std::size_t bytes) noexcept {
  const os::LockGuard lock(budget_->mutex_);
  channel_ -= bytes;
  peer_->second.channels -= bytes;
  budget_->channels_ -= bytes;
}

bool MemoryAccount::has_room(std::size_t bytes) const noexcept {
  if (bytes <= step) return true;
  const os::LockGuard lock(budget_->mutex_);
  return !was_evicted_ && budget_->has_room_without_waiting(peer_->second, bytes);
}

}  // namespace corelane::transport
