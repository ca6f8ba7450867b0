
// ---- the state of the page
const state = {
  current: null, // the cut on display
  selected: null, // { mask, text, label } of the selected samples
  across: data.start[0], up: data.start[1], // the axes on display
};

function setNumber(nClusters) {
  const asked = Math.min(Math.max(1, Math.round(nClusters)), tree.most);
  if (state.current !== null && state.current.asked === asked) return;
  state.current = { ...cut(asked), asked };
  const slider = element("number");
  slider.value = asked;
  slider.setAttribute("aria-valuetext", plural(asked, "cluster"));
  element("count").textContent = asked;
  element("unit").textContent = asked === 1 ? "cluster" : "clusters";
  element("why").textContent = data.why[asked - 1];
  for (const button of element("suggested").querySelectorAll("button")) button.setAttribute("aria-pressed", Number(button.dataset.number) === asked);
  hideTip();
  recolour();
}

function recolour() {
  shade(state.current.labels);
  select(null);
  drawTree();
  drawCurve();
  fillSentences();
  fillTable();
  fillLegend();
}

// ---- the selection
function select(choice) {
  state.selected = choice;
  element("all").hidden = element("rows").hidden = choice === null;
  element("selected").textContent = choice === null ? hint() : choice.text;
  drawSamples();
  markChosen();
}

const gaps = new Map(); // rows without a place, by the pair of axes
function hint() {
  const key = `${state.across} ${state.up}`;
  if (!gaps.has(key)) {
    const x = axes[state.across].values, y = axes[state.up].values;
    let without = 0;
    for (let i = 0; i < n; i++) without += !(Number.isFinite(x[i]) && Number.isFinite(y[i]));
    gaps.set(key, without);
  }
  const missing = gaps.get(key);
  return missing ? `${plural(missing, "row")} without a value on these axes ${missing === 1 ? "is" : "are"} not drawn. ${HINT}` : HINT;
}

function selectCluster(label) {
  if (state.selected !== null && state.selected.label === label) return select(null);
  const { labels, groups } = state.current;
  const mask = Uint8Array.from(labels, (other) => other === label);
  const { size } = groups.find((group) => group.label === label);
  select({ mask, text: `${label < 0 ? "Outliers" : `Cluster ${label}`}: ${plural(size, "row")}`, label });
}

function selectBranch(branch) {
  const inside = new Uint8Array(2 * tree.leaves - 1);
  inside[branches.nodes[branch]] = 1;
  for (let merge = tree.leaves - 2; merge >= 0; merge--)
    if (inside[tree.leaves + merge]) inside[tree.children[2 * merge]] = inside[tree.children[2 * merge + 1]] = 1;
  const mask = Uint8Array.from(tree.leaf, (leaf) => inside[leaf]);
  select({ mask, text: `Branch: ${plural(branches.sizes[branch], "row")}`, label: null });
}

// Select the samples inside a polygon of pixels of the plot.
function selectInside(polygon) {
  const x = axes[state.across].values, y = axes[state.up].values, { toX, toY } = scatter.frame;
  const mask = new Uint8Array(n), inCluster = new Map();
  let total = 0;
  for (let i = 0; i < n; i++) {
    const px = toX(x[i]), py = toY(y[i]);
    let inside = false;
    for (let a = 0, b = polygon.length - 1; a < polygon.length; b = a++) {
      const [ax, ay] = polygon[a], [bx, by] = polygon[b];
      if (ay > py !== by > py && px < ((bx - ax) * (py - ay)) / (by - ay) + ax) inside = !inside;
    }
    if (!inside) continue;
    mask[i] = 1;
    total++;
    inCluster.set(state.current.labels[i], (inCluster.get(state.current.labels[i]) || 0) + 1);
  }
  if (total === 0) return select(null);
  const parts = [...inCluster].sort((a, b) => b[1] - a[1]).map(([label, times]) => `${count(times)} in ${nameOf(label)}`);
  const more = parts.length > 4 ? `, ${plural(parts.length - 4, "other cluster")}` : "";
  select({ mask, text: `Lasso: ${plural(total, "row")}, ${parts.slice(0, 4).join(", ")}${more}`, label: null });
}

// ---- the row under the pointer
function hideTip() {
  element("tip").hidden = true;
  scatter.hovered = -1;
  ring(-1);
  markBranch(-1);
}

function showSample(i) {
  scatter.hovered = i;
  const list = made("dl");
  for (const column of [...columns, density]) list.append(made("dt", column.name), made("dd", written(column.values[i], column)));
  const title = named(state.current.labels[i]);
  title.lastChild.textContent = `${rowName(i)} · ${nameOf(state.current.labels[i])}`;
  tip(scatter.box.getBoundingClientRect().right, title, list);
  ring(i);
  markBranch(i);
}

