"use strict";
// The colours of the points by their confidence.
function confidenceColours(cloud, palette) {
  const confidences = decoded(cloud.confidences);
  const colours = new Uint8Array(3 * confidences.length);
  confidences.forEach((confidence, i) => colours.set(palette.subarray(3 * confidence, 3 * confidence + 3), 3 * i));
  return colours;
}

// A button below the cloud.
function addButton(text, act) {
  const button = make("button", {}, text);
  button.addEventListener("click", act);
  document.getElementById("controls").append(button);
  return button;
}

// What the points show: the photos or their confidence.
function addColourControls(cloud, palette, geometry, draw) {
  const choices = [["colours of the photos", decoded(cloud.colours)]];
  if (cloud.confidences) choices.push(["confidence", confidenceColours(cloud, palette)]);
  const buttons = choices.map(([text, colours], choice) => addButton(text, () => {
    geometry.attributes.color.array.set(colours);
    geometry.attributes.color.needsUpdate = true;
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", i === choice));
    document.getElementById("controls").classList.toggle("confidence", choice > 0);
    draw();
  }));
  buttons[0].click();
}

// The cloud as a photo sees it, swaying until it is touched.
function drawCloud(box, cloud, palette) {
  const renderer = new THREE.WebGLRenderer({antialias: true, alpha: true});
  box.replaceChildren(renderer.domElement);
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(decoded(cloud.positions, Uint16Array), 3));
  geometry.setAttribute("color", new THREE.BufferAttribute(decoded(cloud.colours), 3, true));
  const material = new THREE.PointsMaterial({sizeAttenuation: false, vertexColors: THREE.VertexColors});
  const points = new THREE.Points(geometry, material);
  points.frustumCulled = false;
  const scene = new THREE.Scene();
  scene.add(points);
  // In units of the quantization, 0 to 65535.
  const eye = new THREE.Vector3().fromArray(cloud.eye), target = new THREE.Vector3().fromArray(cloud.target);
  const distance = eye.distanceTo(target);
  const camera = new THREE.PerspectiveCamera(45, 16 / 9, distance / 100, 100 * distance + 5e5);
  camera.up.fromArray(cloud.up);
  const controls = new THREE.OrbitControls(camera, renderer.domElement);
  controls.enableKeys = false;
  let swaying = false, size = 1, pointsInView = 0;

  const draw = () => {
    // Points grow as they come nearer.
    const nearer = distance / camera.position.distanceTo(controls.target);
    material.size = devicePixelRatio * Math.min(Math.max(size * nearer, 2), 8);
    renderer.render(scene, camera);
    const matrix = new THREE.Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    renderer.domElement.dataset.size = material.size;
    renderer.domElement.dataset.projection = JSON.stringify(matrix.elements);
    const place = box.getBoundingClientRect();
    renderer.domElement.dataset.place = JSON.stringify(
        [place.left + box.clientLeft, place.top + box.clientTop + scrollY, box.clientWidth, box.clientHeight]);
  };
  // The number of points in the first view.
  const inView = () => {
    const matrix = new THREE.Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    const place = new THREE.Vector3(), positions = geometry.attributes.position;
    let count = 0;
    for (let i = 0; i < positions.count; ++i) {
      place.fromBufferAttribute(positions, i).applyMatrix4(matrix);
      if (Math.abs(place.x) < 1 && Math.abs(place.y) < 1 && place.z < 1) ++count;
    }
    return count;
  };
  const look = () => {
    camera.position.copy(eye);
    controls.target.copy(target);
    controls.update();
    camera.updateMatrixWorld();
  };
  const resize = () => {
    renderer.setPixelRatio(devicePixelRatio);
    renderer.setSize(box.clientWidth, box.clientHeight, false);
    camera.aspect = box.clientWidth / box.clientHeight;
    // All of the photo is in view.
    const halfHeight = Math.max(cloud.field[1], cloud.field[0] / camera.aspect);
    camera.fov = 2 * Math.atan(halfHeight) * 180 / Math.PI;
    camera.updateProjectionMatrix();
    // So large that the points of the first view would cover the picture if they were spread over it.
    pointsInView = pointsInView || Math.max(inView(), 1);
    size = 1.5 * Math.sqrt(box.clientWidth * box.clientHeight / pointsInView);
    draw();
  };
  // To and fro around what the photo shows, so that its depth is seen.
  const sway = start => time => {
    if (!swaying) return;
    const angle = 0.15 * Math.sin((time - start) / 3000);
    camera.position.copy(eye).sub(target).applyAxisAngle(camera.up, angle).add(target);
    controls.update();
    draw();
    requestAnimationFrame(sway(start));
  };
  // The wheel scrolls the page until the cloud is touched.
  controls.enableZoom = false;
  controls.addEventListener("start", () => {
    swaying = false;
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
    swaying = false;
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
  look();
  resize();
  addColourControls(cloud, palette, geometry, draw);
  addButton("back to the photo", () => {
    swaying = false;
    look();
    draw();
  });
  swaying = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  requestAnimationFrame(time => sway(time)(time));
  canvas.dataset.points = geometry.attributes.position.count;
}

// The cloud, or a sentence in its place.
function showCloud(box, cloud, palette) {
  const explain = text => box.replaceChildren(make("p", {}, text + ": open fused.ply in a viewer."));
  if (!document.createElement("canvas").getContext("webgl"))
    return explain("This browser shows no 3D graphics (WebGL is off)");
  try {
    drawCloud(box, cloud, palette);
  } catch (error) {
    explain("This browser does not show the cloud (" + error.message + ")");
  }
}
