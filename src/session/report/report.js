"use strict";
// Errors are kept in the page, where a test finds them.
addEventListener("error", event => document.documentElement.dataset.error = event.message);
addEventListener("unhandledrejection", event => document.documentElement.dataset.error = String(event.reason));

// An element with attributes and children: elements, lists of them, and texts, which are never taken for HTML. Children
// that are absent are left out.
function make(tag, attributes, ...children) {
  const element = /^(svg|rect|text|title)$/.test(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag)
                                                      : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.flat(Infinity).filter(Boolean));
  return element;
}

const rounded = (value, digits) => String(Number(value.toPrecision(digits)));
const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
const percent = share => (100 * share).toFixed(1) + " %";
const link = (file, ...content) => make("a", {href: file}, ...content);
const row = (...cells) => make("tr", {}, cells.flat().filter(cell => cell !== false).map(
    cell => cell instanceof Node ? cell : make("td", {}, cell)));
const right = (text, tag = "td") => make(tag, {class: "n"}, text);
const head = text => make("th", {}, text);

// What the page has as JSON under a name; null without it.
function dataOf(id) {
  const element = document.getElementById(id);
  return element && JSON.parse(element.textContent);
}

// The numbers of a base64 text.
function decoded(text, Type = Uint8Array) {
  return new Type(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
}

// Where the colours of the previews and of the cloud are from one word to another.
const scale = (lowest, highest) => make("span", {class: "scale"}, lowest, make("i", {}), highest);

// Program, version, date, and links to the files of a report.
const origin = data => make("p", {}, make("small", {},
    `reconstruct ${data.version}`, data.commit && `, commit ${data.commit}`, ", ",
    make("time", {datetime: data.date}, data.date.replace(/^(.{10})T(.{5}).*/, "$1 $2 UTC")),
    data.files.map(file => [", ", link(file, file)])));

const warnings = texts =>
    texts.length > 0 && [make("h2", {}, "Warnings"), make("ul", {}, texts.map(text => make("li", {}, text)))];

const options = text => [make("h2", {}, "Options"), make("pre", {}, text)];

// The steps in their order, with predicted seconds by step where there are any.
function times(steps, predicted = {}) {
  const some = Object.keys(predicted).length > 0;
  const total = steps.reduce((sum, step) => sum + step.seconds, 0);
  return [make("h2", {}, "Times"), make("table", {class: "times"},
      row(head("step"), right("seconds", "th"), some && right("predicted", "th"), head("")),
      steps.map(step => row(step.name, right(step.seconds.toFixed(2)),
                            some && right(!step.kept && predicted[step.name]?.toFixed(2)),
                            step.kept ? "by an earlier run" : "")),
      row("total", right(total.toFixed(2))))];
}

// Bars for [[begin, end, count], ...]; the unit stands behind the numbers of the axis.
function histogram(bins, caption, unit) {
  if (bins.length === 0) return null;
  const width = 400 / bins.length, most = Math.max(1, ...bins.map(bin => bin[2]));
  const label = (x, anchor, value) => make("text", {x, y: 133, "text-anchor": anchor}, rounded(value, 3) + unit);
  const bar = ([begin, end, count], i) => {
    const height = 120 * count / most;
    return make("rect", {x: i * width, y: 120 - height, width: 0.92 * width, height},
                make("title", {}, `${rounded(begin, 3)} to ${rounded(end, 3)}${unit}: ${count}`));
  };
  return make("figure", {}, make("figcaption", {}, caption),
              make("svg", {role: "img", viewBox: "0 0 400 136"}, bins.map(bar), label(0, "start", bins[0][0]),
                   label(400, "end", bins.at(-1)[1])));
}

// Pictures of [file, title], those without a file left out, each of which opens in full: one over the other, with a
// slider that goes from the first to the last.
function pictures(files) {
  const layers = files.filter(([file]) => file).map(([file, title]) =>
      make("a", {href: file, title}, make("img", {src: file, alt: title, loading: "lazy"})));
  const box = make("div", {class: "pictures"}, layers);
  if (layers.length < 2) return box;
  box.classList.add("sliding");
  const names = layers.map(layer => layer.title);
  const slider = make("input", {type: "range", min: 0, max: layers.length - 1, step: 0.01, value: 0.5,
                                "aria-label": "from " + names.join(" to ")});
  const show = () => layers.slice(1).forEach((layer, i) => {
    const hidden = 100 * Math.min(Math.max(1 - (slider.value - i), 0), 1);
    layer.style.clipPath = `inset(0 0 0 ${hidden}%)`;
  });
  slider.addEventListener("input", show);
  show();
  return [box, slider, make("small", {class: "slides"}, names.map(name => make("span", {}, name)))];
}

// The place of the cloud and what it is; nothing where the page has no cloud.
function cloudPlace(data) {
  const points = dataOf("points");
  if (!points) return null;
  const {size, files} = data.tiles ?? {};
  const tiles = data.tiles && [`, and in ${counted(files.length, "tile")} of ${rounded(size, 6)} units in `,
                               link("tiles/", "tiles")];
  const shown = decoded(points.colours).length / 3;
  return [make("div", {id: "cloud"}), make("div", {id: "controls"}, scale("0", "1")), make("p", {}, make("small", {},
      `Drag to turn the cloud, with the right button to move it; the wheel zooms once it is touched. Seen from ${data.seen_from}: ${shown} of ${data.points} points; all of them are in `,
      link("fused.ply", "fused.ply"), tiles, "."))];
}

function viewFigure(view) {
  const {depth_min, depth_max, found_depths, preview_depths: colours} = view;
  const facts = [`${view.width} x ${view.height}`, `searched ${rounded(depth_min, 4)} to ${rounded(depth_max, 4)}`,
                 found_depths && `first search found ${rounded(found_depths[0], 4)} to ${rounded(found_depths[1], 4)}`,
                 view.planes && `${view.planes} planes`, view.disparities && `${view.disparities} disparities`,
                 `${view.sources.length} sources`, "seconds" in view && `${view.seconds.toFixed(2)} s`];
  const share = (label, value) => value !== undefined &&
      make("small", {}, `${label} ${percent(value)} `, make("meter", {min: 0, max: 1, value}));
  return make("figure", {class: "view"},
      pictures([[view.image, "photo"], [view.preview, "depth"], [view.confidence, "confidence"]]),
      make("figcaption", {}, colours && scale(`depth ${rounded(colours[0], 3)}`, rounded(colours[1], 3)),
           make("b", {}, view.name), make("small", {}, facts.filter(Boolean).join(", ")),
           share("known before the check", view.known_photometric), share("agreed by other views, as shown", view.known_geometric)));
}

function sceneParts(data) {
  const from = "points" in data ? `${data.points} points from ${data.views.length} views, ` : "";
  const charts = [histogram(data.baselines, "Angles between views and their sources", "°"),
                  histogram(data.depths, "Depths of all checked pixels, scene units", "")].filter(Boolean);
  const legend = data.views.some(view => view.preview) && make("p", {class: "legend"},
      scale("depth: far", "near"), data.views.some(view => view.confidence) && scale("confidence: 0", "1"),
      make("span", {}, "black: unknown"));
  return [make("h1", {}, data.scene), make("p", {}, `${from}${data.seconds.total.toFixed(1)} s of work on ${data.device}.`),
          data.left_out.map(view => make("p", {}, make("b", {}, view.name), ` is left out: ${view.reason}`)),
          origin(data), warnings(data.warnings), cloudPlace(data),
          charts.length > 0 && make("div", {class: "charts"}, charts),
          make("h2", {}, "Views"), legend, make("div", {class: "views"}, data.views.map(viewFigure)),
          times(data.steps, data.predicted.steps), make("p", {}, make("small", {},
              "Views are worked on beside each other: their seconds add up to more than those of the step.")),
          options(data.options)];
}

function pairParts(data) {
  const {calibration, colours, preview_depths: depths} = data;
  // A disparity of the colour scale, and its depth where there is one.
  const end = (word, i) => `${word}: disparity ${rounded(colours[i], 4)}` +
      (depths?.[i] ? `, depth ${rounded(depths[i], 4)} ${calibration.unit ?? ""}` : "");
  return [make("h1", {}, data.scene), make("table", {class: "facts"},
              row("images", `${data.left}, ${data.right}, ${data.width}x${data.height}`),
              calibration && row("calibration", `${calibration.file}, ${calibration.format}`),
              row("method", data.method), row("disparities", `${data.min_disparity} to ${data.max_disparity - 1}`),
              row("known", `${percent(data.known)} of the pixels` +
                           (data.filled > 0 ? `, ${percent(data.filled)} filled` : "")),
              "points" in data && row("points", String(data.points)),
              row("time", `${data.seconds.total.toFixed(2)} s of work on ${data.device}`)),
          origin(data), warnings(data.warnings), cloudPlace(data),
          make("figure", {class: "view"}, pictures([[data.photo, "photo"], [data.preview, "disparity"]]),
               make("figcaption", {}, colours.length === 2 && scale(end("far", 0), end("near", 1)),
                    make("small", {}, "black: unknown"))),
          times(data.steps), options(data.options)];
}

function sessionParts({scenes, skipped}) {
  const numbers = [["views", 0, "views"], ["points", 0, "points"], ["seconds", 1, "seconds of work"],
                   ["elapsed", 1, "of them in the last run"], ["warnings", 0, "warnings"]];
  const name = line => {
    const picture = line.picture && make("img", {class: "scene", src: line.picture, alt: "", loading: "lazy"});
    const content = [picture, line.scene];
    return make("td", {}, line.page ? link(line.page, ...content) : content);
  };
  return [make("h1", {}, counted(scenes.length, "scene")), make("table", {},
      row(head("scene"), numbers.map(([, , title]) => right(title, "th")), head("status")),
      scenes.map(line => row(name(line), numbers.map(([key, digits]) => right(line[key]?.toFixed(digits) ?? "-")),
                             line.status + (line.error ? `: ${line.error}` : "")))),
          skipped && make("p", {}, skipped)];
}

// The data stand behind this script.
addEventListener("DOMContentLoaded", () => {
  for (const [kind, parts] of Object.entries({scene: sceneParts, pair: pairParts, session: sessionParts})) {
    const data = dataOf(kind);
    if (!data) continue;
    const palette = decoded(data.palette), colours = [];
    for (let i = 0; i < palette.length; i += 3 * 15) colours.push(`rgb(${palette.subarray(i, i + 3).join()})`);
    document.documentElement.style.setProperty("--colours", `linear-gradient(to right, ${colours.join()})`);
    document.body.append(...parts(data).flat(Infinity).filter(Boolean));
    if (document.getElementById("cloud")) showCloud(document.getElementById("cloud"), dataOf("points"), palette);
  }
});
