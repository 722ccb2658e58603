#include "services/nameserver/stores/etcd/etcd_follower.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "orb/base/minor.h"
#include "orb/base/thread_safety.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/machine/host.h"
#include "orb/os/thread.h"

namespace corelane::nameserver {
namespace {

constexpr std::chrono::milliseconds shortest_rest{100}, longest_rest{3000};
constexpr const char* format_version = "1";

// Turns an exception of one of the follower's threads into a fault. The thread tries again, as after other faults.
EtcdFault fault_of(const std::exception& failure) {
  return {EtcdFault::Kind::unreachable, std::string("etcd is not followed: ") + failure.what()};
}

}  // namespace

std::string etcd_host() {
  const os::HostIdentity& host = os::this_host();
  return host.boot_id + " " + std::to_string(host.time_namespace) + " " + std::to_string(host.pid_namespace);
}

EtcdFollower::EtcdFollower(EtcdClient& client, const EtcdKeys& keys, EtcdCache& cache, EtcdCopy* copy,
                           EtcdOwnedNames& owned, ChangeNotifier& notifier, const EtcdPace& pace)
    : client_(client),
      keys_(keys),
      cache_(cache),
      copy_(copy),
      owned_(owned),
      notifier_(notifier),
      pace_(pace),
      remembers_(remember()) {
  auto following = os::plain_thread<std::jthread>([this] { follow(); });
  if (!following) throw std::runtime_error(std::string(minor::text(following.error().minor)));
  following_ = std::move(*following);
  auto keeping = os::plain_thread<std::jthread>([this] { keep(); });
  if (!keeping) {
    stop();
    throw std::runtime_error(std::string(minor::text(keeping.error().minor)));
  }
  keeping_ = std::move(*keeping);
}

EtcdFollower::~EtcdFollower() { stop(); }

bool EtcdFollower::remember() {
  const auto content = copy_ == nullptr ? std::nullopt : copy_->take_content();
  if (!content) return false;
  const auto seen = std::chrono::system_clock::time_point(std::chrono::seconds(content->seen));
  const auto age = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now() - seen);
  cache_.remember(content->entries, content->revision, std::max(age, std::chrono::seconds{0}));
  for (const EtcdEntry& entry : content->entries) adopt(entry, EtcdOwnedNames::Known::remembered);
  return true;
}

void EtcdFollower::stop() {
  const os::LockGuard lock(mutex_);
  is_stopped_ = true;
  client_.stop();
  if (watch_ != nullptr) watch_->stop();
  turn_.notify_all();
}

Expected<void, EtcdFault> EtcdFollower::wait_for_contact(std::chrono::steady_clock::time_point deadline) {
  os::UniqueLock lock(mutex_);
  if (!remembers_) turn_.wait(lock, [&]() CORELANE_REQUIRES(mutex_) { return was_there_ || is_tried_; });
  turn_.wait_until(lock, deadline,
                   [&]() CORELANE_REQUIRES(mutex_) { return was_there_ || trouble_.kind == EtcdFault::Kind::refused; });
  if (was_there_) return {};
  return trouble_;
}

std::string EtcdFollower::trouble() const {
  const os::LockGuard lock(mutex_);
  return trouble_.text;
}

void EtcdFollower::follow() {
  std::chrono::milliseconds pause = shortest_rest;
  while (true) {
    const EtcdFault fault = follow_or_fail();
    if (cache_.is_followed()) pause = shortest_rest;
    is_away(fault);
    if (!rest(pause)) return;
    pause = std::min(2 * pause, longest_rest);
  }
}

EtcdFault EtcdFollower::follow_or_fail() try { return follow_once(); } catch (const std::exception& failure) {
  return fault_of(failure);
}

EtcdFault EtcdFollower::follow_once() {
  if (const auto loaded = load(); !loaded) return loaded.error();
  EtcdWatch watch(client_);
  const Waiting waiting(*this, watch);
  EtcdFault fault = follow_changes(watch);
  const os::LockGuard lock(mutex_);
  if (!why_cut_.empty()) fault.text = std::exchange(why_cut_, {});
  return fault;
}

EtcdFollower::Waiting::Waiting(EtcdFollower& follower, EtcdWatch& watch) : follower_(follower) {
  const os::LockGuard lock(follower_.mutex_);
  follower_.watch_ = &watch;
  if (follower_.is_stopped_) watch.stop();
}

EtcdFollower::Waiting::~Waiting() {
  const os::LockGuard lock(follower_.mutex_);
  follower_.watch_ = nullptr;
}

EtcdFollower::Done EtcdFollower::load() {
  std::uint64_t revision = 0;
  const auto entries = read_all(revision);
  if (!entries) return entries.error();
  if (const auto known = check_format(*entries); !known) return known;
  owned_.seen_all(*entries, revision);
  for (const EtcdEntry& entry : *entries)
    if (is_first_look_ || owned_.is_ours(entry.lease)) adopt(entry, EtcdOwnedNames::Known::seen);
  is_first_look_ = false;
  take(cache_.missed(*entries, revision), revision);
  return {};
}

