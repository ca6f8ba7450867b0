
// ---- what each cluster is: sentences and table
const SHAPES = ["M6.5 1a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11", "M6.5 1L12.5 12H.5Z", "M1.5 1.5h10v10h-10Z", "M6.5 .5L12.5 6.5L6.5 12.5L.5 6.5Z"];

function swatch(shade, shape = 0) {
  const picture = drawn("svg", { viewBox: "0 0 13 13", class: "swatch", "aria-hidden": "true" });
  picture.append(drawn("path", { d: SHAPES[shape], fill: shade }));
  return picture;
}

function named(label, kind = "span") {
  const one = made(kind, undefined, "name");
  one.append(swatch(colour(label), label < 0 || !data.marked ? 0 : markerOf(label)), document.createTextNode(label < 0 ? "outliers" : label));
  return one;
}

function fillSentences() {
  element("sentences").replaceChildren(...state.current.groups.map((group) => {
    const item = made("li"), button = made("button");
    item.dataset.label = group.label;
    button.type = "button";
    button.setAttribute("aria-label", `Select ${nameOf(group.label)}`);
    const [size, ...rest] = description(group).sentence.replaceAll(" %", "\u00a0%").split(": ");
    const text = made("span", undefined, "sentence");
    text.append(made("b", size), `: ${rest.join(": ")}`);
    button.append(named(group.label), text);
    item.append(button);
    return item;
  }));
}

function bar(low, middle, high, shade) {
  const one = made("span", undefined, "bar"), span = made("i");
  span.style.cssText = `left:${100 * low}%;width:${100 * (high - low)}%;background:${shade}`;
  one.append(span);
  if (middle !== null) { const mark = made("b"); mark.style.left = `${100 * middle}%`; one.append(mark); }
  return one;
}

function makeHead() {
  const row = made("tr");
  for (const name of ["cluster", "rows", "density", "typical rows", ...columns.map((column) => column.name)]) {
    const head = made("th", name);
    head.scope = "col";
    head.title = name;
    row.append(head);
  }
  element("table").tHead.append(row);
}

function valueCell(column, found, group) {
  if (found === null) return made("td", "missing", "share");
  const there = group.size - found[found.length - 1];
  const gaps = there < group.size ? `; ${count(group.size - there)} missing` : "";
  if (!isOrdered(column)) {
    const [code, times] = found;
    const one = made("td", `${column.texts[code]} `, "category");
    one.append(made("span", percent(times, group.size), "share"), bar(0, null, times / group.size, colour(group.label)));
    one.title = `${column.texts[code]}: ${count(times)} of ${count(group.size)} rows${gaps}`;
    return one;
  }
  const [low, middle, high] = found, [least, most] = extent(column);
  const place = (value) => (most > least && value !== null ? (value - least) / (most - least) : 0.5);
  const one = made("td", written(middle, column, column.kind === "date" ? 0 : 2));
  one.title = `25th to 75th percentile: ${written(low, column)} to ${written(high, column)}${gaps}`;
  one.append(bar(place(low), place(middle), place(high), colour(group.label)));
  return one;
}

function tableRow(group, largest) {
  const told = description(group), row = made("tr"), name = made("th"), button = named(group.label, "button");
  row.dataset.label = group.label;
  name.scope = "row";
  button.type = "button";
  button.setAttribute("aria-label", `Select ${nameOf(group.label)}`);
  name.append(button);
  const size = made("td", `${count(group.size)} `);
  size.append(made("span", `${((100 * group.size) / n).toFixed(1)} %`, "share"), bar(0, null, group.size / largest, colour(group.label)));
  const typical = told.typical.map((i) => (data.ids === null ? i : data.ids[i])).join(", ");
  const examples = made("td", typical, "typical");
  examples.title = typical;
  row.append(name, size, made("td", written(told.density, density)), examples);
  row.append(...columns.map((column, place) => valueCell(column, told.columns[place], group)));
  return row;
}

// After the samples are on the screen; a later call replaces this one.
let filling = 0;
function fillTable() {
  const table = element("table");
  table.setAttribute("aria-busy", "true");
  clearTimeout(filling);
  filling = setTimeout(() => {
    const largest = Math.max(...state.current.groups.map((group) => group.size));
    table.tBodies[0].replaceChildren(...state.current.groups.map((group) => tableRow(group, largest)));
    table.setAttribute("aria-busy", "false");
    markChosen();
  }, 30);
}

function markChosen() {
  const chosen = state.selected === null ? null : state.selected.label;
  for (const one of document.querySelectorAll("#table tbody tr, #sentences li")) one.classList.toggle("chosen", chosen !== null && Number(one.dataset.label) === chosen);
}

// ---- the legend of colours by a column
function fillLegend() {
  const box = element("legend"), column = shading.column;
  box.hidden = column === null;
  if (column === null) return;
  if (isOrdered(column)) {
    const [low, high] = middleRange(column), scale = made("i", undefined, "scale");
    scale.style.background = `linear-gradient(90deg, ${[...Array(9).keys()].map((step) => onScale(step / 8)).join(", ")})`;
    box.replaceChildren(made("span", `${written(low, column, 2)} or less`), scale, made("span", `${written(high, column, 2)} or more`));
    return;
  }
  const { shown, counts } = frequent(column);
  const items = shown.map((code, rank) => [colour(rank), column.texts[code], counts[code]]);
  const rest = n - shown.reduce((sum, code) => sum + counts[code], 0);
  if (rest) items.push([GREY, "other or missing", rest]);
  box.replaceChildren(...items.map(([shade, text, times]) => {
    const item = made("span");
    item.append(swatch(shade), `${text} `, made("span", count(times), "share"));
    return item;
  }));
}
