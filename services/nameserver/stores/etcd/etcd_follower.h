// EtcdFollower keeps an EtcdCache equal to etcd. One thread reads everything and then follows the changes. It starts
// again whenever etcd was away. Another thread checks from time to time whether etcd answers, and renews the names of
// owners. With an EtcdCopy, the cache starts with the copy's content, and the copy follows the cache.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "orb/base/thread_safety.h"
#include "orb/os/mutex.h"
#include "orb/os/wait/condition_variable.h"
#include "services/nameserver/stores/etcd/etcd_cache.h"
#include "services/nameserver/stores/etcd/etcd_copy.h"
#include "services/nameserver/stores/etcd/etcd_owned_names.h"
#include "services/nameserver/stores/tree/change_notifier.h"

namespace corelane::nameserver {

// Returns a text that all nameservers of this host, and no other host, use for the host.
std::string etcd_host();

struct EtcdPace {
  std::chrono::milliseconds period{3000};  // between two checks
  std::size_t page = 2000;                 // entries per request; fewer if they are too long
};

class EtcdFollower {
 public:
  // All arguments must outlive it. `copy` may be nullptr. Throws std::runtime_error if the system gives no thread.
  EtcdFollower(EtcdClient& client, const EtcdKeys& keys, EtcdCache& cache, EtcdCopy* copy, EtcdOwnedNames& owned,
               ChangeNotifier& notifier, const EtcdPace& pace);
  // Stops the client.
  ~EtcdFollower();

  // Waits until the cache is complete for the first time. refused: it will not be. Unless names come from the copy,
  // waits at least for the end of the first attempt, even beyond the deadline. On failure returns why it failed.
  Expected<void, EtcdFault> wait_for_contact(std::chrono::steady_clock::time_point deadline);
  // Returns why etcd is not followed; empty when it is.
  std::string trouble() const;
  // Returns whether the cache started with names from the copy.
  bool remembers() const { return remembers_; }

 private:
  using Done = Expected<void, EtcdFault>;

  // While it exists, other threads can end that watch.
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
  // Returns false when the follower is being stopped.
  bool rest(std::chrono::milliseconds time);
  bool rest_until_asked(std::chrono::milliseconds time);

  EtcdClient& client_;
  const EtcdKeys& keys_;
  EtcdCache& cache_;
  EtcdCopy* const copy_;
  EtcdOwnedNames& owned_;
  ChangeNotifier& notifier_;
  const EtcdPace pace_;
  const bool remembers_;
  bool is_first_look_ = true;  // Thread: the following one only. etcd was never read completely.

  mutable os::Mutex mutex_;
  os::ConditionVariable turn_;
  std::string why_cut_ CORELANE_GUARDED_BY(mutex_);  // the fault that the other thread found before it ended the watch
  EtcdWatch* watch_ CORELANE_GUARDED_BY(mutex_) = nullptr;  // the watch that waits
  bool is_stopped_ CORELANE_GUARDED_BY(mutex_) = false;
  bool is_tried_ CORELANE_GUARDED_BY(mutex_) = false;  // an attempt has failed
  bool was_there_ CORELANE_GUARDED_BY(mutex_) = false;
  // The names of owners must be handled at once: etcd is back, or some came late.
  bool is_new_ CORELANE_GUARDED_BY(mutex_) = false;
  // No text: none.
  EtcdFault trouble_ CORELANE_GUARDED_BY(mutex_){EtcdFault::Kind::unreachable, "etcd has not answered yet"};

  std::jthread following_, keeping_;
};

}  // namespace corelane::nameserver
