// declared.idl and apart.idl in one translation unit, as a joint build of a library of IDL has them: first what only
// declares the types, then what defines them. A test compiles it with each compiler that is there.
#include "declaredC.cpp"
// This order is the test.
#include "apartC.cpp"
// The same of servants.
#include "declaredS.cpp"
// The last of the four.
#include "apartS.cpp"
