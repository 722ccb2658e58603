// Every header for users includes this one first. A compiler set to an older C++ stops here with one clear error,
// instead of hundreds of others.
#pragma once

#if __cplusplus < 202002L
#error "Corelane's headers need C++20: compile with -std=c++20"
#include <compile with -std=c++20>
#endif
