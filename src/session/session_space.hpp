#pragma once

#include <cstddef>
#include <vector>

#include "session/input.hpp"
#include "session/options/scene_settings.hpp"

namespace recon {

/// Adds up what the inputs of a session are still to write, at most, on each file system. Those that are
/// finished, by their records, write nothing; those whose plan cannot be made say why when it is their turn.
/// @param settings, pair  of the scenes and the pairs among them
/// @param memory          bytes of the host
/// @throws OutputError where there is too little space; Interrupted
void check_session_space(const std::vector<Input>& inputs, const SceneSettings& settings, const PairJob& pair,
                         const Destination& destination, std::size_t memory);

}  // namespace recon
