// The scenes and pairs that paths, folders, lists and patterns name.

#include "session/input.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "core/error.hpp"
#include "session/destination.hpp"
#include "session/folder_fixture.hpp"
#include "session/report/page.hpp"
#include "session/report/session_report.hpp"
#include "session/resume/output_folder.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Inputs : public Folder {
 protected:
  /// The files that make a folder a scene.
  void write_scene(const std::string& name) const {
    for (const char* file : {"/images/x.png", "/sparse/cameras.txt", "/sparse/images.txt"})
      write(name + file, "");
  }
};

std::string reason_of_only(const std::vector<Input>& inputs) {
  if (inputs.size() != 1) return std::to_string(inputs.size()) + " inputs";
  return std::get<UnusableInput>(inputs.front()).reason;
}

/// What the expansion of inputs throws.
std::string refusal(const std::vector<fs::path>& inputs) {
  try {
    expand_inputs(inputs);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST_F(Inputs, ScenesAreFoundInFolders) {
  write("b/images/x.png", "");
  write("b/sparse/0/cameras.bin", "");
  write("b/sparse/0/images.bin", "");
  write("a/images/x.png", "");
  write("a/sparse/cameras.txt", "");
  write("a/sparse/images.txt", "");
  write("not-a-scene/readme.txt", "");
  const std::vector<Input> scenes = expand_inputs({folder_});
  ASSERT_EQ(scenes.size(), 2u);
  EXPECT_EQ(std::get<SceneFolder>(scenes[0]).root, folder_ / "a");
  EXPECT_EQ(std::get<SceneFolder>(scenes[1]).model, folder_ / "b/sparse/0");
  EXPECT_EQ(expand_inputs({folder_ / "b"}).size(), 1u);
  EXPECT_EQ(reason_of_only(expand_inputs({folder_ / "nothing"})), "there is no such file or folder");
  EXPECT_THAT(reason_of_only(expand_inputs({folder_ / "not-a-scene"})), HasSubstr("no folder images/"));
}

TEST_F(Inputs, ScenesOfOtherFormatsAreFoundInFolders) {
  write("a/transforms.json", "");
  write("a/images/x.png", "");
  write("b/transforms_train.json", "");
  write("c/images/0.jpg", "");
  write("c/cams/0_cam.txt", "");
  write("d/images/0.jpg", "");
  write("d/cams/pair.txt", "");
  write("e/cams/0_cam.txt", "");
  const std::vector<Input> scenes = expand_inputs({folder_});
  ASSERT_EQ(scenes.size(), 5u);
  const auto a = std::get<SceneFolder>(scenes[0]), b = std::get<SceneFolder>(scenes[1]),
             c = std::get<SceneFolder>(scenes[2]);
  EXPECT_EQ(a.format, SceneFormat::kNerf);
  EXPECT_EQ(a.images, folder_ / "a") << "names in the file begin with images/";
  EXPECT_EQ(b.model, folder_ / "b/transforms_train.json");
  EXPECT_EQ(c.format, SceneFormat::kMvsnet);
  EXPECT_EQ(c.model, folder_ / "c/cams");
  EXPECT_EQ(c.images, folder_ / "c/images");
  EXPECT_THAT(std::get<UnusableInput>(scenes[3]).reason, HasSubstr("nor cams/NAME_cam.txt"));
  EXPECT_THAT(std::get<UnusableInput>(scenes[4]).reason, HasSubstr("no folder images/"));
}

TEST_F(Inputs, AFolderSparseIsThatOfColmapWhateverIsBesideIt) {
  for (const char* file : {"a/transforms.json", "a/images/0.jpg", "a/cams/0_cam.txt", "a/sparse/cameras.txt"})
    write(file, "");
  EXPECT_THAT(reason_of_only(expand_inputs({folder_ / "a"})), HasSubstr("has no cameras and images"));
  write("a/sparse/images.txt", "");
  const std::vector<Input> scenes = expand_inputs({folder_ / "a"});
  ASSERT_EQ(scenes.size(), 1u);
  EXPECT_EQ(std::get<SceneFolder>(scenes[0]).format, SceneFormat::kColmap);
}

TEST_F(Inputs, PhotosOfBlendedMvsLieElsewhere) {
  for (const char* file : {"a/cams/0_cam.txt", "a/blended_images/0.jpg", "b/cams/0_cam.txt", "b/images/0.jpg",
                           "b/blended_images/0.jpg", "c/blended_images/0.jpg"})
    write(file, "");
  const auto images_of = [&](const char* scene) {
    return std::get<SceneFolder>(expand_inputs({folder_ / scene}).front()).images;
  };
  EXPECT_EQ(images_of("a"), folder_ / "a/blended_images");
  EXPECT_EQ(images_of("b"), folder_ / "b/images");
  EXPECT_THAT(reason_of_only(expand_inputs({folder_ / "c"})), HasSubstr("--images names another folder"));
}

TEST_F(Inputs, PhotosMayLieInAnyFolder) {
  for (const char* file :
       {"a/sparse/cameras.txt", "a/sparse/images.txt", "a/photos/0.jpg", "b/transforms.json",
        "c/cams/0_cam.txt", "d/sparse/cameras.txt", "d/sparse/images.txt", "d/images/0.jpg", "photos/0.jpg"})
    write(file, "");
  const auto with_images = [&](const char* scene, const fs::path& images) {
    return expand_inputs({folder_ / scene}, images);
  };
  const auto scene = std::get<SceneFolder>(with_images("a", "photos").front());
  EXPECT_EQ(scene.images, folder_ / "a/photos") << "inside the scene first";
  EXPECT_TRUE(scene.images_given);
  for (const char* name : {"a", "b", "c", "d"})
    EXPECT_EQ(std::get<SceneFolder>(with_images(name, folder_ / "photos").front()).images,
              folder_ / "photos");
  const fs::path here = fs::current_path();
  fs::current_path(folder_);
  EXPECT_EQ(std::get<SceneFolder>(with_images("d", "photos").front()).images, "photos") << "else from here";
  for (const std::vector<fs::path>& several : {std::vector<fs::path>{"a", "d"}, {"."}})
    for (const Input& input : expand_inputs(several, "photos")) {
      const auto* const unusable = std::get_if<UnusableInput>(&input);
      ASSERT_EQ(unusable == nullptr, input_name(input).filename() == "a") << input_name(input);
      if (unusable != nullptr) {
        EXPECT_THAT(unusable->reason, HasSubstr("an absolute path names one for all"));
      }
    }
  fs::current_path(here);
  EXPECT_THAT(reason_of_only(with_images("a", "absent")), HasSubstr("--images absent is no folder"));
  EXPECT_FALSE(std::get<SceneFolder>(expand_inputs({folder_ / "d"}).front()).images_given);
}

TEST_F(Inputs, TheLargestOfSeveralModelsIsReadWhichIsSaid) {
  const std::string view = " 1 0 0 0 0 0 0 1 a.png\n\n";
  write("a/images/x.png", "");
  for (const auto& [number, images] :
       {std::pair("0", "1" + view), {"1", "1" + view + "2" + view}, {"2", ""}}) {
    write("a/sparse/" + std::string(number) + "/cameras.txt", "");
    write("a/sparse/" + std::string(number) + "/images.txt", images);
  }
  const auto scene = std::get<SceneFolder>(expand_inputs({folder_}).front());
  EXPECT_EQ(scene.model, folder_ / "a/sparse/1");
  ASSERT_EQ(scene.warnings.size(), 1u);
  EXPECT_THAT(scene.warnings[0], HasSubstr("sparse/1 has 2 images and is read"));
  EXPECT_THAT(scene.warnings[0], HasSubstr("are not: 0 with 1, 2 with 0;"));
  fs::remove_all(folder_ / "a/sparse/0");
  fs::remove_all(folder_ / "a/sparse/2");
  EXPECT_TRUE(std::get<SceneFolder>(expand_inputs({folder_}).front()).warnings.empty());
}

TEST_F(Inputs, APartOfASceneSuggestsTheScene) {
  for (const char* file : {"colmap/images/sub/0.jpg", "colmap/images/1.jpg", "colmap/sparse/0/cameras.bin",
                           "colmap/sparse/0/images.bin", "nerf/transforms.json", "nerf/images/0.jpg",
                           "mvsnet/cams/0_cam.txt", "mvsnet/images/0.jpg", "other/images/0.jpg"})
    write(file, "");
  for (const char* part :
       {"colmap/images", "colmap/images/", "colmap/images/sub", "colmap/sparse", "colmap/sparse/0"})
    EXPECT_THAT(reason_of_only(expand_inputs({folder_ / part})),
                HasSubstr("part of the scene " + (folder_ / "colmap").string() + ": give that folder"))
        << part;
  EXPECT_THAT(reason_of_only(expand_inputs({folder_ / "nerf/images"})),
              HasSubstr((folder_ / "nerf: ").string()));
  EXPECT_THAT(reason_of_only(expand_inputs({folder_ / "mvsnet/cams"})),
              HasSubstr((folder_ / "mvsnet: ").string()));
  EXPECT_THAT(reason_of_only(expand_inputs({folder_ / "other/images"})), testing::Not(HasSubstr("part of")));
  for (const char* file : {"nerf/transforms.json", "colmap/sparse/0/cameras.bin", "colmap/images/1.jpg"})
    try {
      expand_inputs({folder_ / file});
      ADD_FAILURE() << file;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("give that folder")) << file;
    }
  const fs::path here = fs::current_path();
  fs::current_path(folder_ / "colmap");
  EXPECT_THAT(reason_of_only(expand_inputs({"images"})), HasSubstr("part of the scene .: give that folder"));
  EXPECT_THAT(reason_of_only(expand_inputs({"../nerf/images"})), HasSubstr("part of the scene ../nerf: "));
  fs::current_path(here);
}

TEST_F(Inputs, ScenesAreFoundAtAnyDepthButNotAmongResults) {
  for (const char* scene : {"day1/a", "day2/deep/er/a", "out/a", ".hidden/a"}) {
    write(std::string(scene) + "/images/x.png", "");
    write(std::string(scene) + "/sparse/cameras.txt", "");
    write(std::string(scene) + "/sparse/images.txt", "");
  }
  write("day2/deep/half/images/x.png", "");
  mark_output(Workspace(folder_ / "out/a"), OutputKind::kScene);
  fs::create_directory_symlink(folder_, folder_ / "day1/circle");
  const std::vector<Input> inputs = expand_inputs({folder_});
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_EQ(std::get<SceneFolder>(inputs[0]).root, folder_ / "day1/a");
  EXPECT_EQ(std::get<SceneFolder>(inputs[1]).root, folder_ / "day2/deep/er/a");
  EXPECT_EQ(std::get<UnusableInput>(inputs[2]).path, folder_ / "day2/deep/half");
  Destination destination{{folder_}, "out"};
  EXPECT_EQ(destination.of(inputs[0], true), "out/day1/a");
  EXPECT_EQ(destination.of(inputs[1], true), "out/day2/deep/er/a") << "of the same name, elsewhere";
  EXPECT_EQ(destination.of(inputs[1], false), "out");
  EXPECT_NO_THROW(destination.check(inputs));
  EXPECT_EQ(destination.session_folder(), "out");
  destination.output.clear();
  EXPECT_EQ(destination.session_folder(), folder_);
  destination.given = {folder_ / "day1", folder_ / "day2"};
  EXPECT_EQ(destination.session_folder(), "");
}

TEST_F(Inputs, ListsAndPatternsNameScenes) {
  for (const char* scene : {"s1/model", "s2/model", "t/model"}) {
    write(std::string(scene) + "/images/x.png", "");
    write(std::string(scene) + "/sparse/cameras.txt", "");
    write(std::string(scene) + "/sparse/images.txt", "");
  }
  const auto roots = [](const std::vector<Input>& inputs) {
    std::vector<fs::path> paths;
    for (const Input& input : inputs) paths.push_back(input_name(input));
    return paths;
  };
  const std::vector<fs::path> both = {folder_ / "s1/model", folder_ / "s2/model"};
  EXPECT_EQ(roots(expand_inputs({folder_ / "s?/model"})), both);
  EXPECT_EQ(reason_of_only(expand_inputs({folder_ / "u*/model"})), "there is no such file or folder");
  write("list.txt", "# scenes\r\n\n  t/model \n" + (folder_ / "s*").string() + "\nmissing\n");
  EXPECT_EQ(roots(expand_inputs({folder_ / "list.txt"})),
            (std::vector<fs::path>{folder_ / "t/model", both[0], both[1], folder_ / "missing"}));
  write("empty.txt", "# nothing\n");
  EXPECT_THROW(expand_inputs({folder_ / "empty.txt"}), InputError);
}

TEST_F(Inputs, OfListsAreNamedWithTheRuleThatTheyBreak) {
  const fs::path list = folder_ / "list.txt";
  write("list.txt", "lists/scene\n");
  EXPECT_EQ(reason_of_only(expand_inputs({list})), "there is no such file or folder; the paths in " +
                                                       list.string() +
                                                       " are relative to the folder of the list");
  write("list.txt", "/lists/scene\n");
  EXPECT_EQ(reason_of_only(expand_inputs({list})), "there is no such file or folder");
  write("left.png", "");
  write("list.txt", "left.png\nright.png\n");
  EXPECT_THAT(refusal({list}), HasSubstr("relative to the folder of the list"));
  write("scenes.lst", "s\n");
  write("s/images/x.png", "");
  const std::string rule = "; if " + (folder_ / "scenes.lst").string() +
                           " is a list of scenes: the name of a list has to end in .txt";
  EXPECT_THAT(refusal({folder_ / "scenes.lst"}), HasSubstr(rule));
  EXPECT_THAT(refusal({folder_ / "s", folder_ / "scenes.lst"}), HasSubstr(rule));
  EXPECT_THAT(refusal({folder_ / "left.png"}), testing::Not(HasSubstr("a list of scenes")));
}

TEST_F(Inputs, PartsOfScenesAreUnusableInputs) {
  write("a/images/x.png", "");
  write("b/images/x.png", "");
  write("b/sparse/cameras.txt", "");
  write("b/sparse/images.txt", "");
  write("c/sparse/cameras.txt", "");
  write("notes/readme.txt", "");
  const std::vector<Input> inputs = expand_inputs({folder_});
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_THAT(std::get<UnusableInput>(inputs[0]).reason, HasSubstr("no folder sparse/"));
  EXPECT_EQ(std::get<SceneFolder>(inputs[1]).root, folder_ / "b");
  EXPECT_THAT(std::get<UnusableInput>(inputs[2]).reason, HasSubstr("no folder images/"));
}

TEST_F(Inputs, PairsAreFoundInFolders) {
  write("session/b/im0.png", "");
  write("session/b/im1.png", "");
  write("session/b/calib.txt", "");
  write("session/a/im0.pgm", "");
  write("session/a/im1.pgm", "");
  write("session/half/im0.png", "");
  const std::vector<Input> pairs = expand_inputs({folder_ / "session"});
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_THAT(std::get<UnusableInput>(pairs[2]).reason, HasSubstr("it has no image im1.png"));
  const auto a = std::get<PairFiles>(pairs[0]), b = std::get<PairFiles>(pairs[1]);
  EXPECT_EQ(a.root, folder_ / "session/a");
  EXPECT_EQ(a.right, folder_ / "session/a/im1.pgm");
  EXPECT_EQ(a.calibration, "") << "there is none";
  EXPECT_EQ(b.left, folder_ / "session/b/im0.png");
  EXPECT_EQ(b.calibration, folder_ / "session/b/calib.txt");
  EXPECT_EQ(expand_inputs({folder_ / "session/b", folder_ / "session"}).size(), 4u);
  EXPECT_THAT(reason_of_only(expand_inputs({folder_ / "session/half"})), HasSubstr("im1.png"));
}

TEST_F(Inputs, OlderSetsOfMiddleburyArePairs) {
  for (const char* file : {"a/im2.ppm", "a/im6.ppm", "b/view1.png", "b/view5.png", "c/im2.ppm", "d/im0.ppm",
                           "d/im1.ppm", "d/im2.ppm", "d/im6.ppm"})
    write(file, "");
  const std::vector<Input> pairs = expand_inputs({folder_});
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(std::get<PairFiles>(pairs[0]).left, folder_ / "a/im2.ppm");
  EXPECT_EQ(std::get<PairFiles>(pairs[0]).right, folder_ / "a/im6.ppm");
  EXPECT_EQ(std::get<PairFiles>(pairs[1]).right, folder_ / "b/view5.png");
  EXPECT_EQ(std::get<PairFiles>(pairs[2]).left, folder_ / "d/im0.ppm");
}

TEST_F(Inputs, FoldersOfPhotosBelowAreNamed) {
  for (const char* photo : {"nest/x/photos/0.jpg", "nest/x/photos/1.jpg", "nest/x/photos/2.jpg",
                            "nest/y/0.jpg", "nest/y/1.jpg", "other/readme.txt"})
    write(photo, "");
  const std::string below = (folder_ / "nest/x/photos").string() + ", " + (folder_ / "nest/y").string() +
                            " hold photos and no cameras: run COLMAP first";
  EXPECT_THAT(reason_of_only(expand_inputs({folder_ / "nest"})), HasSubstr("not a scene; " + below));
  EXPECT_THAT(reason_of_only(expand_inputs({folder_ / "other"})), HasSubstr("no folder below it is one"));
  write_scene("nest/a");
  std::string skipped;
  EXPECT_EQ(expand_inputs({folder_ / "nest"}, {}, &skipped).size(), 1u);
  EXPECT_THAT(skipped, HasSubstr("skipped: " + below));
  skipped.clear();
  EXPECT_EQ(expand_inputs({folder_ / "nest/a"}, {}, &skipped).size(), 1u);
  EXPECT_EQ(skipped, "");
}

TEST_F(Inputs, WithoutTheModelOfCOLMAPSendToItsMapper) {
  for (const char* photo : {"a/images/x.png", "a/images/y.png"}) write(photo, "");
  fs::create_directories(folder_ / "a/sparse");
  EXPECT_THAT(reason_of_only(expand_inputs({folder_ / "a"})), HasSubstr("its mapper has written none"));
}

TEST_F(Inputs, AreNoOutputFolders) {
  write_scene("a");
  const std::vector<Input> scene = expand_inputs({folder_ / "a"});
  for (const char* part : {"images", "sparse", "images/../images"}) try {
      Destination{{folder_ / "a"}, folder_ / "a" / part}.check(scene);
      ADD_FAILURE() << part;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("is a part of the scene"));
    }
  EXPECT_NO_THROW((Destination{{folder_ / "a"}, folder_ / "a/results"}.check(scene)));
}