// ---- moving and zooming
function move(dx, dy) {
  const { view, frame: { perX, perY } } = scatter;
  scatter.view = { x0: view.x0 - dx / perX, x1: view.x1 - dx / perX, y0: view.y0 + dy / perY, y1: view.y1 + dy / perY };
  later(drawSamples);
}

function zoom(factor, clientX, clientY) {
  const { view, frame: at, box } = scatter, { left, top } = box.getBoundingClientRect();
  const x = clientX === undefined ? (view.x0 + view.x1) / 2 : at.fromX(clientX - left), y = clientX === undefined ? (view.y0 + view.y1) / 2 : at.fromY(clientY - top);
  const whole = wholeView(), wide = (view.x1 - view.x0) * factor, least = (whole.x1 - whole.x0) / 1e6;
  if (wide < least || wide > 20 * (whole.x1 - whole.x0)) return;
  scatter.view = { x0: x + (view.x0 - x) * factor, x1: x + (view.x1 - x) * factor, y0: y + (view.y0 - y) * factor, y1: y + (view.y1 - y) * factor };
  later(drawSamples);
}

function showWhole() {
  scatter.view = wholeView();
  drawSamples();
}

// At most once per frame, because pointers and sliders move faster than the screen is redrawn.
const waiting = new Set();
function later(action) {
  if (waiting.has(action)) return;
  waiting.add(action);
  requestAnimationFrame(() => { waiting.delete(action); action(); });
}

function followPointers() {
  const { box } = scatter, pointers = new Map();
  let lasso = null, travelled = 0;
  const isLasso = (event) => event.shiftKey || element("lasso").getAttribute("aria-pressed") === "true";
  const at = (event) => { const { left, top } = box.getBoundingClientRect(); return [event.clientX - left, event.clientY - top]; };
  box.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    pointers.set(event.pointerId, event);
    travelled = 0;
    lasso = isLasso(event) && pointers.size === 1 ? [at(event)] : null;
  });
  box.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (before === undefined) {
      if (event.pointerType === "mouse") hover(event);
      return;
    }
    const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY;
    travelled += Math.hypot(dx, dy);
    if (travelled < 4) return;
    box.setPointerCapture(event.pointerId);
    const others = [...pointers.values()].filter((other) => other.pointerId !== event.pointerId);
    pointers.set(event.pointerId, event);
    hideTip();
    if (lasso !== null) {
      lasso.push(at(event));
      box.querySelector(".lasso").setAttribute("d", `M${lasso.map((point) => point.join(" ")).join("L")}Z`);
    } else if (others.length === 0) move(dx, dy);
    else {
      const apart = (one) => Math.hypot(one.clientX - others[0].clientX, one.clientY - others[0].clientY);
      zoom(apart(before) / Math.max(1, apart(event)), (event.clientX + others[0].clientX) / 2, (event.clientY + others[0].clientY) / 2);
    }
  });
  const end = (event) => {
    if (!pointers.delete(event.pointerId)) return;
    if (lasso !== null && lasso.length > 2) selectInside(lasso);
    else if (travelled < 4 && event.type === "pointerup") tapSamples(event);
    lasso = null;
  };
  box.addEventListener("pointerup", end);
  box.addEventListener("pointercancel", end);
  box.addEventListener("wheel", (event) => { event.preventDefault(); zoom(1.0015 ** event.deltaY, event.clientX, event.clientY); }, { passive: false });
  box.addEventListener("mouseleave", hideTip);
}

function hover(event) {
  const row = rowAt(event.clientX, event.clientY);
  if (row < 0) { if (scatter.hovered >= 0) hideTip(); } else showSample(row);
}

function tapSamples(event) {
  const row = rowAt(event.clientX, event.clientY);
  if (row >= 0) {
    selectCluster(state.current.labels[row]);
    Object.assign(mouse, { x: event.clientX, y: event.clientY });
    showSample(row);
  } else if (state.selected !== null) select(null);
}

const KEYS = {
  ArrowLeft: () => move(40, 0), ArrowRight: () => move(-40, 0), ArrowUp: () => move(0, 40), ArrowDown: () => move(0, -40),
  "+": () => zoom(0.8), "=": () => zoom(0.8), "-": () => zoom(1.25), 0: showWhole,
};

