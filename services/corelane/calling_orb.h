// CallingOrb: the ORB of a command that calls objects, for as long as it calls them.
// Threads: none of its own but the ORB's.
#pragma once

#include <string>
#include <vector>

#include "orb/corba/init_orb.h"

namespace corelane::tool {

class CallingOrb {
 public:
  // `id` tells the ORBs of a process apart. Raises what ORB_init raises.
  CallingOrb(const std::string& id, const std::vector<std::string>& options) : orb_(corba::init_orb(options, id)) {}
  CallingOrb(const CallingOrb&) = delete;
  CallingOrb& operator=(const CallingOrb&) = delete;
  ~CallingOrb() {
    try {
      orb_->destroy();
    } catch (const CORBA::Exception&) {
      // The command has its answer, whoever else has ended the ORB or forbids it here.
    }
  }

  CORBA::ORB& operator*() const { return *orb_; }
  CORBA::ORB* operator->() const { return orb_.get(); }

 private:
  const CORBA::object_reference<CORBA::ORB> orb_;
};

}  // namespace corelane::tool
