#pragma once

namespace recon {

/// Graph cut: the energy, and how its least value is looked for. Costs and weights share one unit.
struct GraphCutOptions {
  float smoothness = 20.0f;  ///< lambda, for a step of one label where the image is flat; >= 0
  int smoothness_cap = 2;    ///< K >= 1, labels: steps of more cost no more; 1 is the Potts model
  /// Grey levels between two pixels that halve lambda, 0 .. 65535; 0: lambda is the same everywhere.
  int edge_falloff = 16;
  /// Labels allowed at a pixel: those among the `best` of least cost (all that tie with the last one) at a
  /// pixel at most `reach` columns and rows away, and the labels that such pixels have now. 0: all labels.
  int best = 6;
  int reach = 2;
  int band_rows = 128;  ///< of a band, >= 2; 0: the whole image is one graph
  /// Over all labels, at most; >= 1. With these options three come within 0.03 % of the energy of plain
  /// alpha-expansion on the field of Middlebury's tsukuba and within 0.15 % on a sweep of 64 planes.
  int passes = 3;
};

}  // namespace recon
