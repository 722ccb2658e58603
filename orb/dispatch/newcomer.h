// Newcomer: somebody who asks for admission and waits for a decision: a handler, or the first job of a task. Whoever
// asks allocates it, and so all that waiting takes.
//
// Threads: owned by one at a time.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "orb/base/contract.h"
#include "orb/base/error.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/ceilings.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/job.h"
#include "orb/sched/refusal.h"

namespace corelane::dispatch {

struct Newcomer {
  void refuse(const sched::Refusal& why) noexcept {
    if (handler) handler->refused(why);
    if (job) std::exchange(job, nullptr)->refuse(why);
  }
  void fail(Error error) noexcept {
    if (handler) handler->failed(error);
    if (job) std::exchange(job, nullptr)->fail(error);
  }

  JobId request{};  // none: nobody has looked at it yet
  Contract contract;
  PeerId owner;
  std::string label;
  std::string holder{};
  std::unique_ptr<AdmissionHandler> handler;
  JobPtr job;
  Time asked{};
  Time since{};               // when somebody looked at it first
  CeilingsOfTask ceilings{};  // keeps those of what it would lock
  sched::Refusal refusal{};   // of one who waits for what would have fitted
  std::unique_ptr<Newcomer> next;
};
using NewcomerPtr = std::unique_ptr<Newcomer>;

}  // namespace corelane::dispatch
