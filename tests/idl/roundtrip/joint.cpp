// All that is generated for an IDL file in one translation unit, as a unity build has it: the calls with and without
// replies, and the servants of both. A test compiles it with each compiler that is there.
#include "asyncC.cpp"
// The order has no meaning.
#include "asyncAmiC.cpp"
#include "asyncAmiS.cpp"
#include "asyncS.cpp"
#include "async_baseAmiC.cpp"
#include "async_baseAmiS.cpp"
#include "async_baseC.cpp"
#include "async_baseS.cpp"
#include "externalAmiC.cpp"
#include "externalAmiS.cpp"
#include "externalC.cpp"
#include "externalS.cpp"
