// Gives the precompiled Catch2 header a translation unit; catch_main.cpp must not use it.
