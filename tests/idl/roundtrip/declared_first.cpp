// declared.idl and apart.idl in one translation unit, as in a unity build of a library of IDL. The file that only
// declares the types comes first, then the file that defines them. A test compiles this with each available compiler.
#include "declaredC.cpp"
// This order is what the test is about.
#include "apartC.cpp"
// The same for servants.
#include "declaredS.cpp"
// The last of the four.
#include "apartS.cpp"
