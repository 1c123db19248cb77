#pragma once

/// Marks what the shared library exports; all else in it is hidden. RECONSTRUCT_BUILDING is defined where the
/// library itself is compiled, RECONSTRUCT_STATIC where it is linked statically.
#if defined(RECONSTRUCT_STATIC) || (!defined(_WIN32) && !defined(__GNUC__))
#define RECONSTRUCT_API
#elif !defined(_WIN32)
#define RECONSTRUCT_API __attribute__((visibility("default")))
#elif defined(RECONSTRUCT_BUILDING)
#define RECONSTRUCT_API __declspec(dllexport)
#else
#define RECONSTRUCT_API __declspec(dllimport)
#endif
