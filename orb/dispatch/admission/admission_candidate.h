// AdmissionCandidate is a request for admission that waits for a decision. It comes from a handler, or with the first
// job of a task. The thread that asks allocates it, including all that waiting takes.
//
// Threads: owned by one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "orb/base/contract.h"
#include "orb/base/error.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/job.h"
#include "orb/dispatch/resources/ceilings.h"
#include "orb/sched/refusal.h"

namespace corelane::dispatch {

struct AdmissionCandidate {
  void refuse(const sched::Refusal& why) noexcept {
    if (handler) handler->refused(why);
    if (job) std::exchange(job, nullptr)->refuse(why);
  }
  void fail(Error error) noexcept {
    if (handler) handler->failed(error);
    if (job) std::exchange(job, nullptr)->fail(error);
  }

  JobId request{};  // none: it was not looked at yet
  Contract contract;
  PeerId owner;
  std::string label;
  std::string holder{};
  std::unique_ptr<AdmissionHandler> handler;
  JobPtr job;
  Time asked{};
  Time since{};               // when it was first looked at
  CeilingsOfTask ceilings{};  // keeps the ceilings of the resources that it would lock
  sched::Refusal refusal{};   // while it waits for a contract that would have fitted
  std::unique_ptr<AdmissionCandidate> next;
};
using AdmissionCandidatePtr = std::unique_ptr<AdmissionCandidate>;

}  // namespace corelane::dispatch
