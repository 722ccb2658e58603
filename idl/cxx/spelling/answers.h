// Answers stores the answers to one yes/no question about definitions. The answer for a definition is yes if it is yes
// for anything that the definition contains. Each definition is examined once, in any order of questions.
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
  // Returns the answer for `id`, calling `look` if it is not known. `look` asks about what the definition contains. A
  // definition that contains itself adds nothing to its own answer.
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
  // Called when the first question is answered. If its answer is no, the answers of all definitions met on the way are
  // no. If it is yes, a definition in a cycle may have got a wrong no while another one in the cycle was being
  // examined. Such answers are dropped, so that they are asked again.
  void decide(bool yes) {
    for (const DefId id : undecided_)
      if (yes && !known_[id]) known_.erase(id);
    undecided_.clear();
    asking_ = false;
  }

  std::map<DefId, bool> known_;
  std::vector<DefId> undecided_;  // met since the first question
  bool asking_ = false;
};

}  // namespace corelane::idl::cxx
