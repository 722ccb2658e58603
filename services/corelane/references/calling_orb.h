// CallingOrb owns the ORB of a command that calls objects, and destroys it at the end.
// Threads: none of its own but the ORB's.
#pragma once

#include <string>
#include <vector>

#include "orb/corba/init_orb.h"

namespace corelane::tool {

class CallingOrb {
 public:
  // `id` distinguishes the ORBs of a process. Raises what ORB_init raises.
  CallingOrb(const std::string& id, const std::vector<std::string>& options) : orb_(corba::init_orb(options, id)) {}
  CallingOrb(const CallingOrb&) = delete;
  CallingOrb& operator=(const CallingOrb&) = delete;
  ~CallingOrb() {
    try {
      orb_->destroy();
    } catch (const CORBA::Exception&) {
      // The command has its answer already, even if the ORB has ended or may not be destroyed here.
    }
  }

  CORBA::ORB& operator*() const { return *orb_; }
  CORBA::ORB* operator->() const { return orb_.get(); }

 private:
  const CORBA::object_reference<CORBA::ORB> orb_;
};

}  // namespace corelane::tool
