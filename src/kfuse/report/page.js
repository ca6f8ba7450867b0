"use strict";
// The page contains the whole tree and cuts it into any number of clusters, with the same labels as FusionTree.cut.
const kfuse = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const element = (id) => document.getElementById(id);
  const TYPES = { uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, int32: Int32Array, float32: Float32Array, float64: Float64Array };
  const MARKERS = ["circle", "triangle", "square", "diamond"];
  const N_COLOURS = data.palette.length - 1; // the last colour is for outliers
  const markerOf = (label) => Math.floor(label / data.turn) % MARKERS.length; // changes whenever the palette starts over
  const OUTLIER = N_COLOURS, FADED = N_COLOURS + 1;
  const N_TYPICAL = 3;
  const HINT = "Drag to pan, scroll to zoom. Click a sample, a table row or a branch of the dendrogram to select its cluster or branch.";
  const ABOVE = "#8C8C8C";

  function unpack(packed) {
    if (packed === null) return null;
    const text = atob(packed.data);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return new TYPES[packed.type](bytes.buffer);
  }

  // ---- the data
  const n = data.n;
  const tree = { ...data.tree, leaf: unpack(data.tree.leaf), children: unpack(data.tree.children), leaving: unpack(data.tree.leaving), outlier: unpack(data.tree.outlier) };
  const density = unpack(data.density);
  const densityColumn = { name: "density", digits: 3, values: density };
  const columns = data.columns.map((column) => ({ ...column, values: unpack(column.values) }));
  const axes = [...data.axes.map((axis) => ({ ...axis, values: unpack(axis.values) })), ...columns, densityColumn];
  const branches = data.branches;
  const nBranches = (branches.nodes.length + 1) / 2;
  const rowName = (row) => (data.ids === null ? `row ${row}` : data.ids[row]);
  const count = (number) => number.toLocaleString("en");
  const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;

  function shown(value, column, fewer = 0) {
    if (column.whole && Number.isInteger(value)) return String(value);
    return String(Number(value.toPrecision(column.digits - fewer)));
  }

  // ---- the cut
  function holders(nClusters) {
    const nMerges = Math.max(0, tree.leaves - nClusters);
    const holder = new Uint32Array(tree.leaves + nMerges);
    for (let node = 0; node < holder.length; node++) holder[node] = node;
    for (let merge = nMerges - 1; merge >= 0; merge--) {
      const into = holder[tree.leaves + merge];
      holder[tree.children[2 * merge]] = into;
      holder[tree.children[2 * merge + 1]] = into;
    }
    return holder;
  }

  function cut(nClusters) {
    const holder = holders(nClusters);
    const extra = nClusters - tree.leaves; // samples that become clusters of their own
    const nodes = new Int32Array(n);
    const size = new Map(), first = new Map();
    for (let i = 0; i < n; i++) {
      let node = holder[tree.leaf[i]];
      if (extra > 0 && tree.leaving !== null && tree.leaving[i] >= 0 && tree.leaving[i] < extra) node = tree.leaves + tree.leaving[i];
      if (tree.outlier !== null && tree.outlier[i]) node = -1;
      nodes[i] = node;
      if (node < 0) continue;
      const before = size.get(node);
      if (before === undefined) { size.set(node, 1); first.set(node, i); } else size.set(node, before + 1);
    }
    // By decreasing size, then by smallest sample index, as in Python.
    const order = [...size.keys()].sort((a, b) => size.get(b) - size.get(a) || first.get(a) - first.get(b));
    const rank = new Map(order.map((node, label) => [node, label]));
    rank.set(-1, -1);
    const labels = new Int32Array(n);
    let last = NaN, label = -1;
    for (let i = 0; i < n; i++) {
      if (nodes[i] !== last) { last = nodes[i]; label = rank.get(last); }
      labels[i] = label;
    }
    const sizes = order.map((node) => size.get(node));
    return { labels, nodes: order, sizes, nOutliers: n - sizes.reduce((sum, one) => sum + one, 0), holder };
  }

  // ---- the state
  let current = null;      // the cut on display
  let selected = null;      // { mask, text, label } of the selected samples
  let across = 0, up = 1;  // the axes on display
  let model = {};          // Bokeh's models by name
  const colour = (label) => data.palette[label < 0 ? OUTLIER : label % N_COLOURS];

  function recolour() {
    const shade = new Float32Array(n);
    const { labels } = current;
    for (let i = 0; i < n; i++) {
      const label = labels[i];
      shade[i] = 0.5 + (selected !== null && !selected.mask[i] ? FADED : label < 0 ? OUTLIER : label % N_COLOURS);
    }
    const marker = data.marked ? Array.from(labels, (label) => (label < 0 ? "x" : MARKERS[markerOf(label)])) : new Uint8Array(n);
    model.samples.data = { x: axes[across].values, y: axes[up].values, shade, marker };
  }

  function recolourTree() {
    const label = labelsOfBranches();
    const lines = model.tree.data;
    model.tree.data = { ...lines, colour: Array.from(lines.node, (node) => (label[node] === null ? ABOVE : colour(label[node]))) };
    model.cut.location = cutHeight(current.asked);
  }

  function labelsOfBranches() {
    // Branches above the cut hold several clusters and have no label.
    const ofNode = new Map(current.nodes.map((node, label) => [node, label]));
    const { holder } = current;
    return branches.nodes.map((node) => {
      if (node >= holder.length) return null;
      const label = ofNode.get(holder[node]);
      return label === undefined ? -1 : label;
    });
  }

  function cutHeight(nClusters) {
    // Heights of the last merges, the last one first.
    const heights = data.heights;
    const above = nClusters >= 2 ? heights[Math.min(nClusters - 2, heights.length - 1)] : heights.length ? heights[0] * 1.08 : 1;
    const below = nClusters - 1 < heights.length ? heights[nClusters - 1] : 0;
    return (above + below) / 2;
  }

  function setNumber(nClusters) {
    const asked = Math.min(Math.max(1, Math.round(nClusters)), tree.most);
    if (current !== null && current.asked === asked) return;
    current = { ...cut(asked), asked };
    const slider = element("number");
    slider.value = asked;
    slider.setAttribute("aria-valuetext", plural(asked, "cluster"));
    element("count").textContent = asked;
    element("unit").textContent = asked === 1 ? "cluster" : "clusters";
    for (const button of element("suggested").querySelectorAll("button")) button.setAttribute("aria-pressed", Number(button.dataset.number) === asked);
    model.now.location = asked;
    select(null);
    recolourTree();
    hovered = -1;
    hideTip();
    fillTable();
  }

  // ---- the selection
  function select(choice) {
    selected = choice;
    element("all").hidden = choice === null;
    element("selected").textContent = choice === null ? HINT : choice.text;
    recolour();
    element("table").querySelectorAll("tbody tr").forEach((row) => row.classList.toggle("chosen", choice !== null && Number(row.dataset.label) === choice.label));
  }

  function selectCluster(label) {
    if (selected !== null && selected.label === label) return select(null);
    select({ mask: current.labels.map((other) => other === label), text: `${label < 0 ? "Outliers" : `Cluster ${label}`}: ${plural(groupSizes()[groupOf(label)], "row")}`, label });
  }

  function selectBranch(branch) {
    const inside = new Uint8Array(2 * tree.leaves - 1);
    inside[branches.nodes[branch]] = 1;
    for (let merge = tree.leaves - 2; merge >= 0; merge--)
      if (inside[tree.leaves + merge]) inside[tree.children[2 * merge]] = inside[tree.children[2 * merge + 1]] = 1;
    const mask = new Uint8Array(n);
    for (let i = 0; i < n; i++) mask[i] = inside[tree.leaf[i]];
    select({ mask, text: `Branch: ${plural(branches.sizes[branch], "row")}`, label: null });
  }

  const nameOf = (label) => (label < 0 ? "outliers" : `cluster ${label}`);

  // ---- the table
  let filling = 0;
  function sortedOrder(column) {
    if (column.order === undefined) {
      const { values } = column;
      column.order = Uint32Array.from(values.keys()).sort((a, b) => values[a] - values[b] || a - b);
      column.least = values[column.order[0]];
      column.most = values[column.order[n - 1]];
    }
    return column.order;
  }

  // The rows of the table: the clusters, then the outliers, if there are any.
  const groupSizes = () => (current.nOutliers ? [...current.sizes, current.nOutliers] : current.sizes);
  const groupOf = (label) => (label < 0 ? current.sizes.length : label);
  const labelOf = (group) => (group < current.sizes.length ? group : -1);

  function quartiles(column) {
    // Sort the values within each group, then interpolate.
    const sizes = groupSizes();
    const starts = new Uint32Array(sizes.length);
    for (let group = 1; group < sizes.length; group++) starts[group] = starts[group - 1] + sizes[group - 1];
    const next = starts.slice();
    const sorted = new Float64Array(n);
    for (const i of sortedOrder(column)) sorted[next[groupOf(current.labels[i])]++] = column.values[i];
    return sizes.map((size, group) => [0.25, 0.5, 0.75].map((share) => {
      const position = share * (size - 1), low = Math.floor(position), start = starts[group];
      const a = sorted[start + low], b = sorted[start + Math.min(low + 1, size - 1)];
      return a + (b - a) * (position - low);
    }));
  }

  let densest = null;
  function typicalRows() {
    if (densest === null) densest = Uint32Array.from(density.keys()).sort((a, b) => density[b] - density[a] || a - b);
    const sizes = groupSizes();
    const found = sizes.map(() => []);
    let missing = sizes.reduce((sum, size) => sum + Math.min(size, N_TYPICAL), 0);
    for (const i of densest) {
      const group = groupOf(current.labels[i]);
      if (found[group].length === N_TYPICAL) continue;
      found[group].push(i);
      if (--missing === 0) break;
    }
    return found;
  }

  function cell(kind, text, className) {
    const made = document.createElement(kind);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function bar(low, middle, high, shade) {
    const made = cell("span", undefined, "bar");
    const span = cell("i");
    span.style.cssText = `left:${100 * low}%;width:${100 * (high - low)}%;background:${shade}`;
    made.append(span);
    if (middle !== null) { const mark = cell("b"); mark.style.left = `${100 * middle}%`; made.append(mark); }
    return made;
  }

  const SHAPES = ["M6.5 1a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11", "M6.5 1L12.5 12H.5Z", "M1.5 1.5h10v10h-10Z", "M6.5 .5L12.5 6.5L6.5 12.5L.5 6.5Z"];
  function named(label, kind = "span") {
    const made = cell(kind, undefined, "name");
    const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    picture.setAttribute("viewBox", "0 0 13 13");
    picture.setAttribute("class", "swatch");
    picture.setAttribute("aria-hidden", "true");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", SHAPES[label < 0 ? 0 : markerOf(label)]);
    path.setAttribute("fill", colour(label));
    picture.append(path);
    made.append(picture, document.createTextNode(label < 0 ? "outliers" : label));
    return made;
  }

  function makeHead() {
    const row = cell("tr");
    for (const name of ["cluster", "rows", "density", "typical rows", ...columns.map((column) => column.name)]) {
      const head = cell("th", name);
      head.scope = "col";
      head.title = name;
      row.append(head);
    }
    element("table").tHead.append(row);
  }

  async function fillTable() {
    const turn = ++filling; // a later call cancels this one
    const pause = () => new Promise((resolve) => setTimeout(resolve));
    element("table").setAttribute("aria-busy", "true");
    await pause();
    if (turn !== filling) return;
    const densities = quartiles(densityColumn), typical = typicalRows();
    const rows = groupSizes().map((size, group) => {
      const label = labelOf(group);
      const row = cell("tr");
      row.dataset.label = label;
      const name = cell("th"), button = named(label, "button");
      name.scope = "row";
      button.type = "button";
      button.setAttribute("aria-label", `Select ${nameOf(label)}`);
      name.append(button);
      const share = cell("td", `${count(size)} `);
      share.append(cell("span", `${(100 * size / n).toFixed(1)} %`, "share"), bar(0, null, size / Math.max(...groupSizes()), colour(label)));
      const rowNames = typical[group].map((row) => (data.ids === null ? row : data.ids[row])).join(", ");
      const examples = cell("td", rowNames, "typical");
      examples.title = rowNames;
      row.append(name, share, cell("td", shown(densities[group][1], densityColumn)), examples);
      return row;
    });
    for (const column of columns) {
      const found = quartiles(column);
      const place = (value) => (column.most > column.least ? (value - column.least) / (column.most - column.least) : 0.5);
      rows.forEach((row, group) => {
        const [low, middle, high] = found[group];
        const made = cell("td", shown(middle, column, 2));
        made.title = `25th to 75th percentile: ${shown(low, column)} to ${shown(high, column)}`;
        made.append(bar(place(low), place(middle), place(high), colour(labelOf(group))));
        row.append(made);
      });
      await pause();
      if (turn !== filling) return;
    }
    element("table").tBodies[0].replaceChildren(...rows);
    element("table").setAttribute("aria-busy", "false");
    if (selected !== null) select(selected);
  }

  // ---- the tip
  function tip(x, y, limit, ...children) {
    const box = element("tip");
    box.replaceChildren(...children);
    box.hidden = false;
    const { width, height } = box.getBoundingClientRect();
    // Left of the pointer if it does not fit between pointer and limit, so that the tree stays visible.
    box.style.left = `${x + 16 + width > limit && x > width + 20 ? x - width - 16 : Math.max(4, Math.min(x + 16, innerWidth - width - 4))}px`;
    box.style.top = `${Math.max(4, y + 16 + height > innerHeight ? y - height - 16 : y + 16)}px`;
  }

  function hideTip() {
    element("tip").hidden = true;
    if (model.ring.data.x.length) model.ring.data = { x: [], y: [] };
    if (model.here.data.x.length) model.here.data = { x: [], y: [] };
  }

  let branchOfNode = null;
  function branchOfSample(i) {
    if (branchOfNode === null) {
      const holder = holders(nBranches);
      branchOfNode = new Map(branches.nodes.slice(0, nBranches).map((node, branch) => [node, branch]));
      branchOfNode.holder = holder;
    }
    return branchOfNode.get(branchOfNode.holder[tree.leaf[i]]);
  }

  const mouse = { x: 0, y: 0 };
  let hovered = -1;
  function hoverSample(indices, geometry) {
    if (indices.length === 0) {
      if (hovered >= 0) hideTip();
      hovered = -1;
      return;
    }
    // The nearest sample under the pointer; among equals, the topmost.
    const x = axes[across].values, y = axes[up].values;
    const ranges = plots.samples;
    const sx = 1 / Math.abs(ranges.x_range.end - ranges.x_range.start), sy = 1 / Math.abs(ranges.y_range.end - ranges.y_range.start);
    let best = -1, least = Infinity;
    for (const i of indices) {
      const distance = ((x[i] - geometry.x) * sx) ** 2 + ((y[i] - geometry.y) * sy) ** 2;
      if (distance <= least && (selected === null || selected.mask[i])) { best = i; least = distance; }
    }
    hovered = best;
    if (best < 0) return hideTip();
    showSample(best);
  }

  function showSample(i) {
    const list = cell("dl");
    for (const column of columns) list.append(cell("dt", column.name), cell("dd", shown(column.values[i], column)));
    list.append(cell("dt", "density"), cell("dd", shown(density[i], densityColumn)));
    const title = named(current.labels[i]);
    title.lastChild.textContent = `${rowName(i)} · ${nameOf(current.labels[i])}`;
    tip(mouse.x, mouse.y, element("samples").getBoundingClientRect().right, title, list);
    model.ring.data = { x: [axes[across].values[i]], y: [axes[up].values[i]] };
    const branch = branchOfSample(i);
    model.here.data = { x: [branches.x[branch]], y: [branches.height[branch]] };
  }

  function tapSamples() {
    if (hovered >= 0) selectCluster(current.labels[hovered]);
    else if (selected !== null) select(null);
  }

  // ---- the tree and the curve
  function branchAt(event) {
    const plot = plots.tree, lines = model.tree.data;
    const perX = plot.inner_width / (plot.x_range.end - plot.x_range.start);
    const perY = plot.inner_height / (plot.y_range.end - plot.y_range.start);
    let best = null, least = 6; // pixels
    for (let line = 0; line < lines.node.length; line++) {
      const low = Math.min(lines.x0[line], lines.x1[line]), high = Math.max(lines.x0[line], lines.x1[line]);
      const bottom = Math.min(lines.y0[line], lines.y1[line]), top = Math.max(lines.y0[line], lines.y1[line]);
      const dx = Math.max(low - event.x, 0, event.x - high) * perX, dy = Math.max(bottom - event.y, 0, event.y - top) * perY;
      const distance = Math.hypot(dx, dy);
      if (distance < least) { best = lines.node[line]; least = distance; }
    }
    return best;
  }

  function tapTree(event) {
    const branch = branchAt(event);
    if (branch !== null) return selectBranch(branch);
    setNumber(1 + data.heights.filter((height) => height > event.y).length);
  }

  function hoverTree(event) {
    const branch = branchAt(event);
    element("tree").style.cursor = branch === null ? "row-resize" : "pointer";
    if (branch === null) return hideTip();
    tip(mouse.x, mouse.y, innerWidth, cell("div", plural(branches.sizes[branch], "row")));
  }

  // ---- the download
  function quoted(text) {
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  function csv() {
    const lines = [data.ids === null ? "row,label" : "id,label"];
    for (let i = 0; i < n; i++) lines.push(`${data.ids === null ? i : quoted(data.ids[i])},${current.labels[i]}`);
    return lines.join("\n") + "\n";
  }

  function download() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
    link.download = `labels-${current.asked}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // ---- the start
  function makeControls() {
    // At most once per frame, because the slider can move faster than the screen is redrawn.
    let waiting = false;
    element("number").addEventListener("input", () => {
      if (!waiting) requestAnimationFrame(() => { waiting = false; setNumber(Number(element("number").value)); });
      waiting = true;
    });
    element("fewer").addEventListener("click", () => setNumber(current.asked - 1));
    element("more").addEventListener("click", () => setNumber(current.asked + 1));
    element("download").addEventListener("click", download);
    element("all").addEventListener("click", () => select(null));
    element("table").tBodies[0].addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row !== null) selectCluster(Number(row.dataset.label));
    });
    document.addEventListener("mousemove", (event) => Object.assign(mouse, { x: event.clientX, y: event.clientY }), true);
    for (const id of ["samples", "tree"]) element(id).addEventListener("mouseleave", hideTip);
    if (data.suggested.length) element("suggested").append("suggested");
    data.suggested.filter((number) => number <= tree.most).slice(0, 3).forEach((number, rank) => {
      const button = cell("button", number, rank === 0 ? "best" : "");
      button.type = "button";
      button.dataset.number = number;
      button.title = rank === 0 ? "Best suggestion" : "Alternative suggestion";
      button.addEventListener("click", () => setNumber(number));
      element("suggested").append(button);
    });
    for (const [id, chosen] of [["across", across], ["up", up]]) {
      axes.forEach((axis, position) => element(id).add(new Option(axis.name, position, false, position === chosen)));
      element(id).addEventListener("change", () => {
        across = Number(element("across").value);
        up = Number(element("up").value);
        hideTip();
        recolour();
        plots.samples.reset.emit();
      });
    }
  }

  const plots = {};
  async function start() {
    const figures = JSON.parse(element("figures").textContent);
    for (const id of Object.keys(figures)) await Bokeh.embed.embed_item(figures[id], id);
    const find = (name) => Bokeh.documents.map((doc) => doc.get_model_by_name(name)).find((found) => found !== null);
    for (const id of Object.keys(figures)) plots[id] = find(id);
    model = { samples: find("samples source"), ring: find("ring source"), tree: find("tree source"), here: find("here source"), cut: find("cut"), now: find("now") };
    makeHead();
    makeControls();
    setNumber(data.k);
    document.body.dataset.ready = "true";
  }

  return { start, cut, setNumber, hoverSample, hoverTree, tapTree, tapCurve: (event) => setNumber(event.x), tapSamples, csv, state: () => current };
})();
kfuse.start();
