#include "optimize/patch_match/edge_planes.hpp"

#include "core/parallel.hpp"

namespace recon {

namespace {

/// The states after a pass.
Image<PatchState> moved(const PatchStates& states, const EdgeImage& reference, const InverseRange& range,
                        const EdgePass& pass) {
  Image<EdgeVoter> voters(states.width, states.height);
  parallel_for(states.height, [&](int y) {
    for (int x = 0; x < states.width; ++x) voters(x, y) = edge_voter(states, x, y, pass.margin);
  });
  Image<PatchState> result(states.width, states.height);
  parallel_for(states.height, [&](int y) {
    for (int x = 0; x < states.width; ++x)
      result(x, y) =
          edge_state(states, x, y, range, pass, reference, [&](int i, int j) { return voters(i, j); });
  });
  return result;
}

}  // namespace

Image<PatchState> with_moved_edges(ImageView<PatchState> states, const EdgeImage& reference,
                                   const InverseRange& range) {
  Image<PatchState> result;
  for (int pass = 0; pass < kEdgePasses; ++pass) {
    const ImageView<PatchState> from = pass == 0 ? states : result.view();
    result = moved({from.data, from.width, from.height, from.pitch}, reference, range, edge_pass(pass));
  }
  return result;
}

}  // namespace recon