TEST_F(Inputs, TwoImageFilesAreAPair) {
  for (const char* file : {"a.png", "b.png", "folder/c.png"}) write(file, "");
  const std::vector<Input> inputs = expand_inputs({folder_ / "b.png", folder_ / "a.png"});
  ASSERT_EQ(inputs.size(), 1u);
  const auto pair = std::get<PairFiles>(inputs[0]);
  EXPECT_EQ(pair.left, folder_ / "b.png");
  EXPECT_EQ(pair.right, folder_ / "a.png");
  EXPECT_TRUE(pair.root.empty() && pair.calibration.empty());
  EXPECT_THROW(expand_inputs({folder_ / "a.png"}), UsageError);
  EXPECT_THROW(expand_inputs({folder_ / "a.png", folder_ / "b.png", folder_ / "a.png"}), UsageError);
  EXPECT_THROW(expand_inputs({folder_ / "a.png", folder_ / "folder"}), UsageError);
  EXPECT_THROW(expand_inputs({folder_ / "a.png", folder_ / "absent.png"}), InputError);
}

/// The reason why each unusable input is none, by the name of its path.
std::map<std::string, std::string> reasons_of(const std::vector<Input>& inputs) {
  std::map<std::string, std::string> reasons;
  for (const Input& input : inputs)
    if (const auto* unusable = std::get_if<UnusableInput>(&input))
      reasons[unusable->path.filename().string()] = unusable->reason;
  return reasons;
}

