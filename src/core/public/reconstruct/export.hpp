#pragma once

/// Marks what the shared library exports; all else in it is hidden.
#define RECONSTRUCT_API __attribute__((visibility("default")))
