// Controller gives one resource besides cores (memory, cache, disk) to the processes of a reservation. The backend
// chooses one controller per resource, as the host allows. Resources is all of them together. As in a backend, each
// change is written into the journal first, so that it can be undone (restore.h).
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

// The amount of a resource for one reservation. The holder's process is already in its set.
struct Portion {
  ReservationId id{};
  Holder holder{};
  std::string group{};  // of cgroup v2, see Backend::group_of()
  std::uint64_t amount = 0;
};

class Controller {
 public:
  virtual ~Controller() = default;

  virtual ResourceOffer offer() const = 0;
  // Gives the resource. After a fault, take() cleans up what is half done.
  virtual Done<Remarks> give(const Portion& portion) = 0;
  virtual void take(ReservationId id) = 0;  // does nothing if the reservation has none
  // Returns how much of what was taken the kernel has not yet given back.
  virtual std::uint64_t held() const { return 0; }
  virtual void sweep() {}  // now and then; retries what had to wait
};

// NoController stands for a resource that this host does not have.
class NoController final : public Controller {
 public:
  // `lack`: what is missing, and how to fix that.
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
  // Gives the reservation all resources it asked for. The remarks say what each promise means.
  Done<Remarks> give(const Enter& command, const std::string& group);
  void take(ReservationId id);
  ResourceAmounts held() const;
  void sweep();

 private:
  Controllers controllers_;
};

}  // namespace corelane::reserved
