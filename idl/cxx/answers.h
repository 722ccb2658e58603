// Answers: what is known of definitions by one question, whose answer is yes where it is yes for anything that a
// definition holds. Each definition is looked into once, in whichever order they are asked about.
//
// Threads: none.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "idl/model/model.h"

namespace corelane::idl::cxx {

class Answers {
 public:
  // `look`: asks of what the definition holds. A definition that holds itself adds nothing to its own answer.
  template <typename Look>
  bool of(DefId id, const Look& look) {
    const auto [entry, is_new] = known_.try_emplace(id, false);
    if (!is_new) return entry->second;
    undecided_.push_back(id);
    const bool is_first = !std::exchange(asking_, true);
    const bool yes = entry->second = look();
    if (is_first) decide(yes);
    return yes;
  }

 private:
  // Where the first one asked about is a no, all that were met are. Else those within a circle may have been called no
  // while another of it was being looked into: they are asked again.
  void decide(bool yes) {
    for (const DefId id : undecided_)
      if (yes && !known_[id]) known_.erase(id);
    undecided_.clear();
    asking_ = false;
  }

  std::map<DefId, bool> known_;
  std::vector<DefId> undecided_;  // met since the first one was asked about
  bool asking_ = false;
};

}  // namespace corelane::idl::cxx
