// A servant that lacks an operation. It must not compile, and the compiler's message must name what is missing.
#include "orb/poa/servant.h"

struct Skeleton {
  virtual void step() = 0;
};
struct Controller : Skeleton {};

const auto controller = corelane::poa::make_reference<Controller>();
