// ---- the data of the page, and how values are written
const data = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);
const TYPES = { uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, int16: Int16Array, int32: Int32Array, float32: Float32Array, float64: Float64Array };

function unpack(packed) {
  if (packed === null) return null;
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new TYPES[packed.type](bytes.buffer);
}

const n = data.n;
const columns = data.columns.map((column) => ({ ...column, values: unpack(column.values) }));
const density = { name: "density", kind: "number", digits: 3, values: unpack(data.density) };
const plane = data.plane.map((axis) => ({ ...axis, kind: "number", digits: 6, values: unpack(axis.values) }));
const isOrdered = (column) => column.texts === undefined;
const axes = [...plane, ...columns.filter(isOrdered), density];

const rowName = (row) => (data.ids === null ? `row ${row}` : data.ids[row]);
const count = (number) => number.toLocaleString("en");
const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;
const percent = (part, whole) => {
  const rounded = Math.round((100 * part) / whole);
  if (rounded === 0 && part > 0) return "under 1 %";
  return rounded === 100 && part < whole ? "over 99 %" : `${rounded} %`;
};

function writeDate(milliseconds, unit) {
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) return String(milliseconds); // beyond the years that a browser knows
  const text = date.toISOString();
  return unit === "D" ? text.slice(0, 10) : text.slice(0, unit === "s" ? 19 : 23).replace("T", " ");
}

// A value as text; a median may have fewer digits.
function written(value, column, fewer = 0) {
  if (!isOrdered(column)) return value < column.texts.length ? column.texts[value] : "missing";
  if (value === null || Number.isNaN(value)) return "missing";
  if (!Number.isFinite(value)) return String(value);
  if (column.kind === "date") return writeDate(value, column.unit);
  const text = column.whole && Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(column.digits - fewer)));
  return column.kind === "duration" ? `${text} s` : text;
}

// The least and the largest finite value of a column.
function extent(column) {
  if (column.extent === undefined) {
    let low = Infinity, high = -Infinity;
    for (const value of column.values) {
      if (value < low && value > -Infinity) low = value;
      if (value > high && value < Infinity) high = value;
    }
    column.extent = low <= high ? [low, high] : [0, 0];
  }
  return column.extent;
}

function made(kind, text, className) {
  const one = document.createElement(kind);
  if (text !== undefined) one.textContent = text;
  if (className) one.className = className;
  return one;
}

function drawn(kind, attributes, text) {
  const one = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value);
  if (text !== undefined) one.textContent = text;
  return one;
}
