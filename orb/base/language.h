// Included first by every header that users include: what compiles as an older C++ is told so in one error. The second
// one, of a header that there is not, ends the compilation before hundreds more.
#pragma once

#if __cplusplus < 202002L
#error "Corelane's headers need C++20: compile with -std=c++20"
#include <compile with -std=c++20>
#endif