TEST_F(Inputs, ThatCannotBeLookedUpAreUnusableAndTheOthersAreNot) {
  write_scene("s/good");
  fs::create_symlink("loop", folder_ / "s/loop");
  fs::create_symlink("/gone/disk", folder_ / "s/scene3");
  const std::string longest(300, 'n');
  const std::vector<Input> below = expand_inputs({folder_ / "s"});
  ASSERT_EQ(below.size(), 3u);
  EXPECT_EQ(std::get<SceneFolder>(below[0]).root, folder_ / "s/good");
  EXPECT_THAT(reasons_of(below)["loop"], HasSubstr("Too many levels of symbolic links"));
  EXPECT_THAT(reasons_of(below)["scene3"], HasSubstr("leads to /gone/disk, which is not there"));
  const std::vector<fs::path> given = {folder_ / "s/loop", folder_ / longest, folder_ / "s/good",
                                       folder_ / "s/loop/a.txt"};
  const std::vector<Input> named = expand_inputs(given);
  ASSERT_EQ(named.size(), 4u);
  EXPECT_TRUE(is_usable(named[2]));
  EXPECT_THAT(reasons_of(named)[longest], HasSubstr("File name too long"));
  const Destination destination{given, folder_ / "s/loop/out"};
  EXPECT_NO_THROW(destination.check(named)) << "what is wrong with it is said when it is taken";
}

