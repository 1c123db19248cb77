// Calls between source files: no two call functions of each other, directly or by way of others.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using Names = std::set<std::string>;

/// What a source file declares, defines and calls: names of free functions, as far as the text shows them.
struct Source {
  Names includes, declares, defines, calls;
};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The code without comments and texts; the files that it includes are kept apart.
std::string code_of(const std::string& text, Names& includes) {
  std::string code;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#include \"")) includes.insert(line.substr(10, line.find('"', 10) - 10));
    if (line.starts_with("#")) continue;
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (!quoted && line.compare(i, 2, "//") == 0) break;
      if (quoted && line[i] == '\\') {
        ++i;
        continue;
      }
      if (line[i] == '"')
        quoted = !quoted;
      else if (!quoted)
        code += line[i];
    }
    code += '\n';
  }
  return code;
}

std::size_t after_spaces(const std::string& code, std::size_t at) {
  while (at < code.size() && std::isspace(static_cast<unsigned char>(code[at])) != 0) ++at;
  return at;
}

/// Behind the bracket that closes the one at `at`.
std::size_t after_brackets(const std::string& code, std::size_t at) {
  for (int depth = 0; at < code.size(); ++at) {
    depth += code[at] == '(' ? 1 : code[at] == ')' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return at;
}

Source source_of(const std::string& text) {
  Source source;
  const std::string code = code_of(text, source.includes);
  std::vector<bool> scopes;  // whether each open brace is that of a namespace
  std::string statement;     // what was read since the last ; or brace
  for (std::size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '{') scopes.push_back(statement.find("namespace") != std::string::npos);
    if (c == '}' && !scopes.empty()) scopes.pop_back();
    if (c == '{' || c == '}' || c == ';') {
      statement.clear();
      continue;
    }
    if (c != '(' || i == 0 || !is_word(code[i - 1])) {
      statement += c;
      continue;
    }
    std::size_t begin = i;
    while (begin > 0 && is_word(code[begin - 1])) --begin;
    const std::string name = code.substr(begin, i - begin);
    const char before = begin > 0 ? code[begin - 1] : ' ';
    const bool in_function = std::ranges::find(scopes, false) != scopes.end();
    if (in_function || statement.find('=') != std::string::npos) {
      if (before != '.' && before != '>' && before != ':' && before != '~') source.calls.insert(name);
      statement += c;
      continue;
    }
    std::size_t end = after_spaces(code, after_brackets(code, i));
    if (code.compare(end, 8, "noexcept") == 0) end = after_spaces(code, end + 8);
    const bool typed = after_spaces(statement, 0) + name.size() < statement.size();
    if (before != ':' && typed && end < code.size()) {
      if (code[end] == ';') source.declares.insert(name);
      if (code[end] == '{' || code.compare(end, 3, "try") == 0) source.defines.insert(name);
    }
    statement += '(';
    i = after_brackets(code, i) - 1;
  }
  return source;
}

using Sources = std::map<std::string, Source>;  ///< by path, relative to the source tree

std::string stem_of(const std::string& path) {
  return path.substr(0, path.rfind('.'));
}

class CallGraph {
 public:
  explicit CallGraph(const Sources& sources) : sources_(sources) {
    for (const auto& [path, source] : sources)
      for (const std::string& name : source.declares)
        if (is_header(path)) headers_[name].insert(path);
    for (const auto& [path, source] : sources)
      if (!is_header(path)) add_calls(path, source);
  }

  /// Each file, without its ending, that calls a function of another one which calls it back, by way of
  /// others or not.
  std::vector<std::string> cycles() const {
    std::vector<std::string> found;
    for (const auto& [file, called] : calls_)
      if (reached_from(file).contains(file)) found.push_back(file);
    return found;
  }

 private:
  static bool is_header(const std::string& path) { return path.ends_with("hpp") || path.ends_with("cuh"); }

