#include "orb/core/half_messages.h"

#include <mutex>
#include <utility>

namespace corelane::core {

// What one connection holds.
class HalfMessages::Share final : public giop::HalfRoom {
 public:
  Share(std::shared_ptr<HalfMessages> all, Accounts::iterator account) noexcept
      : all_(std::move(all)), account_(account) {}
  ~Share() override { all_->close(account_); }

  bool hold(std::size_t bytes, const Request& request, bool insists) noexcept override {
    const std::size_t free = all_->bounds_.free;
    const std::size_t count = bytes > free ? bytes - free : 0;
    if (count < counted_)
      all_->shrink(*account_, count);
    else if (count > counted_ && !all_->grow(*account_, count, request, insists))
      return false;
    counted_ = count;
    return true;
  }

 private:
  const std::shared_ptr<HalfMessages> all_;
  const Accounts::iterator account_;
  std::size_t counted_ = 0;  // what the account was told last
};

std::unique_ptr<giop::HalfRoom> HalfMessages::share(const std::string& peer, GiveUp give_up) {
  return open(peer, std::make_shared<const GiveUp>(std::move(give_up)));
}

std::unique_ptr<giop::HalfRoom> HalfMessages::share() { return open({}, nullptr); }

std::unique_ptr<giop::HalfRoom> HalfMessages::open(const std::string& peer, std::shared_ptr<const GiveUp> give_up) {
  Accounts made(1);
  std::map<std::string, Peer> named;
  named.try_emplace(peer);
  auto share = std::make_unique<Share>(shared_from_this(), made.begin());
  const std::lock_guard lock(mutex_);
  const auto entry = peers_.insert(named.extract(named.begin())).position;
  ++entry->second.shares;
  made.front().peer = entry;
  made.front().give_up = std::move(give_up);
  accounts_.splice(accounts_.end(), made);
  return share;
}

void HalfMessages::close(Accounts::iterator account) noexcept {
  Accounts gone;  // ends after the lock
  const std::lock_guard lock(mutex_);
  set(*account, 0);
  if (--account->peer->second.shares == 0) peers_.erase(account->peer);
  gone.splice(gone.begin(), accounts_, account);
}

std::size_t HalfMessages::used() const noexcept {
  const std::lock_guard lock(mutex_);
  return used_;
}

// Under the lock.
void HalfMessages::set(Account& account, std::size_t goal) noexcept {
  Peer& peer = account.peer->second;
  used_ = used_ - account.held + goal;
  peer.held = peer.held - account.held + goal;
  account.held = goal;
}

void HalfMessages::shrink(Account& account, std::size_t goal) noexcept {
  const std::lock_guard lock(mutex_);
  if (!account.gave_way) set(account, goal);
}

bool HalfMessages::grow(Account& account, std::size_t goal, const std::optional<giop::HalfRequest>& request,
                        bool insists) noexcept {
  for (;;) {  // bound: the connections, of which one gives way each time
    std::shared_ptr<const GiveUp> give_up;
    std::optional<giop::HalfRequest> given_up;
    {
      const std::lock_guard lock(mutex_);
      if (account.gave_way) return false;
      if (!peer_is_full(account, goal) && goal - account.held <= bounds_.all - used_) {
        account.request = request;
        return set(account, goal), true;
      }
      Account* const other = insists ? who_gives_way(account, goal) : nullptr;
      if (other == nullptr) return false;
      set(*other, 0);
      other->gave_way = true;
      give_up = other->give_up;
      given_up = other->request;
    }
    (*give_up)(given_up);
  }
}

// Those that this process opened are nobody's share.
bool HalfMessages::peer_is_full(const Account& account, std::size_t goal) const noexcept {
  const Peer& peer = account.peer->second;
  return account.give_up && goal - account.held + peer.held > bounds_.of_peer;
}

// The largest one of the peer that would hold most; of several the oldest. Null: that is the one which asks.
// Bound: the connections.
HalfMessages::Account* HalfMessages::who_gives_way(const Account& asking, std::size_t goal) noexcept {
  const Peer* const own = &asking.peer->second;
  const Peer* fullest = own;
  std::size_t most = fullest->held - asking.held + goal;
  const bool among_own = peer_is_full(asking, goal);
  for (const Account& each : accounts_) {
    const Peer& peer = each.peer->second;
    if (among_own || !each.give_up || &peer == own || peer.held < most) continue;
    if (fullest == own || peer.held > most) fullest = &peer, most = peer.held;
  }
  Account* largest = nullptr;
  for (Account& each : accounts_)
    if (&each != &asking && &each.peer->second == fullest && each.give_up && each.held > 0 &&
        (largest == nullptr || each.held > largest->held))
      largest = &each;
  return largest != nullptr && fullest == own && largest->held < goal ? nullptr : largest;
}

}  // namespace corelane::core