// Takes over a name of an owner on this host: this nameserver, too, must notice when the owner ends. At the first
// reading, such names belong to earlier nameservers or to others on this host. Later, they are attached to a lease of
// this nameserver. They are known already, except for those whose answer was lost.
void EtcdFollower::adopt(const EtcdEntry& entry, EtcdOwnedNames::Known known) {
  if (entry.lease == 0 || host_in(entry.value) != etcd_host()) return;
  const auto place = keys_.place_of(entry.key);
  const auto binding = binding_in(entry.value);
  if (!place || !place->name || !binding || binding->owner.empty()) return;
  const std::string context = place->context == root_context ? std::string() : keys_.context(place->context);
  owned_.adopt(binding->owner, {entry.key, entry.value, context}, entry.lease, entry.modified, known);
}

Expected<std::vector<EtcdEntry>, EtcdFault> EtcdFollower::read_all(std::uint64_t& revision) {
  std::vector<EtcdEntry> all;
  const std::string end = end_of_prefix(keys_.prefix());
  std::string begin = keys_.prefix();
  for (std::size_t page = std::max<std::size_t>(pace_.page, 1);;) {
    auto some = client_.range(begin, end, page, revision);
    if (!some && some.error().kind == EtcdFault::Kind::too_long && page > 1) {
      page /= 2;
      continue;
    }
    if (!some) return some.error();
    revision = revision == 0 ? some->revision : revision;  // all pages show the same revision
    all.insert(all.end(), std::make_move_iterator(some->entries.begin()), std::make_move_iterator(some->entries.end()));
    if (!some->has_more || some->entries.empty()) return all;
    begin = all.back().key + '\0';
  }
}

EtcdFollower::Done EtcdFollower::check_format(const std::vector<EtcdEntry>& entries) {
  const auto format =
      std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.key == keys_.format(); });
  if (format == entries.end()) {
    EtcdTransaction transaction;
    const auto written = client_.commit(transaction.if_absent(keys_.format()).then_put(keys_.format(), format_version));
    return written ? Done{} : written.error();
  }
  if (format->value == format_version) return {};
  return EtcdFault{EtcdFault::Kind::refused, "the data in etcd below " + keys_.prefix() + " has format '" +
                                                 format->value + "', and this Corelane knows " + format_version +
                                                 ": use the Corelane that wrote it, or another prefix"};
}

EtcdFault EtcdFollower::follow_changes(EtcdWatch& watch) {
  if (const auto opened = watch.open(keys_.prefix(), cache_.revision() + 1); !opened) return opened.error();
  while (true) {
    const auto events = watch.next();  // the first reply has no events: it says that the watch exists
    if (!events) return events.error();
    for (const EtcdEvent& event : *events) {
      owned_.seen(event);
      if (!event.is_deletion && owned_.is_ours(event.entry.lease)) adopt(event.entry, EtcdOwnedNames::Known::seen);
    }
    if (owned_.has_late_names()) keep_at_once();
    if (!events->empty()) take(*events, std::max(cache_.revision(), events->back().entry.modified));
    if (!cache_.is_followed()) is_there();
  }
}

void EtcdFollower::take(const std::vector<EtcdEvent>& events, std::uint64_t revision) {
  notifier_.queue(cache_.apply(events, revision));
  if (copy_ != nullptr) copy_->keep(events, revision);
  notifier_.notify();
}

void EtcdFollower::is_there() {
  cache_.set_followed(true);
  const os::LockGuard lock(mutex_);
  if (was_there_ || remembers_) os::log::info("etcd answers again, and names are those that it has");
  trouble_.text.clear();
  was_there_ = is_new_ = true;
  turn_.notify_all();
}

void EtcdFollower::keep_at_once() {
  const os::LockGuard lock(mutex_);
  is_new_ = true;
  turn_.notify_all();
}

void EtcdFollower::is_away(const EtcdFault& fault) {
  cache_.set_followed(false);
  const os::LockGuard lock(mutex_);
  if (was_there_ && trouble_.text.empty() && !is_stopped_)
    os::log::warn(fault.text + ": names are still found, but none can be bound until etcd is back");
  trouble_ = fault;
  is_tried_ = true;
  turn_.notify_all();
}

void EtcdFollower::keep() {
  while (rest_until_asked(owned_.watches_others() ? pace_.period / 4 : pace_.period)) {
    const auto answered = question();
    if (answered && copy_ != nullptr && cache_.is_followed()) copy_->confirm();
    const os::LockGuard lock(mutex_);
    if (watch_ == nullptr) continue;
    // An endpoint that does not answer may still hold the watch open without sending anything.
    const bool has_moved = watch_->endpoint() != client_.endpoint();
    if (!has_moved && (answered || answered.error().kind == EtcdFault::Kind::refused)) continue;
    why_cut_ = answered ? "etcd at " + watch_->endpoint().text() + " does not answer" : answered.error().text;
    watch_->stop();  // follow() starts again
  }
}

EtcdFollower::Done EtcdFollower::question() try {
  const auto answer = client_.range(keys_.format(), keys_.format() + '\0', 1);
  if (!answer) return answer.error();
  return owned_.keep();
} catch (const std::exception& failure) {
  return fault_of(failure);
}

bool EtcdFollower::rest(std::chrono::milliseconds time) {
  os::UniqueLock lock(mutex_);
  turn_.wait_for(lock, time, [&]() CORELANE_REQUIRES(mutex_) { return is_stopped_; });
  return !is_stopped_;
}

bool EtcdFollower::rest_until_asked(std::chrono::milliseconds time) {
  os::UniqueLock lock(mutex_);
  turn_.wait_for(lock, time, [&]() CORELANE_REQUIRES(mutex_) { return is_stopped_ || is_new_; });
  is_new_ = false;
  return !is_stopped_;
}

}  // namespace corelane::nameserver
