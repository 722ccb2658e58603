// EtcdFollower: keeps an EtcdCache as etcd is. One thread reads all there is and then follows the changes, again and
// again when etcd was away; another asks now and then whether etcd still answers, and keeps the names of owners. Where
// there is an EtcdCopy the cache begins with what that has, and the copy follows the cache.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "services/nameserver/stores/change_teller.h"
#include "services/nameserver/stores/etcd_cache.h"
#include "services/nameserver/stores/etcd_copy.h"
#include "services/nameserver/stores/etcd_owned_names.h"

namespace corelane::nameserver {

// This host as all its nameservers see it, and no other.
std::string etcd_host();

struct EtcdPace {
  std::chrono::milliseconds period{3000};  // of the questions
  std::size_t page = 2000;                 // entries that are asked for at a time; fewer where they are too long
};

class EtcdFollower {
 public:
  // Lives no longer than what it is given; without a copy: nullptr. Throws std::runtime_error where the system gives no
  // thread.
  EtcdFollower(EtcdClient& client, const EtcdKeys& keys, EtcdCache& cache, EtcdCopy* copy, EtcdOwnedNames& owned,
               ChangeTeller& teller, const EtcdPace& pace);
  // Stops the client.
  ~EtcdFollower();

  // Until the cache is whole for the first time. refused: it will not be. The first attempt may end, whatever the
  // deadline, unless names are remembered: why it failed is the answer.
  Expected<void, EtcdFault> wait_for_contact(std::chrono::steady_clock::time_point deadline);
  // Why etcd is not followed; empty when it is.
  std::string trouble() const;
  // Whether names are there that the copy had.
  bool remembers() const { return remembers_; }

 private:
  using Done = Expected<void, EtcdFault>;

  // While it lives, others may end that watch.
  class Waiting {
   public:
    Waiting(EtcdFollower& follower, EtcdWatch& watch);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    EtcdFollower& follower_;
  };

  bool remember();
  void stop();  // both threads will end
  void follow();
  EtcdFault follow_or_fail();
  EtcdFault follow_once();
  Done load();
  Expected<std::vector<EtcdEntry>, EtcdFault> read_all(std::uint64_t& revision);
  void adopt(const EtcdEntry& entry, EtcdOwnedNames::Known known);
  void keep_at_once();
  Done check_format(const std::vector<EtcdEntry>& entries);
  EtcdFault follow_changes(EtcdWatch& watch);
  void take(const std::vector<EtcdEvent>& events, std::uint64_t revision);
  void is_there();
  void is_away(const EtcdFault& fault);

  void keep();
  Done question();
  // false: the end has come.
  bool rest(std::chrono::milliseconds time);
  bool rest_until_asked(std::chrono::milliseconds time);

  EtcdClient& client_;
  const EtcdKeys& keys_;
  EtcdCache& cache_;
  EtcdCopy* const copy_;
  EtcdOwnedNames& owned_;
  ChangeTeller& teller_;
  const EtcdPace pace_;
  const bool remembers_;
  bool is_first_look_ = true;  // the following thread's; etcd was never read whole

  mutable std::mutex mutex_;
  std::condition_variable turn_;
  std::string why_cut_;         // guarded by mutex_; what the other thread found, before it ended the watch
  EtcdWatch* watch_ = nullptr;  // guarded by mutex_; the one that waits
  bool is_stopped_ = false;     // guarded by mutex_
  bool is_tried_ = false;       // guarded by mutex_; an attempt has failed
  bool was_there_ = false;      // guarded by mutex_
  bool is_new_ = false;  // guarded by mutex_; names of owners are looked after at once: etcd is back, or some came late
  EtcdFault trouble_{EtcdFault::Kind::unreachable, "etcd has not answered yet"};  // guarded by mutex_; no text: none

  std::jthread following_, keeping_;
};

}  // namespace corelane::nameserver
