// A servant that lacks an operation: not to be compiled, but refused in words that name what is missing.
#include "orb/poa/servant.h"

struct Skeleton {
  virtual void step() = 0;
};
struct Controller : Skeleton {};

const auto controller = corelane::poa::make_reference<Controller>();
