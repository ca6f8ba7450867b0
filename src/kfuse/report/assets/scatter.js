
// ---- the samples, drawn pixel by pixel into a canvas
//
// Each row stamps its marker into two buffers of the canvas' size: its colour, and its number. A slider step changes
// only the colours of the rows, so drawing again is one pass over the rows, and the row under the pointer is looked up.
const FADED_SHARE = { light: 26, dark: 34 }; // the opacity, of 255, of samples that are not selected
const N_CELLS = 32; // per side, to find where a cluster is densest
const HINT = matchMedia("(pointer: coarse)").matches
  ? "Pinch to zoom, Lasso to draw around samples. Tap a sample, a sentence, a table row or a branch to select it."
  : "Drag to move, scroll to zoom, Shift-drag to draw around samples. Click a sample, a sentence, a table row or a branch to select it.";
const MOST_PLATES = 40; // numbers of clusters on a plate; more plates would hide the samples
const MOST_SHADES = 20; // categories with a colour of their own
const scatter = { box: element("samples"), canvas: element("samples").querySelector("canvas"), svg: element("samples").querySelector("svg"), view: null, stamps: new Map(), hovered: -1 };
const shading = { column: null, of: null, colours: [] }; // of each row, and what the numbers mean

const INSIDE = [
  (x, y) => x * x + y * y <= 1,
  (x, y) => y <= 0.85 && y >= -1 + 1.7 * Math.abs(x),
  (x, y) => Math.max(Math.abs(x), Math.abs(y)) <= 0.86,
  (x, y) => Math.abs(x) + Math.abs(y) <= 1.1,
  (x, y) => Math.abs(Math.abs(x) - Math.abs(y)) <= 0.3 && Math.max(Math.abs(x), Math.abs(y)) <= 0.9,
];
const CROSS = 4;

// The pixels of a marker: their offsets from its centre, and how much of each it covers.
function stampOf(marker, diameter, width) {
  const key = `${marker} ${diameter} ${width}`;
  if (!scatter.stamps.has(key)) {
    const radius = diameter / 2, reach = Math.ceil(radius), pixels = [];
    for (let dy = -reach; dy <= reach; dy++)
      for (let dx = -reach; dx <= reach; dx++) {
        let covered = 0;
        for (let part = 0; part < 64; part++)
          covered += INSIDE[marker]((dx - 0.4375 + (part % 8) / 8) / radius, (dy - 0.4375 + Math.floor(part / 8) / 8) / radius);
        if (covered > 8) pixels.push([dx, dy, covered >= 50 ? 255 : Math.round(covered * 4)]);
      }
    const part = (get) => Int32Array.from(pixels, get);
    scatter.stamps.set(key, { dx: part((p) => p[0]), dy: part((p) => p[1]), step: part((p) => p[1] * width + p[0]), covered: part((p) => p[2]) });
  }
  return scatter.stamps.get(key);
}

const pixelOf = (hex, opacity = 255) => { const [r, g, b] = rgb(hex); return ((opacity << 24) | (b << 16) | (g << 8) | r) >>> 0; };

// Give each row the number of its colour: by cluster, or by the values of a column.
function shade(labels) {
  const of = new Uint8Array(n);
  const column = shading.column;
  if (column === null) {
    const colours = coloursOf();
    for (let i = 0; i < n; i++) of[i] = labels[i] < 0 ? colours.length : labels[i] % colours.length;
    Object.assign(shading, { of, colours: [...colours, GREY] });
  } else if (isOrdered(column)) {
    const [low, high] = middleRange(column), factor = high > low ? 62.99 / (high - low) : 0;
    for (let i = 0; i < n; i++) {
      const value = column.values[i];
      of[i] = Number.isNaN(value) ? 63 : Math.min(Math.max((value - low) * factor, 0), 62);
    }
    Object.assign(shading, { of, colours: [...Array(63).keys()].map((step) => onScale(step / 62)).concat(GREY) });
  } else {
    const { place, shown } = frequent(column);
    for (let i = 0; i < n; i++) of[i] = place[column.values[i]];
    Object.assign(shading, { of, colours: [...shown.map((_, rank) => colour(rank)), GREY] });
  }
}

