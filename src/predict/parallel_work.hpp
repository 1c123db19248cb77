#pragma once

#include <vector>

#include "core/wavefront.hpp"
#include "optimize/belief/belief_layout.hpp"
#include "optimize/semi_global/semi_global_step.hpp"

namespace recon {

/// Work shared by threads, including idle time: the number of threads times the work of the one that ends
/// last. Of one thread that is the work itself.

/// Of parts that are scheduled dynamically, in their order.
double shared_work(const std::vector<double>& parts, int threads);

/// Of `count` equal parts.
double shared_evenly(double work, int count, int threads);

/// Pieces of a wavefront, see core/wavefront.hpp: a band begins when the one above is so far ahead that it
/// need not wait again.
double wavefront_work(int rows, int columns, const WavefrontShape& shape, int threads);

/// Samples of the passes of the semi-global optimizer of a CPU: columns in pieces of 32, planes in steps of
/// 64. A narrow image has fewer pieces in a row than all threads need.
double path_work(int width, int height, int planes, const SemiGlobalOptions& options, int max_cost,
                 int threads);

/// Message elements of belief propagation on a CPU: on each level 4 D for every pixel and iteration, and for
/// what tiles work out again beyond their borders. Coarse levels have fewer tiles than there are threads.
double belief_work(int width, int height, int planes, const BeliefOptions& options, int threads);

}  // namespace recon
