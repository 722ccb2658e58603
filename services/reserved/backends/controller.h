// Controller: gives one resource besides cores (memory, cache, disk) to the processes of a reservation, by the means of
// this host: one for each resource, chosen by the backend. Resources: all of them together. As with a backend each
// change is written into the journal first, so that all of it can be put back (restore.h).
//
// Threads: as Backend.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "services/reserved/backends/backend.h"

namespace corelane::reserved {

// So much for one reservation. Its process runs in its set already.
struct Portion {
  ReservationId id{};
  Holder holder{};
  std::string group{};  // its own of cgroup v2, see Backend::group_of()
  std::uint64_t amount = 0;
};

class Controller {
 public:
  virtual ~Controller() = default;

  virtual ResourceOffer offer() const = 0;
  // A fault leaves what is half done to take().
  virtual Done<Remarks> give(const Portion& portion) = 0;
  virtual void take(ReservationId id) = 0;  // one that has none is passed over
  // Of what was taken, how much the kernel has not given back yet.
  virtual std::uint64_t held() const { return 0; }
  virtual void sweep() {}  // now and then: what had to wait is tried again
};

// Of a resource that this host does not have.
class NoController final : public Controller {
 public:
  // `lack`: what is missing, and what mends it.
  NoController(Resource which, std::string lack) : which_(which), lack_(std::move(lack)) {}

  ResourceOffer offer() const override { return {.which = which_, .meaning = lack_}; }
  Done<Remarks> give(const Portion&) override { return Unexpected{lack_}; }
  void take(ReservationId) override {}

 private:
  const Resource which_;
  const std::string lack_;
};

class Resources {
 public:
  explicit Resources(Controllers controllers = {}) : controllers_(std::move(controllers)) {}

  std::vector<ResourceOffer> offers() const;
  // All that the reservation is to have; the remarks say of each what it is worth.
  Done<Remarks> give(const Enter& command, const std::string& group);
  void take(ReservationId id);
  ResourceAmounts held() const;
  void sweep();

 private:
  Controllers controllers_;
};

}  // namespace corelane::reserved