// Where most values of a column lie, so that a few extreme ones do not take up the scale.
function middleRange(column) {
  if (column.middle === undefined) {
    const step = Math.max(1, Math.floor(n / 20000)), some = [];
    for (let i = 0; i < n; i += step) if (Number.isFinite(column.values[i])) some.push(column.values[i]);
    some.sort((a, b) => a - b);
    column.middle = some.length ? [some[Math.floor(0.02 * (some.length - 1))], some[Math.ceil(0.98 * (some.length - 1))]] : [0, 0];
  }
  return column.middle;
}

// The most frequent categories of a column, and the place of each category among them; others share the last one.
function frequent(column) {
  if (column.frequent === undefined) {
    const counts = new Uint32Array(column.texts.length + 1);
    for (const code of column.values) counts[code]++;
    const shown = [...column.texts.keys()].sort((a, b) => counts[b] - counts[a] || a - b).slice(0, MOST_SHADES);
    const place = new Uint8Array(counts.length).fill(shown.length);
    shown.forEach((code, rank) => { place[code] = rank; });
    column.frequent = { shown, place, counts };
  }
  return column.frequent;
}

function wholeView() {
  const [x, y] = [axes[state.across], axes[state.up]].map(extent);
  const pad = ([low, high]) => { const margin = 0.04 * (high - low) || Math.abs(low) * 0.05 || 1; return [low - margin, high + margin]; };
  const [[x0, x1], [y0, y1]] = [pad(x), pad(y)];
  return { x0, x1, y0, y1 };
}

function drawSamples() {
  const { box, canvas } = scatter;
  const frameNow = (scatter.frame = frame(box, scatter.view, { title: axes[state.across].name, column: axes[state.across] }, { title: axes[state.up].name, column: axes[state.up] }));
  const ratio = Math.min(devicePixelRatio || 1, 3);
  const width = Math.round(frameNow.width * ratio), height = Math.round(frameNow.height * ratio);
  if (canvas.width !== width || canvas.height !== height) {
    Object.assign(canvas, { width, height });
    canvas.style.cssText = `left:${MARGIN.left}px;top:${MARGIN.top}px;width:${frameNow.width}px;height:${frameNow.height}px`;
    scatter.image = canvas.getContext("2d").createImageData(width, height);
    scatter.pixels = new Uint32Array(scatter.image.data.buffer);
    scatter.owner = new Int32Array(width * height);
  }
  scatter.pixels.fill(0);
  scatter.owner.fill(0);
  const whole = wholeView();
  const zoom = Math.sqrt(((whole.x1 - whole.x0) * (whole.y1 - whole.y0)) / ((scatter.view.x1 - scatter.view.x0) * (scatter.view.y1 - scatter.view.y0)));
  const grown = data.diameter * Math.min(Math.max(zoom ** 0.4, 1), Math.max(1, 9 / data.diameter));
  scatter.ratio = ratio;
  scatter.diameter = Math.max(1.5, Math.round(2 * grown * ratio) / 2);
  if (state.selected !== null) stampRows(false);
  stampRows(true);
  canvas.getContext("2d").putImageData(scatter.image, 0, 0);
  drawOver();
}

// Stamp the rows that are selected, or in a faint grey those that are not.
function stampRows(chosen) {
  const { pixels, owner, ratio, view, frame: { perX, perY } } = scatter;
  const { width, height } = scatter.canvas;
  const x = axes[state.across].values, y = axes[state.up].values;
  const mask = state.selected === null ? null : state.selected.mask;
  const { labels } = state.current, marked = data.marked && shading.column === null;
  const ink = Uint32Array.from(shading.colours, (hex) => pixelOf(hex));
  const faded = pixelOf(isDark() ? "#FFFFFF" : "#000000", FADED_SHARE[isDark() ? "dark" : "light"]);
  const stamps = INSIDE.map((_, marker) => stampOf(marker, scatter.diameter, width)), reach = Math.ceil(scatter.diameter / 2);
  const sx = perX * ratio, sy = perY * ratio;
  for (let i = 0; i < n; i++) {
    if (mask !== null && Boolean(mask[i]) !== chosen) continue;
    const px = (x[i] - view.x0) * sx, py = (view.y1 - y[i]) * sy;
    if (!(px > -reach && px < width + reach && py > -reach && py < height + reach)) continue; // NaN, too
    const cx = Math.floor(px), cy = Math.floor(py), at = cy * width + cx;
    const inside = cx >= reach && cx < width - reach && cy >= reach && cy < height - reach;
    const full = chosen ? ink[shading.of[i]] : faded, bare = full & 0xffffff;
    const { dx, dy, step, covered } = marked ? stamps[labels[i] < 0 ? CROSS : markerOf(labels[i])] : stamps[0];
    for (let p = 0; p < step.length; p++) {
      if (!inside && (cx + dx[p] < 0 || cx + dx[p] >= width || cy + dy[p] < 0 || cy + dy[p] >= height)) continue;
      const pixel = at + step[p];
      if (!chosen) pixels[pixel] = faded;
      else if (covered[p] === 255) { pixels[pixel] = full; owner[pixel] = i + 1; }
      else if (owner[pixel] === 0) { pixels[pixel] = bare | (covered[p] << 24); owner[pixel] = i + 1; }
    }
  }
}

