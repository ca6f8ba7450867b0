
// ---- colours
const MARKERS = 4; // circle, triangle, square, diamond; they change whenever the palette starts over
const markerOf = (label) => Math.floor(label / data.turn) % MARKERS;
const GREY = "#8C8C8C";
const isDark = () => document.documentElement.dataset.theme === "dark";
const coloursOf = () => data.palette[isDark() ? "dark" : "light"];
const colour = (label) => (label < 0 ? GREY : coloursOf()[label % coloursOf().length]);

// Cividis, which reads the same with a colour vision deficiency.
const SCALE = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"];
const rgb = (hex) => [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));

function onScale(share) {
  const place = Math.min(Math.max(share, 0), 1) * (SCALE.length - 1), low = Math.min(Math.floor(place), SCALE.length - 2);
  const a = rgb(SCALE[low]), b = rgb(SCALE[low + 1]);
  return `#${a.map((part, i) => Math.round(part + (b[i] - part) * (place - low)).toString(16).padStart(2, "0")).join("")}`;
}

// ---- axes of a plot in SVG
const DAY = 86400000;
const MARGIN = { left: 60, right: 10, top: 8 };

function ticksOf(low, high, most, whole, column) {
  if (column !== undefined && column.kind === "date") {
    const unit = high - low > 4 * DAY ? DAY : 60000;
    const { found, step } = ticksOf(low / unit, high / unit, most, true);
    return { found: found.map((tick) => tick * unit), step: step * unit };
  }
  const span = high - low || 1;
  const raw = span / Math.max(1, most), power = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max([1, 2, 5, 10].find((one) => one * power >= raw * 0.8) * power, whole ? 1 : 0);
  const found = [];
  for (let tick = Math.ceil(low / step - 1e-9) * step; tick <= high + 1e-9 * step; tick += step) found.push(Math.abs(tick) < step / 1e6 ? 0 : tick);
  return { found, step };
}

function writeTick(value, step, column) {
  if (column !== undefined && column.kind === "date") return step >= DAY ? writeDate(value, "D") : writeDate(value, "s").slice(5, 16);
  if (Math.abs(value) >= 1e6 || (value !== 0 && Math.abs(step) < 1e-4)) return Number(value.toPrecision(6)).toExponential().replace("e+", "e");
  return String(Number(value.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9))))).replace("-", "\u2212");
}

// A frame with scales between data and pixels; `x` and `y` say what the axes show.
function frame(box, view, x, y) {
  const width = Math.max(10, box.clientWidth - MARGIN.left - MARGIN.right), height = Math.max(10, box.clientHeight - MARGIN.top - (x === null ? 8 : 38));
  const perX = width / (view.x1 - view.x0), perY = height / (view.y1 - view.y0);
  return {
    width, height, perX, perY, view,
    toX: (value) => MARGIN.left + (value - view.x0) * perX,
    toY: (value) => MARGIN.top + (view.y1 - value) * perY,
    fromX: (pixel) => view.x0 + (pixel - MARGIN.left) / perX,
    fromY: (pixel) => view.y1 - (pixel - MARGIN.top) / perY,
    axes() {
      const group = drawn("g", { class: "axis" });
      const bottom = MARGIN.top + height;
      group.append(drawn("path", { d: `M${MARGIN.left} ${MARGIN.top}V${bottom}H${MARGIN.left + width}`, fill: "none" }));
      if (x !== null) {
        const { found, step } = ticksOf(view.x0, view.x1, width / (x.column !== undefined && x.column.kind === "date" ? 110 : 72), x.whole, x.column);
        for (const tick of found) group.append(drawn("text", { x: this.toX(tick), y: bottom + 16, "text-anchor": "middle" }, writeTick(tick, step, x.column)));
        if (x.title) group.append(drawn("text", { x: MARGIN.left + width / 2, y: bottom + 33, "text-anchor": "middle", class: "title" }, x.title));
      }
      const { found, step } = ticksOf(view.y0, view.y1, height / 52, y.whole, y.column);
      for (const tick of found) group.append(drawn("text", { x: MARGIN.left - 7, y: this.toY(tick) + 4, "text-anchor": "end" }, writeTick(tick, step, y.column)));
      if (y.title) group.append(drawn("text", { transform: `translate(11 ${MARGIN.top + height / 2}) rotate(-90)`, "text-anchor": "middle", class: "title" }, y.title));
      return group;
    },
  };
}

// ---- the tip beside the pointer
const mouse = { x: 0, y: 0 };
function tip(limit, ...children) {
  const box = element("tip");
  box.replaceChildren(...children);
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  // Left of the pointer if it does not fit between pointer and limit.
  box.style.left = `${mouse.x + 16 + width > limit && mouse.x > width + 20 ? mouse.x - width - 16 : Math.max(4, Math.min(mouse.x + 16, innerWidth - width - 4))}px`;
  box.style.top = `${Math.max(4, mouse.y + 16 + height > innerHeight ? mouse.y - height - 16 : mouse.y + 16)}px`;
}
