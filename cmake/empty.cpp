// A folder that so far holds only headers still makes a library: CMake wants at least one source.