// ---- the download
function quoted(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csv(mask = null) {
  const lines = [data.ids === null ? "row,label" : "id,label"];
  for (let i = 0; i < n; i++) if (mask === null || mask[i]) lines.push(`${data.ids === null ? i : quoted(data.ids[i])},${state.current.labels[i]}`);
  return lines.join("\n") + "\n";
}

function download(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// ---- the controls
function makeControls() {
  element("number").addEventListener("input", () => later(followSlider));
  element("fewer").addEventListener("click", () => setNumber(state.current.asked - 1));
  element("more").addEventListener("click", () => setNumber(state.current.asked + 1));
  element("download").addEventListener("click", () => download(`labels-${state.current.asked}.csv`, csv()));
  element("rows").addEventListener("click", () => download(`rows-${state.current.asked}.csv`, csv(state.selected.mask)));
  element("all").addEventListener("click", () => select(null));
  for (const [id, kind] of [["table", "tbody tr"], ["sentences", "li"]])
    element(id).addEventListener("click", (event) => {
      const one = event.target.closest(kind);
      if (one !== null) selectCluster(Number(one.dataset.label));
    });
  element("lasso").addEventListener("click", (event) => {
    const pressed = event.target.getAttribute("aria-pressed") !== "true";
    event.target.setAttribute("aria-pressed", pressed);
    scatter.box.classList.toggle("drawing", pressed);
  });
  element("in").addEventListener("click", () => zoom(0.7));
  element("out").addEventListener("click", () => zoom(1 / 0.7));
  element("reset").addEventListener("click", showWhole);
  element("theme").addEventListener("click", () => setTheme(isDark() ? "light" : "dark"));
  document.addEventListener("mousemove", (event) => Object.assign(mouse, { x: event.clientX, y: event.clientY }), true);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && state.selected !== null) select(null); });
  scatter.box.addEventListener("keydown", (event) => {
    if (event.target !== scatter.box || KEYS[event.key] === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  makeSuggestions();
  makeChoices();
  followPointers();
  followTree();
}

const followSlider = () => setNumber(Number(element("number").value));

function makeSuggestions() {
  if (data.suggested.length) element("suggested").append(made("span", "suggested"));
  data.suggested.filter((number) => number <= tree.most).slice(0, 3).forEach((number, rank) => {
    const button = made("button", number, rank === 0 ? "best" : "");
    button.type = "button";
    button.dataset.number = number;
    button.title = rank === 0 ? "Best suggestion" : "Alternative suggestion";
    button.addEventListener("click", () => setNumber(number));
    element("suggested").append(button);
  });
}

function makeChoices() {
  for (const id of ["across", "up"]) {
    axes.forEach((axis, place) => element(id).add(new Option(axis.name, place, false, place === state[id])));
    element(id).addEventListener("change", () => {
      state[id] = Number(element(id).value);
      hideTip();
      showWhole();
      if (state.selected === null) element("selected").textContent = hint();
    });
  }
  const shades = [...columns, density];
  element("colour").add(new Option("cluster", -1, true, true));
  shades.forEach((column, place) => element("colour").add(new Option(column.name, place)));
  element("colour").addEventListener("change", () => {
    shading.column = shades[Number(element("colour").value)] || null;
    shade(state.current.labels);
    drawSamples();
    fillLegend();
  });
}

function followTree() {
  const at = (box, event) => { const { left, top } = box.getBoundingClientRect(); return [event.clientX - left, event.clientY - top]; };
  dendrogram.box.addEventListener("click", (event) => tapTree(...at(dendrogram.box, event)));
  dendrogram.box.addEventListener("mousemove", (event) => {
    const branch = branchAt(...at(dendrogram.box, event));
    dendrogram.box.style.cursor = branch === null ? "row-resize" : "pointer";
    if (branch === null) hideTip();
    else tip(innerWidth, made("div", plural(branches.sizes[branch], "row")));
  });
  dendrogram.box.addEventListener("mouseleave", hideTip);
  curve.box.addEventListener("click", (event) => setNumber(curve.frame.fromX(at(curve.box, event)[0])));
}

function tapTree(x, y) {
  const branch = branchAt(x, y);
  if (branch !== null) return selectBranch(branch);
  const height = dendrogram.frame.fromY(y);
  setNumber(1 + data.heights.filter((one) => one > height).length);
}

// ---- light and dark
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  element("theme").textContent = theme === "dark" ? "Light" : "Dark";
  if (state.current !== null) {
    const chosen = state.selected;
    recolour();
    if (chosen !== null) select(chosen);
  }
}

function start() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
  scatter.view = wholeView();
  makeHead();
  makeControls();
  setNumber(data.k);
  const resized = new ResizeObserver(() => later(drawAll));
  for (const { box } of [scatter, dendrogram, curve]) resized.observe(box);
  document.body.dataset.ready = "true";
}

function drawAll() {
  drawSamples();
  drawTree();
  drawCurve();
}

return {
  start, cut, setNumber, csv, zoom, select, shading,
  state: () => ({ ...state.current, selected: state.selected, cutHeight: cutHeight(state.current.asked) }),
  shownAxes: () => [axes[state.across], axes[state.up]],
  place: (i) => [scatter.frame.toX(axes[state.across].values[i]), scatter.frame.toY(axes[state.up].values[i])],
  branchPlaces: () => branches.ends.map(([x0, y0, x1, y1], line) => ({ node: branches.lines[line], label: labelsOfBranches()[branches.lines[line]], ends: [dendrogram.frame.toX(x0), dendrogram.frame.toY(y0), dendrogram.frame.toX(x1), dendrogram.frame.toY(y1)] })),
};
