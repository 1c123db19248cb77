#pragma once

namespace recon {

/// Scanline optimisation; the defaults are those of Mei et al. 2011, table 1 (for costs in [0, 2]).
struct ScanlineOptions {
  float p1 = 1.0f;          ///< Pi1, for a step to an adjacent plane; >= 0
  float p2 = 3.0f;          ///< Pi2, for any larger one; >= p1
  int edge_threshold = 15;  ///< tau_SO: colour difference from which a step crosses an edge, grey levels
};

}  // namespace recon
