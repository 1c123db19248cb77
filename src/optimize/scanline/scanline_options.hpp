#pragma once

namespace recon {

/// Scanline optimisation; the defaults are those of Mei et al. 2011, table 1 (for costs in [0, 2]).
struct ScanlineOptions {
  float p1 = 1.0f;          ///< Pi1, penalty of a step to an adjacent plane; >= 0
  float p2 = 3.0f;          ///< Pi2, penalty of a larger step; >= p1
  int edge_threshold = 15;  ///< tau_SO: min colour difference of an edge, grey levels
};

}  // namespace recon
