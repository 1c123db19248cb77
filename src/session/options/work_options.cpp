// What is to be done, and with what means.

#include "methods/presets.hpp"
#include "session/options/option.hpp"
#include "session/options/options.hpp"
#include "session/options/pipeline_settings.hpp"

namespace recon {

using namespace jobs;

namespace {

const std::map<std::string, Stage> kStages = {
    {"all", Stage::kAll}, {"estimate", Stage::kEstimate}, {"fuse", Stage::kFuse}};

void set_method(SessionOptions& options, const std::string& keyword) {
  for (const Method method : kMethods)
    if (keyword == method_keyword(method)) options.method = method;
}

std::vector<std::string> method_keywords() {
  std::vector<std::string> keywords;
  keywords.reserve(kMethods.size());
  for (const Method method : kMethods) keywords.push_back(method_keyword(method));
  return keywords;
}

void set_shard(SessionOptions& options, const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto index = to_number<int>(text.substr(0, slash));
  const auto count = slash < text.size() ? to_number<int>(text.substr(slash + 1)) : std::nullopt;
  if (!index || !count || *index < 1 || *index > *count)
    throw UsageError("write I/N with I from 1 to N, such as 2/8");
  options.shard = {*index, *count};
}

/// An option that grants bytes.
template <class Field>
Option limit_option(const char* name, const char* help, Field field) {
  constexpr std::size_t kMin = std::size_t{1} << 20;
  const auto set = [field](SessionOptions& options, const std::string& text) {
    field(options) = parse_byte_size(text);
    if (*field(options) < kMin)
      throw UsageError("it must be a size in bytes of at least 1 MiB, such as 500M or 1.5GiB");
  };
  return Option(name, "SIZE", help, OptionScope::kCommandLine)
      .add({kAll, [](const auto&, Job) { return ""; }, set});
}

/// A switch of the command line.
template <class Field>
Option run_switch(const char* name, const char* help, Field field) {
  return Option(name, "", help, OptionScope::kCommandLine).flag(kAll, field);
}

Option method_option() {
  return Option("method", "NAME",
                "The method. For scenes: planesweep, a plane sweep. For rectified pairs and for scenes: sgm "
                "(semi-global matching), bp (belief propagation), bm (block matching) or pipeline (single "
                "stages over a stored cost volume). In a scene these rectify each view with its best "
                "neighbours and merge the depths on which the pairs agree")
      .add({kAll,
            [](const auto&, Job job) { return method_keyword(job.method); },
            set_method,
            {},
            method_keywords(),
            "scenes: planesweep; pairs: sgm; pipeline with --preset, and for pairs with stages that only it "
            "has"});
}

Option preset_option() {
  return Option(
             "preset", "NAME",
             "A named pipeline: ad-census (Mei et al. 2011), which is --cost ad-census --aggregation cross "
             "--optimizer scanline --refine lr,vote,interpolate,edges,subpixel,median. A stage that is given "
             "replaces the one of the preset")
      .add({kPipeline,
            [](const auto& o, Job) { return o.preset; },
            [](SessionOptions& o, const std::string& name) {
              o.preset = name;
              visit_spec(o, jobs::kPipeline, [](MethodSpec& spec) { spec = presets::named_ad_census(); });
            },
            {},
            {"ad-census"}})
      .in(OptionResult::kPlan);
}

}  // namespace

static void add_run_options(OptionGroup& group) {
  group.add(
      run_switch("dry-run",
                 "Print the plan and do nothing: views, neighbours, depth ranges, planes, memory and "
                 "predicted time. Photos are read only of a scene without sparse points, to choose sources "
                 "by them, and where an earlier run has results. The times of earlier runs are kept in "
                 "$XDG_CACHE_HOME/reconstruct or "
                 "~/.cache/reconstruct and improve the prediction",
                 RECON_FIELD(dry_run)));
  group.add(run_switch(
      "overwrite",
      "Do finished work again, also in a folder with files of other programs, which stay: where one "
      "has the name of a result, the run is refused. Without it, such a folder is refused, and "
      "finished work is kept. Where a run with it is stopped, the same command without it goes on: it "
      "makes again what is left of that",
      RECON_FIELD(overwrite)));
  group
      .add("clean", "",
           "Remove the maps of a view before the check across views as soon as no check needs them: about a "
           "tenth of what a scene takes on the disk. They are estimated again where other options of the "
           "check need "
           "them",
           OptionScope::kCommandLine)
      .flag(kScenes, RECON_FIELD(clean));
  group.add(run_switch("wait", "Wait while another reconstruct writes into the same output folder",
                       RECON_FIELD(wait)));
  group.add("config", "FILE",
            "Read options from a TOML file, such as the options.toml of an earlier run; options of the "
            "command line take precedence, with what they set: --quality the sources, --preset the stages",
            OptionScope::kCommandLine);
}

void add_quality(OptionGroup& group) {
  group
      .add("quality", "WORD",
           "What resolution, sources and passes are where nothing else says it: draft halves the sides of "
           "the images and takes at most 8 sources, high takes more sources and passes")
      .keyword(kScenes, RECON_FIELD(quality), kQualities)
      .in(OptionResult::kPlan, OptionResult::kDepthMaps);  // iterations of patches
}

OptionGroup work_options() {
  OptionGroup group("Work");
  add_quality(group);
  group.add(method_option());
  group.add(preset_option());
  group
      .add("device", "DEVICE", "auto (every usable GPU, else the CPU), cpu, cuda, or GPUs such as cuda:0,2",
           OptionScope::kPlace)
      .text(kAll, RECON_FIELD(device))
      .examples = {"auto", "cpu", "cuda", "cuda:0"};
  group
      .add("output", "DIR", "The output folder; with several inputs, it gets a folder for each",
           OptionScope::kPart)
      .text(kAll, RECON_FIELD(output))
      .described("dense/ in the scene or pair folder; ./dense for two image files")
      .letter = 'o';
  group
      .add(
          "images", "DIR",
          "The folder of the photos, inside the scene or anywhere; the paths of a transforms.json count from "
          "it by their last components",
          OptionScope::kPlace)
      .text(kScenes, RECON_FIELD(images))
      .described("images/ in the scene, blended_images/ beside cams/, or the folder of transforms.json");
  group
      .add(
          "depth-maps", "DIR",
          "Check and fuse the depth maps of this folder, inside the scene or anywhere, instead of estimating "
          "them: files NAME.geometric.bin, NAME.photometric.bin or NAME.bin (COLMAP's arrays), NAME.pfm, "
          "NAME.npy, NAME.png (16 bits) or NAME.exr, where NAME is that of the photo, with or without its "
          "ending; beside them there may be confidences from 0 to 1, NAME.confidence.pfm, .npy or .png. They "
          "are of the "
          "undistorted images, in any resolution",
          OptionScope::kPlace)
      .text(kScenes, RECON_FIELD(given_maps.folder))
      .described("they are estimated");
  group
      .add("depth-unit", "NUMBER",
           "Scene units of one unit of the maps of --depth-maps, such as 0.001 for millimetres in a scene of "
           "metres; maps of whole numbers need it")
      .number(kScenes, RECON_FIELD(given_maps.unit), {1e-30, 1e30})
      .described("1, of floating-point numbers");
  group
      .add("views", "GLOB", "Only the views whose names match this shell pattern get depth maps",
           OptionScope::kPlace)
      .text(kScenes, RECON_FIELD(views));
  group.add("shard", "I/N", "The I-th of N parts of the views, with --stage estimate", OptionScope::kPart)
      .add({kScenes,
            [](const auto& o, Job) {
              return std::to_string(o.shard.index) + "/" + std::to_string(o.shard.count);
            },
            set_shard});
  group
      .add("stage", "NAME",
           "estimate: up to the depth maps of single views; fuse: from these to the cloud; all: both",
           OptionScope::kPart)
      .keyword(kScenes, RECON_FIELD(stage), kStages);
  add_run_options(group);
  return group;
}

OptionGroup machine_options() {
  OptionGroup group("Machine and messages");
  group.add(limit_option("memory-limit", "Max host memory, such as 4GiB", RECON_FIELD(memory_limit))
                .described("what is available"));
  group.add(limit_option("gpu-memory-limit", "Max GPU memory", RECON_FIELD(gpu_memory_limit))
                .described("most of what is free"));
  group
      .add("threads", "N", "Max number of threads; 0: as many as there are processors",
           OptionScope::kCommandLine)
      .number(kAll, RECON_FIELD(threads), {0, kMaxThreads});
  group
      .add("progress", "FORMAT",
           "How progress and messages are written to standard error: text, or json with one object a line: "
           "step, done, total, seconds and, where it is known, left (predicted seconds); warning, error or "
           "message",
           OptionScope::kCommandLine)
      .keyword(kAll, RECON_FIELD(progress), kProgressFormats);
  group.add(run_switch("quiet", "Only warnings and errors", RECON_FIELD(quiet))).letter = 'q';
  group.add(run_switch("verbose", "More messages", RECON_FIELD(verbose))).letter = 'v';
  group.add(
      run_switch("json",
                 "Print one JSON object on standard output instead of the plan or the summary for people, "
                 "also when the run fails: then with exit_code and error",
                 RECON_FIELD(json)));
  group.add("help", "", "Print the options that are used first, and examples", OptionScope::kCommandLine)
      .letter = 'h';
  group.add("help-all", "", "Print all options", OptionScope::kCommandLine);
  group.add("version", "", "Print the version", OptionScope::kCommandLine);
  return group;
}

}  // namespace recon