TEST_F(Inputs, WhoseMasksAreNoFolderAreUnusable) {
  for (const char* scene : {"a", "b", "c", "d"}) write_scene(scene);
  write("a/masks", "no folder");
  fs::create_symlink("masks", folder_ / "b/masks");
  fs::create_symlink("gone", folder_ / "c/masks");
  fs::create_directory(folder_ / "d/masks");
  const std::vector<Input> inputs = expand_inputs({folder_});
  ASSERT_EQ(inputs.size(), 4u);
  EXPECT_THAT(reasons_of(inputs)["a"], HasSubstr("masks: is no folder; make it a folder"));
  EXPECT_THAT(reasons_of(inputs)["b"], HasSubstr("Too many levels of symbolic links"));
  EXPECT_THAT(reasons_of(inputs)["c"], HasSubstr("which is not there"));
  EXPECT_EQ(std::get<SceneFolder>(inputs[3]).masks, folder_ / "d/masks");
}

TEST_F(Inputs, WithAPartThatCannotBeLookedUpAreUnusable) {
  write_scene("model");
  fs::remove(folder_ / "model/sparse/cameras.txt");
  fs::create_symlink("cameras.txt", folder_ / "model/sparse/cameras.txt");
  write("pair/im0.png", "");
  write("pair/im1.png", "");
  fs::create_symlink("gone.txt", folder_ / "pair/calib.txt");
  const auto reasons = reasons_of(expand_inputs({folder_}));
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_THAT(reasons.at("model"), HasSubstr("cameras.txt: cannot be looked up"));
  EXPECT_THAT(reasons.at("pair"), HasSubstr("leads to gone.txt, which is not there"))
      << "without its calibration it would be another pair";
}