// Everything above the pixels: axes, the number of each cluster where it is densest, the ring and the lasso.
function drawOver() {
  const { svg } = scatter;
  const names = drawn("g", { class: "numbers" });
  if (shading.column === null && state.current.groups.length > 1) {
    const taken = [];
    for (const { label, x, y } of denseCells()) {
      if (taken.some((other) => Math.abs(other.x - x) < 22 && Math.abs(other.y - y) < 16)) continue;
      taken.push({ x, y });
      const wide = 9 * String(label).length + 7;
      if (state.current.groups.length <= MOST_PLATES) names.append(drawn("rect", { x: x - wide / 2, y: y - 8.5, width: wide, height: 17, rx: 8, stroke: colour(label) }));
      names.append(drawn("text", { x, y: y + 4.5, "text-anchor": "middle" }, label));
    }
  }
  svg.replaceChildren(scatter.frame.axes(), names, drawn("circle", { class: "ring", r: 8, cx: -99, cy: -99 }), drawn("path", { class: "lasso" }));
  ring(scatter.hovered);
}

function denseCells() {
  const { view, frame: { perX, perY, width, height } } = scatter;
  const x = axes[state.across].values, y = axes[state.up].values, { labels } = state.current;
  const nLabels = state.current.groups.length, nCells = N_CELLS * N_CELLS;
  const counts = new Uint32Array(nLabels * nCells), sumX = new Float64Array(counts.length), sumY = new Float64Array(counts.length);
  const mask = state.selected === null ? null : state.selected.mask;
  for (let i = 0; i < n; i++) {
    if (labels[i] < 0 || (mask !== null && !mask[i])) continue;
    const px = (x[i] - view.x0) * perX, py = (view.y1 - y[i]) * perY;
    if (!(px >= 0 && px < width && py >= 0 && py < height)) continue;
    const cell = labels[i] * nCells + Math.floor((py / height) * N_CELLS) * N_CELLS + Math.floor((px / width) * N_CELLS);
    counts[cell]++; sumX[cell] += px; sumY[cell] += py;
  }
  const found = [];
  for (let label = 0; label < nLabels; label++) {
    let best = label * nCells;
    for (let cell = best; cell < (label + 1) * nCells; cell++) if (counts[cell] > counts[best]) best = cell;
    if (counts[best]) found.push({ label, x: MARGIN.left + sumX[best] / counts[best], y: MARGIN.top + sumY[best] / counts[best] });
  }
  return found;
}

function ring(row) {
  const circle = scatter.svg.querySelector(".ring");
  if (circle === null) return;
  circle.setAttribute("cx", row < 0 ? -99 : scatter.frame.toX(axes[state.across].values[row]));
  circle.setAttribute("cy", row < 0 ? -99 : scatter.frame.toY(axes[state.up].values[row]));
}

// The row at a position of the pointer: the topmost one there, else the nearest within a few pixels.
function rowAt(clientX, clientY) {
  const { left, top } = scatter.canvas.getBoundingClientRect();
  const { width, height } = scatter.canvas, { owner, ratio } = scatter;
  const cx = Math.floor((clientX - left) * ratio), cy = Math.floor((clientY - top) * ratio), reach = Math.round(4 * ratio);
  let best = 0, least = Infinity;
  for (let dy = -reach; dy <= reach; dy++)
    for (let dx = -reach; dx <= reach; dx++) {
      const px = cx + dx, py = cy + dy, distance = dx * dx + dy * dy;
      if (px < 0 || py < 0 || px >= width || py >= height || distance >= least || distance > reach * reach) continue;
      const found = owner[py * width + px];
      if (found) { best = found; least = distance; }
    }
  return best - 1;
}
