// The parser of TOML files, where the headers do not contain it (TOML_HEADER_ONLY=0). So the module needs no shared
// library of it, and a wheel works on hosts without that library.
#define TOML_IMPLEMENTATION
#include <toml++/toml.h>
