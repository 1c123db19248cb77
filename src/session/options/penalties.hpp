#pragma once

#include "session/options/options.hpp"

namespace recon {

/// Penalties in whole steps of the cost: bits, ranks, grey levels, codes of a sweep, or hundredths of
/// AD-Census.
struct Penalties {
  int p1 = 0;       ///< of a step of one disparity
  int p2 = 0;       ///< of a larger one, at most
  int falloff = 0;  ///< grey levels of an edge over which they fall off; 0: they do not
};

/// The penalties of a job's optimizer, or of its graph cut where it has no other; all 0 where nothing is
/// penalised.
Penalties penalties_of(const SessionOptions& options, Job job);

/// Sets one penalty for all methods.
void set_penalty(SessionOptions& options, int Penalties::*member, int value);

/// Why p1 and p2, or p2_falloff, have no effect for a job; empty where they have one.
std::string idle_penalty(const SessionOptions& options, Job job);
std::string idle_falloff(const SessionOptions& options, Job job);

/// Sets the penalties of all optimizers of a pipeline to the defaults for its cost.
void set_default_penalties(PipelineOptions& pipeline);

}  // namespace recon