  /// All files that a file includes.
  const Names& included_by(const std::string& path) {
    const auto [known, added] = included_.try_emplace(path);
    if (!added) return known->second;
    Names all;
    for (const std::string& name : sources_.at(path).includes)
      for (const std::string& header : {"src/" + name, name})
        if (sources_.contains(header)) {
          all.insert(header);
          const Names below = included_by(header);
          all.insert(below.begin(), below.end());
        }
    return included_[path] = all;
  }

  /// The file that defines a function of a header, without its ending; empty where several may.
  std::string definition_of(const std::string& name, const std::string& header) {
    Names files;
    for (const auto& [path, source] : sources_) {
      if (is_header(path) || !source.defines.contains(name)) continue;
      if (stem_of(path) == stem_of(header)) return stem_of(path);
      if (included_by(path).contains(header)) files.insert(stem_of(path));
    }
    return files.size() == 1 ? *files.begin() : "";
  }

  void add_calls(const std::string& path, const Source& source) {
    for (const std::string& name : source.calls) {
      const auto headers = headers_.find(name);
      if (headers == headers_.end() || headers->second.size() != 1 || source.defines.contains(name)) continue;
      const std::string& header = *headers->second.begin();
      if (!included_by(path).contains(header)) continue;
      const std::string definition = definition_of(name, header);
      if (!definition.empty() && definition != stem_of(path)) calls_[stem_of(path)].insert(definition);
    }
  }

  Names reached_from(const std::string& file) const {
    Names reached;
    std::vector<std::string> left = {file};
    while (!left.empty()) {
      const auto called = calls_.find(left.back());
      left.pop_back();
      if (called == calls_.end()) continue;
      for (const std::string& next : called->second)
        if (reached.insert(next).second) left.push_back(next);
    }
    return reached;
  }

  const Sources& sources_;
  std::map<std::string, Names> headers_;  ///< by the functions that they declare
  std::map<std::string, Names> included_, calls_;
};

Sources read_sources() {
  Sources sources;
  for (const char* folder : {"src", "cuda", "io"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(RECON_SOURCE_DIR) / folder)) {
      const std::string path = fs::relative(entry.path(), RECON_SOURCE_DIR).string();
      const bool code = path.ends_with("pp") || path.ends_with(".cu") || path.ends_with(".cuh");
      if (!code || path == "cuda/stub.cpp") continue;  // which stands for others
      std::ifstream file(entry.path());
      std::ostringstream text;
      text << file.rdbuf();
      sources[path] = source_of(text.str());
    }
  return sources;
}

TEST(CallCycles, AreFoundByWayOfOthers) {
  Sources sources;
  sources["src/a.hpp"] = source_of("namespace n {\nint first(int x);\n}\n");
  sources["src/b.hpp"] = source_of("#include \"a.hpp\"\nint second(int x);\n");
  sources["src/c.hpp"] = source_of("void third(double x,\n  int y) noexcept;\nint second_try;\n");
  sources["src/a.cpp"] = source_of(
      "#include \"a.hpp\"\n#include \"c.hpp\"\nnamespace n {\nint first(int x) {\n  third(1, x);\n  return "
      "x;\n}\n}\n");
  sources["src/b.cpp"] =
      source_of("#include \"b.hpp\"\nint second(int x) {\n  return x > 0 ? first(x) : 0;  // third(\n}\n");
  sources["src/c.cpp"] = source_of(
      "#include \"c.hpp\"\n#include \"b.hpp\"\nvoid third(double, int y) noexcept { log(\"first(\"); }\n");
  EXPECT_THAT(CallGraph(sources).cycles(), IsEmpty());
  sources["src/c.cpp"].calls.insert("second");
  EXPECT_THAT(CallGraph(sources).cycles(), ElementsAre("src/a", "src/b", "src/c"));
  sources["src/b.cpp"].defines.insert("first");  // of its own
  EXPECT_THAT(CallGraph(sources).cycles(), IsEmpty());
}

TEST(CallCycles, AreNoneInTheSourceTree) {
  const Sources sources = read_sources();
  std::size_t functions = 0;
  for (const auto& [path, source] : sources) functions += source.declares.size();
  ASSERT_GT(functions, 500u);
  EXPECT_THAT(CallGraph(sources).cycles(), IsEmpty());
}

}  // namespace
