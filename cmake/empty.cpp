// The only source of libraries whose folder holds only headers, because CMake requires at least one source.
