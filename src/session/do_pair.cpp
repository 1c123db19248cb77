#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/paths.hpp"
#include "core/pixels.hpp"
#include "core/plain_number.hpp"
#include "io/cloud/ply.hpp"
#include "io/file/output_file.hpp"
#include "io/map/map_files.hpp"
#include "refine/fill.hpp"
#include "session/destination.hpp"
#include "session/options/option_text.hpp"
#include "session/pair/pair_check.hpp"
#include "session/pair/pair_costs.hpp"
#include "session/pair/pair_input.hpp"
#include "session/pair/pair_results.hpp"
#include "session/plan/step_clock.hpp"
#include "session/products/host_memory.hpp"
#include "session/products/stores.hpp"
#include "session/report/measured_steps.hpp"
#include "session/report/pair_report.hpp"
#include "session/resume/overwrite_note.hpp"
#include "session/resume/result_store.hpp"
#include "session/scene/plan_time.hpp"
#include "session/session.hpp"

namespace recon {

namespace {

using nlohmann::json;

/// A right pair has more, unless much of it is flat; of others, as many pixels match by chance.
constexpr double kManyKnown = 0.75;
constexpr double kFewKnown = 0.05;

/// The work on one pair.
struct PairRun {
  const SharedWork& work;
  const Turn& turn;
  PairPlan plan;
  Workspace workspace;
  OverwriteNote overwrite_note{work.options, workspace.root(), {plan.files.left, plan.files.right}};
  ResultStore results{workspace, work.options.overwrite || overwrite_note.is_there()};