TEST_F(Inputs, ThatReadersRefuseAreNotPassedOver) {
  for (const char* folder : {"nerf", "pair"}) fs::create_directories(folder_ / folder);
  write("pair/im0.png", "");
  for (const char* pipe : {"pair/im1.png", "pair/calib.txt", "nerf/transforms.json"})
    ASSERT_EQ(mkfifo((folder_ / pipe).c_str(), 0666), 0);
  const std::vector<Input> inputs = expand_inputs({folder_});
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(std::get<SceneFolder>(inputs[0]).model, folder_ / "nerf/transforms.json");
  EXPECT_EQ(std::get<PairFiles>(inputs[1]).right, folder_ / "pair/im1.png");
  EXPECT_EQ(std::get<PairFiles>(inputs[1]).calibration, folder_ / "pair/calib.txt");
}

TEST(SessionLines, HaveThePictureOfAPair) {
  const nlohmann::json pair = {{"scene", "a"}, {"output", "a/dense"}, {"disparity", "a/dense/disparity.pfm"}};
  EXPECT_EQ(session_line(pair, 0).at("preview"), "preview.png");
  EXPECT_FALSE(session_line({{"scene", "a"}, {"error", "why"}}, 3).contains("preview"));
}

TEST_F(Inputs, AreNotTheFilesOfTheirSession) {
  write_scene("s/a");
  write_scene("s/b");
  const std::vector<nlohmann::json> lines = {session_line(nlohmann::json::object({{"scene", "a"}}), 0)};
  write_session_files(folder_ / "s", lines);
  const std::vector<fs::path> all = {folder_ / "s/a", folder_ / "s/b", folder_ / "s/index.html",
                                     folder_ / "s/session.jsonl"};
  EXPECT_EQ(expand_inputs(all).size(), 2u);
  EXPECT_EQ(expand_inputs({folder_ / "s/*"}).size(), 2u);
  EXPECT_THROW(expand_inputs({folder_ / "s/index.html"}), UsageError) << "alone it is a wrong input";
  for (const char* file : {"index.html", "session.jsonl"}) {
    EXPECT_TRUE(is_session_file(folder_ / "s" / file));
    write(std::string("s/") + file, "of the user");
    EXPECT_FALSE(is_session_file(folder_ / "s" / file));
    EXPECT_THROW(expand_inputs(all), UsageError) << file;
    write_session_files(folder_ / "s", lines);
  }
  for (const char* earlier : {"<h1>2 scenes</h1>\n<table><tr><th>scene<th class=n>views<th class=n>points",
                              "<meta name=generator content=\"reconstruct session\">"}) {
    write("s/index.html", earlier);
    EXPECT_TRUE(is_session_file(folder_ / "s/index.html")) << earlier;
  }
  write("s/index.html", web_page("scene", {{"scene", data_mark("session")}}));
  EXPECT_FALSE(is_session_file(folder_ / "s/index.html")) << "a page of another kind";
  EXPECT_FALSE(is_session_file(folder_ / "s/a/images/x.png"));
}

TEST_F(Inputs, AreASessionUnlessOneIsNamedItself) {
  write_scene("s/a");
  write("list.txt", "s/a\n");
  const auto makes_session = [&](const std::vector<fs::path>& given) {
    return Destination{given, {}}.is_session(expand_inputs(given));
  };
  EXPECT_FALSE(makes_session({folder_ / "s/a"}));
  EXPECT_FALSE(makes_session({folder_ / "nothing"}));
  for (const char* one_or_more : {"s", "list.txt", "s/*", "."})
    EXPECT_TRUE(makes_session({folder_ / one_or_more})) << one_or_more;
  write("l.png", "");
  write("r.png", "");
  EXPECT_FALSE(makes_session({folder_ / "l.png", folder_ / "r.png"}));
  EXPECT_EQ((Destination{{}, "out"}.of(expand_inputs({folder_ / "s"}).front(), true)), "out/a")
      << "as one of several";
}

}  // namespace
}  // namespace recon
