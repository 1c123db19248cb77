#pragma once

#include <string>
#include <vector>

#include "methods/method_spec.hpp"

namespace recon {

/// The words of the steps that refine `of`, see kOfPairs; in the order in which they are named.
std::vector<std::string> words_of_steps(unsigned of = kOfPairs | kOfSweeps);

/// The same, each with what it does, unless it does so of `already`, too.
std::vector<std::string> explained_steps(unsigned of, unsigned already = 0);

/// Those of a sweep, unless planes or stages are given.
std::vector<std::string> default_steps();

/// The steps of a list such as "lr,interpolate,median", given in any order, in that of words_of_steps; "none"
/// is an empty one. @throws UsageError that says what the list must be
std::vector<std::string> parse_steps(const std::string& list);

/// The same as text.
std::string format_steps(const std::vector<std::string>& steps);

/// The steps of a method; with `patches`, the optimizer of a sweep, and its steps.
std::vector<std::string> steps_of(const MethodSpec& spec);
void set_steps(MethodSpec& spec, const std::vector<std::string>& steps);

/// The keywords of the costs of sweeps that take colours.
std::vector<std::string> colour_costs();

/// The keyword of a pipeline's cost.
std::string pipeline_cost_keyword(const CostOptions& cost);

/// Sets cost, transform and the default penalties for them.
void set_pipeline_cost(MethodSpec& pipeline, const std::string& keyword);

/// Side of the window of a method, pixels: that of the cost of a sweep, else that of the constant window or
/// of adaptive weights.
int window_of(const MethodSpec& spec);
void set_window(MethodSpec& spec, int side);

/// Penalties in whole steps of the cost: bits, ranks, grey levels, codes of a sweep, or hundredths of
/// AD-Census.
struct Penalties {
  int p1 = 0;       ///< of a step of one disparity
  int p2 = 0;       ///< of a larger one, at most
  int falloff = 0;  ///< grey levels of an edge over which they fall off; 0: they do not
};

/// The penalties of a method's optimizer, or of its graph cut where it has no other; all 0 where nothing is
/// penalised.
Penalties penalties_of(const MethodSpec& spec);

/// Sets one penalty, if the method has any.
void set_penalty(MethodSpec& spec, int Penalties::*member, int value);

/// Whether a method has penalties.
bool penalises_steps(const MethodSpec& spec);

}  // namespace recon