  /// Waits until the device is open.
  Backend& backend() const { return *work.backends().front(); }
};

/// What matching leaves, filtered.
struct PairResult {
  Image<float> disparity;
  Image<std::uint8_t> filled;         ///< 255 or 0; empty without --fill
  double known = 0;                   ///< share of pixels with a disparity, before filling
  double filled_share = 0;            ///< of pixels that were filled or replaced
  PreviewEnds colours;                ///< disparities that the colours of the preview begin and end with
  std::vector<std::string> warnings;  ///< of the images
  std::vector<std::string> unheld;    ///< of results whose files do not hold all
  std::string swap_warning;           ///< that the images are swapped; empty: none
  std::string doubt;                  ///< of the warnings, what makes all of the result doubtful; empty: none
  PairFindings findings;
};

json inputs_of(const PairRun& run) {
  return record_inputs(run.plan, run.work.options.recorded({run.plan.job.method, true}));
}

/// Whether the images seem to stand the wrong way round, for people; empty when they do not.
std::string swap_warning(const PairPlan& plan, const GreyPair& images, double known, Backend& backend) {
  // Belief propagation and pipelines give every pixel a disparity, also where nothing matches.
  const std::optional<FusedStages> fused = fused_stages(plan.options);
  const bool always_known = !fused || fused == FusedStages::kBeliefs;
  if (known > kManyKnown && !always_known) return {};
  const OrderShares shares = compare_orders(backend, images, plan.options.range);
  if (!shares.seem_swapped()) return {};
  return fmt::format(
      "the images seem to be swapped: at half the size {:.0f} % of the pixels match, and {:.0f} % the other "
      "way round; give the left image first, or search negative disparities",
      100 * shares.as_given, 100 * shares.swapped);
}

Image<std::uint8_t> fill(const PairRun& run, const PairImages& images, ImageView<float> disparity) {
  const DisparityRange range = run.plan.options.range;
  if (!images.left_colour.empty())
    return fill_disparity(disparity, images.left_colour.view(), range.min, range.count);
  const Image<Rgb8> colour = read_pair_colour(run.plan.files.left, images.levels);
  return fill_disparity(disparity, colour.view(), range.min, range.count);
}

PairResult match(const PairRun& run, const PairImages& images, StepClock& clock) {
  const PairPlan& plan = run.plan;
  const PairProblem problem{images.view(), plan.options, images.colour()};
  PairResult result;
  result.warnings = images.warnings;
  result.findings = check_pair(problem.images, plan.options.range);
  if (!result.findings.textured)
    throw InputError(plan.name() +
                     ": no disparity was found: an image has no texture, every place looks like those beside "
                     "it; give the photos of a scene with texture");
  result.disparity = match_pair(run.backend(), problem, plan.job.min_patch, [&] {
    clock.end("matching");
    check_interrupted();
  });
  result.known = known_share(result.disparity);
  if (result.known == 0)
    throw InputError(plan.name() + ": no disparity was found; " + doubts(plan) + plan.files.advice);
  result.swap_warning = swap_warning(plan, problem.images, result.known, run.backend());
  if (run.plan.job.settings.fill) {
    result.filled = fill(run, images, result.disparity.view());
    result.filled_share = share_of(result.filled, [](std::uint8_t pixel) { return pixel != 0; });
  }
  clock.end("filtering");
  return result;
}

/// Calls `write(path)`, which returns what it wrote, for a file of the output folder, and records it.
template <class Write>
void write_result(const PairRun& run, const char* file, StepRecord& record, const Write& write) {
  check_interrupted();
  record.outputs.push_back({file, write(run.workspace.path(file))});
}

/// Writes depth.png.
void write_stepped_depth(const PairRun& run, ImageView<const float> depth, PairResult& result,
                         StepRecord& record) {
  const PairPlan& plan = run.plan;
  const SteppedDepth stepped = depth_in_16_bits(depth, plan.depth_step);
  write_result(run, pair_file::kDepthPng, record,
               [&](const auto& path) { return write_png16(path, stepped.steps.view()); });
  if (stepped.too_large > 0)
    result.unheld.push_back(fmt::format(
        "{} holds depths up to {} {}; {} pixels beyond are 0 (unknown) in it: {} has them all, a larger "
        "--depth-png holds them",
        pair_file::kDepthPng, plain(65535 * plan.depth_step, 6),
        *unit_name(plan.unit) != 0 ? unit_name(plan.unit) : "units", stepped.too_large, pair_file::kDepth));
}

/// The photo for the report, as far as JPEG holds it.
void write_photo(const PairRun& run, ImageView<const Rgb8> colour, StepRecord& record) {
  constexpr int kMaxJpegSide = 65500;
  if (std::max(colour.width, colour.height) <= kMaxJpegSide)
    write_result(run, pair_file::kPhoto, record, [&](const auto& path) { return write_image(path, colour); });
}

void write_depth(const PairRun& run, ImageView<const Rgb8> colour, PairResult& result, StepRecord& record) {
  const PairPlan& plan = run.plan;
  const Image<float> depth = depth_of_disparity(result.disparity.view(), *plan.camera);
  write_result(run, pair_file::kDepth, record,
               [&](const auto& path) { return write_pfm(path, depth.view()); });
  if (plan.depth_step > 0) write_stepped_depth(run, depth.view(), result, record);
  const PairCloud cloud =
      write_pair_cloud(run.workspace, depth.view(), colour, result.filled.view(), plan.camera->left);
  if (cloud.points == 0)
    throw InputError(plan.name() + ": the cloud is empty: no pixel has a surface around it; " + doubts(plan) +
                     " The disparities are in " + run.workspace.path(pair_file::kDisparity).string());
  record.outputs.push_back({pair_file::kCloud, cloud.files.cloud});
  record.outputs.push_back({pair_file::kVisibility, cloud.files.visibility});
  record.result["points"] = cloud.points;
}

void write_disparity(const PairRun& run, PairResult& result, StepRecord& record) {
  const ImageView<const float> disparity = result.disparity.view();
  write_result(run, pair_file::kDisparity, record,
               [&](const auto& path) { return write_pfm(path, disparity); });
  write_result(run, pair_file::kDisparityPng, record,
               [&](const auto& path) { return write_png16(path, disparity_in_16_bits(disparity).view()); });
  write_result(run, pair_file::kPreview, record, [&](const auto& path) {
    return write_image(path, disparity_preview(disparity, &result.colours).view());
  });
  if (!result.filled.empty())
    write_result(run, pair_file::kFilled, record,
                 [&](const auto& path) { return write_image(path, result.filled.view()); });
}

/// The warnings; sets the doubt.
json warnings_of(const PairPlan& plan, PairResult& result) {
  json warnings = result.warnings;
  if (!plan.calibration_fault.empty()) warnings.push_back(plan.calibration_fault);
  const auto warn = [&](const std::string& text, const std::string& advice, bool of_all) {
    warnings.push_back(plan.name() + ": " + text + advice);
    if (of_all && result.doubt.empty()) result.doubt = text.substr(0, text.find_first_of(":;"));
  };
  if (result.findings.same) warn("both are the same image: give the photos of both cameras", "", true);
  // Rows of swapped images correspond to others.
  const bool swapped = !result.swap_warning.empty();
  const std::string rows = swapped ? "" : rows_warning(result.findings, plan.size.width);
  const std::string searched = range_warning(result.findings, plan.options.range);
  for (const std::string& text : {scene_warning(result.findings), rows})
    if (!text.empty()) warn(text, plan.files.advice, true);
  if (swapped)
    warn(result.swap_warning, "", true);
  else if (rows.empty() && !searched.empty())
    warn(searched, "", 2 * (result.findings.below_min + result.findings.above_max) > result.findings.in_row);
  else if (const double known = result.known / searched_share(plan); known < kFewKnown)
    warn(fmt::format("only {:.2f} % of the pixels have a disparity{}; {}", 100 * known,
                     searched_share(plan) < 1 ? " in --roi" : "", doubts(plan)),
         "", true);
  const DisparityRange range = plan.options.range;
  if (range.min < 0 || range.min + range.count > 256)
    warnings.push_back(std::string(pair_file::kDisparityPng) +
                       " holds disparities from 0 to 255.99 px, others are 0 (unknown) in it; " +
                       pair_file::kDisparity + " has them all");
  return warnings;
}

/// Warnings of the files that somebody has changed, which are kept under other names.
std::vector<std::string> name_changed_files(PairRun& run) {
  std::vector<std::string> changed = run.results.take_changed();
  for (const std::string& text : changed) messages().warn("{}", text);
  return changed;
}

/// Removes results of an earlier run, and its report.
/// @returns  warnings of the files that somebody has changed, which are kept
std::vector<std::string> remove_earlier(PairRun& run, const std::vector<std::string>& files) {
  run.results.begin({Step::kPair});
  run.results.keep_changed({Step::kRun, report_files({}).name});
  for (const char* report : {pair_file::kReport, pair_file::kReportPage})
    run.workspace.owned().remove(report);
  for (const std::string& file : files) run.workspace.owned().remove(file);
  return name_changed_files(run);
}

/// Matches the images and writes what comes of it. The results of an earlier run stay until then.
void match_and_write(PairRun& run, const PairImages& images, json inputs, StepClock& clock) {
  const PairPlan& plan = run.plan;
  PairResult result = match(run, images, clock);
  StepRecord record;
  record.inputs = std::move(inputs);
  const std::vector<std::string> changed = remove_earlier(run, {});
  json warnings = warnings_of(plan, result);
  if (!result.doubt.empty()) record.result["doubt"] = result.doubt;
  for (const json& warning : warnings) messages().warn("{}", warning.get<std::string>());
  for (const std::string& text : changed) warnings.push_back(text);
  write_disparity(run, result, record);
  {
    const Image<Rgb8> colour = read_pair_colour(plan.files.left, colour_levels(plan.files));
    write_photo(run, colour.view(), record);
    if (plan.camera) write_depth(run, colour.view(), result, record);
  }
  for (const std::string& warning : result.unheld) {
    messages().warn("{}", warning);
    warnings.push_back(warning);
  }
  record.result.update({{"device", run.backend().name()},
                        {"known", known_share(result.disparity)},
                        {"filled", result.filled_share},
                        {"colours", {result.colours.low, result.colours.high}},
                        {"warnings", std::move(warnings)}});
  run.results.put({Step::kPair}, std::move(record));
  clock.end("writing");
}

const StepRecord& do_work(PairRun& run, json inputs, StepClock& clock) {
  pair_memory(run.plan, run.backend(), run.turn.memory());
  clock.end("opening the device");
  const PairImages images = read_pair_images(run.plan);
  clock.end("reading the images");
  check_interrupted();
  try {
    match_and_write(run, images, std::move(inputs), clock);
  } catch (const InputError&) {  // there is no result, and that of other options must not pass for one
    remove_earlier(run, pair_files());
    throw;
  }
  return *run.results.get({Step::kPair});
}

OutputAccess output_access(const PairRun& run) {
  return {OutputKind::kPair,
          run.work.options.overwrite,
          run.work.options.wait,
          {},
          pair_output(run.plan).files,
          {resolved_path(run.plan.files.left).string(), resolved_path(run.plan.files.right).string()}};
}

/// @throws UsageError where a file that is read would be written over
void check_inputs(const PairRun& run, const OutputAccess& access) {
  const PairFiles& files = run.plan.files;
  check_inputs_stay(run.workspace.root(), access.files, {files.left, files.right, files.calibration});
}

/// @throws UsageError where the folder holds the results of another pair, or of these images in the other
/// order: an image of it has another path, and another content. A photo that was moved or edited is the same.
void refuse_other_pair(const PairRun& run, const OutputAccess& access, const json& inputs) {
  const std::vector<std::string> marked = marked_inputs(run.workspace);
  const auto record = read_record(run.workspace.path(Workspace::record_file(Step::kPair)));
  if (run.results.overwrites() || marked.size() != access.inputs.size() || !record ||
      !record->inputs.is_object())
    return;
  const auto is_other = [&](std::size_t i, const char* image) {
    return marked[i] != access.inputs[i] && record->inputs.contains(image) &&
           record->inputs.at(image) != inputs.at(image);
  };
  if (is_other(0, "left") || is_other(1, "right"))
    throw UsageError(fmt::format(
        "{} holds the results of {} and {}, and the images of this run are {} and {}; choose another folder "
        "with --output, or give --overwrite to replace them",
        run.workspace.root().string(), marked[0], marked[1], access.inputs[0], access.inputs[1]));
}

/// Sizes, disparities, memory, and the time of the matching.
Outcome plan_pair(PairRun& run) {
  const PairPlan& plan = run.plan;
  const OutputAccess access = output_access(run);
  check_inputs(run, access);
  check_output(run.workspace, access);
  const json inputs = inputs_of(run);
  refuse_other_pair(run, access, inputs);
  run.workspace.check_free_space(pair_output(plan).bytes);
  run.work.notice->permit();
  const MemoryPlan memory = pair_memory(plan, run.backend(), run.turn.memory());
  const bool kept = run.results.find({Step::kPair}, inputs) != nullptr;
  const double seconds = kept ? 0 : PairTime(plan, run.work.backends(), run.turn.threads()).seconds();
  return {0, pair_plan_json(plan, run.workspace, memory, pair_output(plan).bytes, seconds),
          pair_plan_text(plan, run.workspace, memory, run.results, seconds)};
}

/// The time of the matching improves the predictions of later runs.
void learn_time(const PairRun& run, const StepTimes& times) {
  if (!run.turn.alone()) return;  // beside others it takes longer
  for (const auto& [step, seconds] : times)
    if (step == "matching") PairTime(run.plan, run.work.backends(), run.turn.threads()).learn(seconds);
}

void write_options(PairRun& run) {
  run.results.write(options_files(), [&run] {
    write_file_if_changed(run.workspace.path(Workspace::options_file()),
                          run.work.options.resolved({run.plan.job.method, true}));
  });
}

/// @param record  of the result
/// @returns the report that is written
json write_reports(PairRun& run, const StepRecord& record, const MeasuredRun& measured,
                   const StepTimes& times) {
  run.results.keep_changed({Step::kRun, report_files({}).name});
  json report = pair_report_json(run.plan, run.workspace, record, measured, times);
  const Job job{run.plan.job.method, true};
  report["options"] = run.work.options.resolved(job);
  report["option_values"] = option_values(run.work.options.resolved_values(job));
  for (const std::string& text : name_changed_files(run)) report["warnings"].push_back(text);
  run.results.write(report_files({}), [&] {
    write_file(run.workspace.path(pair_file::kReport), json_text(report));
    write_file(run.workspace.path(pair_file::kReportPage), pair_page(report, run.plan, run.workspace));
    sync_folder_of(run.workspace.path(pair_file::kReport));
  });
  return report;
}

/// Finished and unchanged results are kept.
Outcome run_pair(PairRun& run, StepClock& clock) {
  const PairPlan& plan = run.plan;
  const Workspace& workspace = run.workspace;
  const OutputAccess access = output_access(run);
  check_inputs(run, access);
  const TakenOutput output = take_output(workspace, access);
  json inputs = inputs_of(run);
  refuse_other_pair(run, access, inputs);
  workspace.check_free_space(pair_output(plan).bytes);
  mark_output(workspace, access.kind, access.files, access.inputs);
  run.work.notice->permit();
  const MeasuredRun earlier = read_measured_run(workspace.path(pair_file::kReport));
  if (run.results.overwrites()) run.results.supersede({Step::kPair});
  run.overwrite_note.remove();
  if (!output.has_results) write_options(run);
  const StepRecord* record = run.results.find({Step::kPair}, inputs);
  clock.end("checking what is there");
  const bool kept = record != nullptr;
  if (kept) messages().info("{}: the result is finished and kept", plan.name());
  if (const std::string reason = run.results.reason({Step::kPair}); !reason.empty())
    messages().info("{}: stale results are made again: {}", plan.name(), reason);
  if (!kept) {
    record = &do_work(run, std::move(inputs), clock);
    learn_time(run, clock.times());
  }
  write_options(run);
  const MeasuredRun measured =
      measured_run(kept, clock.times(),
                   program_json(run.work.options.commit, record->result.value("device", "")), earlier);
  const json report = write_reports(run, *record, measured, clock.times());
  output.finish();
  return {0, report, pair_summary(report), workspace.path(pair_file::kReportPage).string()};
}

}  // namespace

Outcome do_pair(const PairFiles& files, const SharedWork& work, const Turn& turn) {
  StepClock clock;
  PairRun run{work, turn, make_pair_plan(files, work.options.pair_job()),
              Workspace(Destination{work.options.inputs, work.options.output}.of(files, work.in_session))};
  work.require_device();
  if (const std::string& note = run.plan.calibration_note; !note.empty())
    messages().info("{}: {}", run.plan.files.calibration.string(), note);
  return work.options.dry_run ? plan_pair(run) : run_pair(run, clock);
}

}  // namespace recon
