"use strict";
// Errors are kept in the page, where a test finds them.
addEventListener("error", event => document.documentElement.dataset.error = event.message);
addEventListener("unhandledrejection", event => document.documentElement.dataset.error = String(event.reason));

// One picture over the other; the slider goes from the first to the last. Without scripts they stand side by side.
for (const pictures of document.querySelectorAll(".pictures")) {
  const layers = [...pictures.children];
  if (layers.length < 2) continue;
  pictures.classList.add("sliding");
  const slider = document.createElement("input");
  slider.type = "range";
  slider.min = 0;
  slider.max = layers.length - 1;
  slider.step = 0.01;
  slider.value = 0.5;
  slider.setAttribute("aria-label", "from " + layers.map(layer => layer.title).join(" to "));
  const show = () => layers.slice(1).forEach((layer, i) => {
    const hidden = 100 * Math.min(Math.max(1 - (slider.value - i), 0), 1);
    layer.style.clipPath = `inset(0 0 0 ${hidden}%)`;
  });
  slider.addEventListener("input", show);
  pictures.after(slider);
  show();
}

// The numbers of a base64 text.
function decoded(text, Type) {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  return new Type(bytes.buffer);
}

// The cloud, turning until it is touched.
function showCloud(box, cloud) {
  const renderer = new THREE.WebGLRenderer({antialias: true, alpha: true});
  box.replaceChildren(renderer.domElement);
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(decoded(cloud.positions, Uint16Array), 3));
  geometry.setAttribute("color", new THREE.BufferAttribute(decoded(cloud.colours, Uint8Array), 3, true));
  const material = new THREE.PointsMaterial({sizeAttenuation: false, vertexColors: THREE.VertexColors});
  const points = new THREE.Points(geometry, material);
  points.frustumCulled = false;
  const scene = new THREE.Scene();
  scene.add(points);
  // In units of the quantization, 0 to 65535.
  const camera = new THREE.PerspectiveCamera(45, 16 / 9, 10, 1e6);
  camera.up.fromArray(cloud.up);
  camera.position.fromArray(cloud.target).addScaledVector(new THREE.Vector3().fromArray(cloud.forward), -cloud.distance);
  const controls = new THREE.OrbitControls(camera, renderer.domElement);
  controls.target.fromArray(cloud.target);
  controls.autoRotate = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  controls.autoRotateSpeed = 0.8;
  controls.enableKeys = false;

  const draw = () => {
    renderer.render(scene, camera);
    const matrix = new THREE.Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    renderer.domElement.dataset.projection = JSON.stringify(matrix.elements);
    const place = box.getBoundingClientRect();
    renderer.domElement.dataset.place = JSON.stringify(
        [place.left + box.clientLeft, place.top + box.clientTop + scrollY, box.clientWidth, box.clientHeight]);
  };
  const resize = () => {
    renderer.setPixelRatio(devicePixelRatio);
    renderer.setSize(box.clientWidth, box.clientHeight, false);
    // So large that the points cover their share of the picture, about a quarter.
    const pixels = box.clientWidth * box.clientHeight / 4 / geometry.attributes.position.count;
    material.size = devicePixelRatio * Math.min(Math.max(1.5 * Math.sqrt(pixels), 1.5), 6);
    camera.aspect = box.clientWidth / box.clientHeight;
    camera.updateProjectionMatrix();
    draw();
  };
  const turn = () => {
    if (!controls.autoRotate) return;
    controls.update();
    requestAnimationFrame(turn);
  };
  // The wheel scrolls the page until the cloud is touched.
  controls.enableZoom = false;
  controls.addEventListener("start", () => {
    controls.autoRotate = false;
    controls.enableZoom = true;
  });
  controls.addEventListener("change", draw);
  const canvas = renderer.domElement;
  canvas.tabIndex = 0;
  canvas.setAttribute("aria-label", "the cloud; arrow keys turn it, + and - bring it nearer and farther");
  canvas.addEventListener("keydown", event => {
    const turns = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
    const zoom = {"+": 0.9, "=": 0.9, "-": 1.1}[event.key];
    if (!turns && !zoom) return;
    event.preventDefault();
    controls.autoRotate = false;
    const offset = camera.position.clone().sub(controls.target);
    if (zoom) offset.multiplyScalar(zoom);
    if (turns) {
      const side = new THREE.Vector3().crossVectors(camera.up, offset).normalize();
      offset.applyAxisAngle(camera.up, 0.1 * turns[0]).applyAxisAngle(side, 0.1 * turns[1]);
    }
    camera.position.copy(controls.target).add(offset);
    controls.update();
    draw();
  });
  addEventListener("resize", resize);
  controls.update();
  resize();
  turn();
  canvas.dataset.points = geometry.attributes.position.count;
}

// A sentence in place of the cloud.
function explain(box, text) {
  const note = document.createElement("p");
  note.textContent = text + ": open fused.ply in a viewer.";
  box.replaceChildren(note);
}

const box = document.getElementById("cloud");
if (box && !document.createElement("canvas").getContext("webgl")) {
  explain(box, "This browser shows no 3D graphics (WebGL is off)");
} else if (box) {
  try {
    showCloud(box, JSON.parse(document.getElementById("points").textContent));
  } catch (error) {
    explain(box, "This browser does not show the cloud (" + error.message + ")");
  }
}
