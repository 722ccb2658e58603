#include "services/nameserver/nameserver.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "orb/core/exception.h"
#include "orb/core/settings.h"
#include "orb/os/clock.h"
#include "orb/os/log.h"
#include "orb/os/thread.h"

namespace corelane::nameserver {
namespace {

// When a servant's thread waits in a call, another thread takes its place, but only best_effort.waiting times. So this
// limits the calls to best_effort.waiting, or to all threads but one. One thread always stays free for other clients.
ForeignLimits foreign_limits(const NameserverSettings& settings, const dispatch::ExecutiveOptions& executive) {
  const std::size_t most =
      std::max(executive.best_effort_waiting, std::max<std::size_t>(executive.best_effort_threads, 1) - 1);
  if (settings.foreign_calls > most)
    os::log::warn("naming: naming.foreign_calls is limited to " + std::to_string(most) +
                  ": more would leave no thread to serve others; see best_effort.waiting");
  return {.calls = std::min(settings.foreign_calls, most), .time = settings.foreign_time};
}

Objects::Limits object_limits(const core::Settings& settings) {
  const auto& own = settings.services.of<NameserverSettings>();
  return {.reference_size = own.reference_size, .foreign = foreign_limits(own, settings.executive)};
}

}  // namespace

Nameserver::Nameserver(CORBA::object_reference<CORBA::ORB> orb, std::unique_ptr<Store> store,
                       const NameserverSettings& settings)
    : store_(std::move(store)),
      tree_(*store_, {.depth = settings.depth, .length = settings.name_length}),
      iterator_age_(settings.iterator_age),
      writers_(settings),
      leases_({.leases = settings.leases, .of_client = settings.client_leases, .longest = settings.longest_lease}),
      log_(kept_changes, settings.depth),
      watches_(log_, {.watches = settings.watches, .of_client = settings.client_watches}),
      objects_(orb, object_limits(orb->settings()),
               [this](ContextId context) { return CORBA::make_reference<Directory>(directory_, context); }),
      iterators_(std::make_shared<Iterators>(
          tree_, objects_,
          IteratorLimits{
              .iterators = settings.iterators, .of_client = settings.client_iterators, .age = settings.iterator_age})),
      directory_{tree_, objects_, *iterators_, leases_, processes_, writers_} {
  store_->on_change([this](const Change& change) { changed(change); });
  log_.learn(*store_);
  restore_leases();
  objects_.activate(root_context);
  for (const ContextId context : store_->contexts().value_or(std::vector<ContextId>{})) objects_.activate(context);
}

void Nameserver::open() {
  auto housekeeper = os::plain_thread<std::thread>([this] { keep_house(); });
  if (!housekeeper) core::raise(housekeeper.error());
  housekeeper_ = std::move(*housekeeper);
  const auto server = CORBA::make_reference<ServerServant>(
      ServerParts{*store_, leases_, processes_, log_, watches_, *iterators_, writers_});
  directory_.server = IDL::traits<Corelane::Naming::Server>::narrow(objects_.helpers()->servant_to_reference(server));
  objects_.orb()->register_initial_reference("NameService", root());
  objects_.open();
}

void Nameserver::stop() {
  // PAIR nameserver.stopped: release here -> acquire in keep_house().
  stopped_.store(true, std::memory_order_release);
  processes_.wake();
  if (housekeeper_.joinable()) housekeeper_.join();
  store_->on_change({});
  watches_.stop();
}

// Thread: any of this nameserver's. If several nameservers share a store, a thread of the store for their changes.
void Nameserver::changed(const Change& change) noexcept try {
  if (change.kind == Change::Kind::made) objects_.activate(change.context);
  if (change.kind == Change::Kind::destroyed) objects_.deactivate(change.context);
  log_.record(change);
  watches_.ring();
} catch (const std::exception& why) {
  os::log::warn(std::string("naming: listeners are not told of a change: ") + why.what());
}

void Nameserver::restore_leases() {
  is_behind_ = store_->status().stale;
  for (const std::string& owner : store_->owners().value_or(std::vector<std::string>{}))
    if (!leases_.restore(owner, os::now())) ended_.push_back(owner);
  watch_processes();
  drop({});
}

// Continues leases of names that an earlier nameserver bound after its store last wrote its copy.
void Nameserver::restore_more_leases() {
  if (!is_behind_ || store_->status().stale) return;
  is_behind_ = false;
  const std::set<std::string> known = leases_.owners();
  for (const std::string& owner : store_->owners().value_or(std::vector<std::string>{})) {
    if (known.contains(owner) || std::ranges::find(ended_, owner) != ended_.end()) continue;
    if (!leases_.restore(owner, os::now())) ended_.push_back(owner);
  }
  watch_processes();
}

// Tries again with each check those processes for which the system had no descriptor yet.
void Nameserver::watch_processes() {
  unwatched_ = false;
  for (const os::ProcessIdentity& process : leases_.processes())
    if (!processes_.add(process)) unwatched_ = true;
}

// Tries again the next time those owners whose names the store could not remove.
void Nameserver::drop(const std::vector<std::string>& owners) {
  ended_.insert(ended_.end(), owners.begin(), owners.end());
  std::erase_if(ended_, [this](const std::string& owner) {
    const auto done = store_->remove_owned(owner);
    if (done) os::log::debug("naming: names of '" + owner + "' are gone");
    return done.has_value();
  });
}

Time Nameserver::next_chore() const {
  const Time now = os::now();
  const Duration look = std::clamp(iterator_age_, shortest_look, longest_look);
  const bool is_soon = unwatched_ || is_behind_ || !ended_.empty();
  return std::min(leases_.next_expiry(), now + (is_soon ? std::min(look, again) : look));
}

// Bound: until stop().
void Nameserver::keep_house() {
  // PAIR nameserver.stopped: acquire here <- release in stop().
  while (!stopped_.load(std::memory_order_acquire)) {
    std::vector<std::string> owners;
    for (const os::ProcessIdentity& process : processes_.wait(next_chore())) {
      auto its = leases_.take_of(process);
      owners.insert(owners.end(), std::make_move_iterator(its.begin()), std::make_move_iterator(its.end()));
      watches_.look_at(process.pid);
    }
    const Time now = os::now();
    auto expired = leases_.take_expired(now);
    owners.insert(owners.end(), std::make_move_iterator(expired.begin()), std::make_move_iterator(expired.end()));
    restore_more_leases();
    drop(owners);
    iterators_->close_older(now);
    if (unwatched_) watch_processes();
  }
}

}  // namespace corelane::nameserver
