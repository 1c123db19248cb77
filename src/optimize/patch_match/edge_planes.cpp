#include "optimize/patch_match/edge_planes.hpp"

#include "core/parallel.hpp"

namespace recon {

Image<PatchState> with_moved_edges(ImageView<PatchState> states, ImageView<const std::uint8_t> reference,
                                   const InverseRange& range) {
  EXPECTS(reference.width == states.width && reference.height == states.height);
  const PatchStates view{states.data, states.width, states.height, states.pitch};
  Image<std::uint8_t> inside(states.width, states.height);
  parallel_for(states.height, [&](int y) {
    for (int x = 0; x < states.width; ++x) inside(x, y) = is_inside_surface(view, x, y) ? 1 : 0;
  });
  Image<PatchState> result(states.width, states.height);
  parallel_for(states.height, [&](int y) {
    for (int x = 0; x < states.width; ++x)
      result(x, y) = edge_state(
          view, x, y, range, [&](int i, int j) { return inside(i, j) != 0; },
          [&](int i, int j) { return static_cast<int>(reference(i, j)); });
  });
  return result;
}

std::size_t moved_edges_bytes(int width, int height) {
  return element_count({padded_count<PatchState>(width), height, sizeof(PatchState)}) +
         element_count({padded_count<std::uint8_t>(width), height});
}

}  // namespace recon
