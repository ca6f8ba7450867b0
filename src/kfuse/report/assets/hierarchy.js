
// ---- the dendrogram
const dendrogram = { box: element("tree"), svg: element("tree").querySelector("svg") };

function treeFrame() {
  const highest = Math.max(1, ...branches.height), lowest = Math.min(0, ...branches.height);
  const view = { x0: -0.9, x1: nBranches - 0.1, y0: lowest - 0.03 * highest, y1: 1.08 * highest };
  return frame(dendrogram.box, view, null, { title: branches.label });
}

// Branches above the cut hold several clusters and have no label.
function labelsOfBranches() {
  const { nodes, holder } = state.current;
  const ofNode = new Map(nodes.map((node, label) => [node, label]));
  return branches.nodes.map((node) => {
    if (node >= holder.length) return null;
    const label = ofNode.get(holder[node]);
    return label === undefined ? -1 : label;
  });
}

function drawTree() {
  const at = (dendrogram.frame = treeFrame());
  const label = labelsOfBranches(), paths = new Map();
  branches.ends.forEach(([x0, y0, x1, y1], line) => {
    const own = label[branches.lines[line]], stroke = own === null ? GREY : colour(own);
    paths.set(stroke, `${paths.get(stroke) || ""}M${at.toX(x0).toFixed(1)} ${at.toY(y0).toFixed(1)}L${at.toX(x1).toFixed(1)} ${at.toY(y1).toFixed(1)}`);
  });
  const lines = [...paths].map(([stroke, d]) => drawn("path", { d, stroke, class: "branch" }));
  if (nBranches === 1) lines.push(drawn("circle", { cx: at.toX(0), cy: at.toY(branches.height[0]), r: 4, fill: colour(0) }));
  const y = at.toY(cutHeight(state.current.asked));
  const line = drawn("path", { d: `M${MARGIN.left} ${y}H${MARGIN.left + at.width}`, class: "now" });
  dendrogram.svg.replaceChildren(at.axes(), ...lines, line, drawn("path", { class: "here" }));
}

function markBranch(row) {
  const here = dendrogram.svg.querySelector(".here");
  if (here === null) return;
  if (row < 0) return here.removeAttribute("d");
  const branch = branchOfSample(row), x = dendrogram.frame.toX(branches.x[branch]), y = dendrogram.frame.toY(branches.height[branch]);
  here.setAttribute("d", `M${x} ${y + 1}l5 9h-10Z`);
}

function branchAt(x, y) {
  const at = dendrogram.frame;
  let best = null, least = 7; // pixels
  branches.ends.forEach(([x0, y0, x1, y1], line) => {
    const [left, right] = [at.toX(x0), at.toX(x1)].sort((a, b) => a - b), [top, bottom] = [at.toY(y0), at.toY(y1)].sort((a, b) => a - b);
    const distance = Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));
    if (distance < least) { best = branches.lines[line]; least = distance; }
  });
  return best;
}

// ---- the fusion curve
const curve = { box: element("curve"), svg: element("curve").querySelector("svg"), ...data.curve };

function drawCurve() {
  const at = (curve.frame = frame(curve.box, { x0: 0.5, x1: tree.most + 0.5, y0: 0, y1: curve.top * 1.06 }, { title: "number of clusters", whole: true }, { title: curve.label }));
  const parts = [];
  if (curve.usual !== null) {
    const top = Math.max(MARGIN.top, at.toY(1));
    parts.push(drawn("rect", { x: MARGIN.left, y: top, width: at.width, height: Math.max(0, at.toY(curve.usual) - top), class: "usual" }));
  }
  let d = "";
  curve.levels.forEach((level, place) => { d += `${place ? "V" : `M${at.toX(1)} `}${at.toY(level)}H${Math.min(at.toX(place + 2), MARGIN.left + at.width)}`; });
  parts.push(at.axes(), drawn("path", { d, class: "stairs" }));
  const taken = [];
  curve.marked.forEach(([number, below, above], rank) => {
    const x = at.toX(number);
    parts.push(drawn("path", { d: `M${x} ${at.toY(below)}V${at.toY(above)}`, class: rank ? "step" : "step best" }));
    // Left of the upper end of the step, where the curve is lower; 1 has no room there. Higher if a number is there.
    let y = Math.max(at.toY(above) - 3, 14);
    while (taken.some((other) => Math.abs(other.x - x) < 9 * String(number).length + 3 && Math.abs(other.y - y) < 14)) y += y < 29 ? 42 : -14;
    taken.push({ x, y });
    parts.push(drawn("text", { x: number === 1 ? x + 7 : x - 6, y, "text-anchor": number === 1 ? "start" : "end", class: rank ? "suggestion" : "suggestion best" }, number));
  });
  const x = at.toX(state.current.asked);
  curve.svg.replaceChildren(...parts, drawn("path", { d: `M${x} ${MARGIN.top}V${MARGIN.top + at.height}`, class: "now" }));
}
