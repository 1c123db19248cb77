// Compiled for its precompiled headers.
