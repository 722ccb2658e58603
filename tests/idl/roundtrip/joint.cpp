// All generated files of an IDL file in one translation unit, as in a unity build: stubs and servants, with and without
// asynchronous calls. A test compiles this with each available compiler.
#include "asyncC.cpp"
// The order does not matter.
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
