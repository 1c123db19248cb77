#include "methods/method_spec.hpp"

#include <stdexcept>
#include <string>

namespace recon {
namespace {

const char* contradiction_of_sweep(const MethodSpec& spec) {
  const Refinement& steps = spec.refine;
  if (spec.whole != WholeMethod::kNone || !is_swept(spec.cost.kind)) return "the cost is one of pairs";
  if (spec.optimizer == Optimizer::kScanline) return "scanlines are followed through pairs only";
  if (steps.left_right || steps.vote || steps.interpolate) return "a sweep has no second view to check";
  if (steps.subpixel || steps.median) return "a sweep interpolates between planes itself";
  if (steps.prior && !steps.patches) return "the planar prior needs patches";
  if (steps.smooth && !steps.patches) return "smooth surfaces of a sweep need patches";
  if (steps.patches && spec.cost.kind != CostKind::kZncc) return "patches are compared by ZNCC";
  return nullptr;
}

const char* contradiction_of_pair(const MethodSpec& spec) {
  const Refinement& steps = spec.refine;
  if (spec.whole == WholeMethod::kSemiGlobal &&
      (spec.cost.kind != CostKind::kTransform || spec.optimizer != Optimizer::kSemiGlobal ||
       spec.aggregation.kind != Aggregation::kNone || steps.graph_cut || steps.vote || steps.interpolate ||
       steps.edges))
    return "as a whole, semi-global matching has a transform, and no aggregation, cut or repair";
  if (spec.whole != WholeMethod::kNone) return nullptr;
  if (is_swept(spec.cost.kind)) return "the cost is one of sweeps";
  if (steps.patches || steps.prior) return "patches and the planar prior belong to a sweep";
  if (!steps.left_right && (steps.vote || steps.interpolate))
    return "what the check of both views finds is repaired: it is missing";
  return nullptr;
}

}  // namespace

const char* contradiction(const MethodSpec& spec, bool depths) {
  return depths ? contradiction_of_sweep(spec) : contradiction_of_pair(spec);
}

void check(const MethodSpec& spec, bool depths) {
  if (const char* reason = contradiction(spec, depths))
    throw std::logic_error(std::string("stages do not belong together: ") + reason);
}

}  // namespace recon
