'use strict';
(() => {
const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const counted = (number, noun) => `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
const canvas = $('canvas'), g = canvas.getContext('2d'), tip = $('tip'), detail = $('detail');
const { lanes, keys, bars, marks, pending } = data;
const REVISED = 1, WITHDRAWN = 2, AXIS = 30, SHORT = 22, TALL = 34, HEADING = 22;
const font = (size, weight) => `${weight || 400} ${size}px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`;

// ---------------------------------------------------------------- columns by lane
const unpack = (text, kind) => {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new kind(bytes.buffer);
};
for (const name of ['start', 'end']) bars[name] = unpack(bars[name], Float64Array);
for (const name of ['key', 'flags', 'from']) bars[name] = unpack(bars[name], Int32Array);
marks.time = unpack(marks.time, Float64Array);
for (const name of ['key', 'text', 'from']) marks[name] = unpack(marks[name], Int32Array);
const waiting = new Map();
for (const p of pending) waiting.set(p.lane, [...(waiting.get(p.lane) || []), p]);
const laneKeys = lanes.map((_, lane) => {
  const found = new Set();
  for (let i = bars.from[lane]; i < bars.from[lane + 1]; i++) found.add(bars.key[i]);
  for (let i = marks.from[lane]; i < marks.from[lane + 1]; i++) found.add(marks.key[i]);
  for (const p of waiting.get(lane) || []) if (p.key >= 0) found.add(p.key);
  return found;
});

/* first index in [lo, hi) whose number is greater than t; the column is ascending there */
const after = (column, t, lo, hi) => {
  while (lo < hi) { const mid = (lo + hi) >> 1; if (column[mid] > t) hi = mid; else lo = mid + 1; }
  return lo;
};

// ---------------------------------------------------------------- time
const base = BigInt(data.base), seconds = data.seconds;
const point = t => { const n = Math.round(t); return base + BigInt(n); };
const written = (t, step) => {
  if (seconds === null) return String(point(t));
  const moment = new Date(Number(point(t)) * seconds * 1000);
  if (isNaN(moment)) return String(point(t));
  const iso = moment.toISOString();
  const span = (step || 0) * seconds;
  if (!step) return `${iso.slice(0, 10)} ${iso.slice(11, 19)} (${point(t)})`;
  return span >= 86400 ? iso.slice(0, 10) : span >= 60 ? `${iso.slice(5, 10)} ${iso.slice(11, 16)}` : iso.slice(11, 19);
};
const niceStep = least => {
  if (seconds !== null)
    for (const s of [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800])
      if (s / seconds >= least) return Math.max(1, s / seconds);
  const power = Math.pow(10, Math.floor(Math.log10(Math.max(least, 1))));
  for (const m of [1, 2, 5, 10]) if (m * power >= least) return m * power;
  return 10 * power;
};

// ---------------------------------------------------------------- state
const now = data.last === null ? data.until : data.last;
const whole = () => { const room = Math.max(1, data.until * 0.04); return [-room * 0.3, data.until + room]; };
const view = { from: 0, to: 1, top: 0 };
[view.from, view.to] = whole();
const hidden = new Set();
let rows = [], chosen = null, dirty = false, width = 0, height = 0, gutter = 160;
const laneRow = new Map();

const match = (lane, words) => {
  const text = `${lane.label} ${lane.entity} ${[...laneKeys[lane.index]].map(k => keys[k]).join(' ')}`.toLowerCase();
  return words.every(word => text.includes(word));
};
lanes.forEach((lane, index) => { lane.index = index; });

const arrange = () => {
  const words = $('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = lanes.filter(lane => (!words.length || match(lane, words)) &&
    (![...laneKeys[lane.index]].length || [...laneKeys[lane.index]].some(k => !hidden.has(k))));
  const tall = kept.length <= 12 ? TALL : SHORT;
  rows = []; laneRow.clear();
  let y = 0, entity = null;
  for (const lane of kept) {
    if (lane.entity !== entity && lane.entity !== '') { rows.push({ y, h: HEADING, heading: lane.entity }); y += HEADING; }
    entity = lane.entity;
    laneRow.set(lane.index, rows.length);
    rows.push({ y, h: tall, lane }); y += tall;
  }
  rows.height = y;
  $('count').textContent = kept.length === lanes.length ? `${counted(lanes.length, 'lane')}, ${counted(bars.start.length, 'interval')}, ${counted(marks.time.length, 'event')}`
    : `${kept.length.toLocaleString('en')} of ${counted(lanes.length, 'lane')}`;
  if (chosen && !laneRow.has(chosen.lane)) choose(null);
  view.top = Math.max(0, Math.min(view.top, rows.height - height + AXIS + 8));
  redraw();
};

// ---------------------------------------------------------------- colours
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
let ink = {};
const isDark = () => document.documentElement.dataset.theme ? document.documentElement.dataset.theme === 'dark'
  : matchMedia('(prefers-color-scheme: dark)').matches;
const colour = key => key < data.palette.length ? data.palette[key]
  : `hsl(${(key * 137.5) % 360} 48% ${isDark() ? 58 : 50}%)`;
const patterns = new Map();
const hatch = shade => {
  if (!patterns.has(shade)) {
    const tile = document.createElement('canvas'); tile.width = tile.height = 8;
    const c = tile.getContext('2d');
    c.strokeStyle = shade; c.lineWidth = 2;
    for (const d of [-8, 0, 8]) { c.beginPath(); c.moveTo(d, 8); c.lineTo(d + 8, 0); c.stroke(); }
    patterns.set(shade, g.createPattern(tile, 'repeat'));
  }
  return patterns.get(shade);
};
const restyle = () => {
  ink = Object.fromEntries(['bg', 'ink', 'soft', 'line', 'band', 'accent'].map(n => [n, css('--' + n)]));
  patterns.clear();
  for (const dot of document.querySelectorAll('#legend i')) dot.style.background = colour(+dot.dataset.key);
  redraw();
};

// ---------------------------------------------------------------- drawing
const scale = () => (width - gutter) / (view.to - view.from);
const x = t => gutter + (t - view.from) * scale();
const timeAt = px => view.from + (px - gutter) / scale();
const redraw = () => { if (!dirty) { dirty = true; requestAnimationFrame(draw); } };

const clipped = (text, room) => {
  if (g.measureText(text).width <= room) return text;
  let lo = 0, hi = text.length;
  while (lo < hi) { const mid = (lo + hi + 1) >> 1; if (g.measureText(text.slice(0, mid) + '…').width <= room) lo = mid; else hi = mid - 1; }
  return lo ? text.slice(0, lo) + '…' : '';
};

let labels = []; // what the axis says
const drawAxis = () => {
  labels = [];
  const step = niceStep(110 / scale());
  g.font = font(11); g.textBaseline = 'middle'; g.textAlign = 'left';
  const whole = BigInt(Math.max(1, Math.round(step))), offset = Number(base % whole);
  let free = gutter; // how far the labels before reach
  for (let n = Math.ceil((view.from + offset) / step); n * step - offset <= view.to; n++) {
    const t = n * step - offset;
    const px = Math.round(x(t)) + .5;
    if (px < gutter) continue;
    g.strokeStyle = ink.line; g.lineWidth = 1;
    g.beginPath(); g.moveTo(px, AXIS - 6); g.lineTo(px, height); g.stroke();
    const label = seconds === null ? String(base - BigInt(offset) + BigInt(n) * whole) : written(t, step);
    const end = px + 4 + g.measureText(label).width;
    if (px < free || end > width) continue;
    g.fillStyle = ink.soft; g.fillText(label, px + 4, 14);
    free = end + 6; labels.push(label);
  }
  if (data.last !== null) {
    const px = Math.round(x(data.last)) + .5;
    if (px >= gutter && px <= width) {
      g.strokeStyle = ink.accent; g.setLineDash([2, 3]);
      g.beginPath(); g.moveTo(px, AXIS - 6); g.lineTo(px, height); g.stroke(); g.setLineDash([]);
    }
  }
};

const drawBar = (i, y, h) => {
  const flags = bars.flags[i], open = bars.end[i] === Infinity;
  const x0 = Math.max(gutter, x(bars.start[i]));
  const x1 = Math.min(width, open ? x(Math.max(now, bars.start[i])) + 34 : x(bars.end[i]));
  if (x1 <= x0 && !(x1 === x0 && x0 > gutter)) return;
  const w = Math.max(1, x1 - x0), shade = colour(bars.key[i]);
  if (flags & WITHDRAWN) {
    g.strokeStyle = shade; g.setLineDash([3, 3]); g.lineWidth = 1;
    g.strokeRect(x0 + .5, y + .5, Math.max(1, w - 1), h - 1); g.setLineDash([]);
    return;
  }
  if (open) {
    const fade = g.createLinearGradient(Math.max(x0, x(now) - 14), 0, Math.max(x0 + 1, x(Math.max(now, bars.start[i])) + 34), 0);
    fade.addColorStop(0, shade); fade.addColorStop(1, 'transparent');
    g.fillStyle = fade;
  } else g.fillStyle = shade;
  g.fillRect(x0, y, w, h);
  if (flags & REVISED && w > 2) { g.fillStyle = hatch(isDark() ? 'rgba(10,14,20,.6)' : 'rgba(255,255,255,.65)'); g.fillRect(x0, y, w, h); }
  if (w > 26) {
    g.font = font(11, 500); g.fillStyle = '#fff';
    const label = clipped(keys[bars.key[i]], w - 6 - (open ? 30 : 0));
    const before = label && Math.min(5, Math.max(3, (w - g.measureText(label).width) / 2));
    if (label) { g.shadowColor = 'rgba(0,0,0,.55)'; g.shadowBlur = 2; g.fillText(label, x0 + before, y + h / 2 + .5); g.shadowBlur = 0; }
  }
};

/* Level of detail: what would share a pixel is drawn once, and the next bar is found by bisection. */
const drawBars = (lane, y, h) => {
  const lo = bars.from[lane], hi = bars.from[lane + 1];
  const perPixel = 1 / scale();
  let drawn = 0;
  for (let i = data.nested[lane] ? lo : after(bars.end, view.from, lo, hi); i < hi && bars.start[i] <= view.to;) {
    if (hidden.has(bars.key[i])) { i++; continue; }
    if (data.nested[lane] && bars.end[i] < view.from) { i++; continue; }
    drawBar(i, y, h); drawn++;
    const end = bars.end[i] === Infinity ? bars.start[i] : bars.end[i];
    if (end - bars.start[i] >= perPixel || data.nested[lane]) { i++; continue; }
    const pixelEnd = timeAt(Math.floor(x(bars.start[i])) + 1);
    i = Math.max(i + 1, after(bars.end, pixelEnd, i, hi));
  }
  return drawn;
};

const drawMarks = (lane, y, h) => {
  const hi = marks.from[lane + 1];
  let drawn = 0;
  for (let i = after(marks.time, view.from - 1e-9, marks.from[lane], hi); i < hi && marks.time[i] <= view.to;) {
    if (hidden.has(marks.key[i])) { i++; continue; }
    const px = x(marks.time[i]);
    g.fillStyle = colour(marks.key[i]); g.fillRect(Math.round(px) - 1, y + 1, 2.5, h - 2); drawn++;
    const next = timeAt(Math.floor(px) + 1.5);
    i = Math.max(i + 1, after(marks.time, next, i, hi));
  }
  return drawn;
};

const drawPending = (lane, y, h) => {
  for (const p of waiting.get(lane) || []) {
    const x0 = Math.max(gutter, x(p.since)), x1 = x(p.due), foot = Math.round(y + h) - 2;
    if (x1 < gutter || x0 > width) continue;
    g.strokeStyle = g.fillStyle = p.key < 0 ? ink.ink : colour(p.key); g.lineWidth = 2; g.setLineDash([2, 4]);
    g.beginPath(); g.moveTo(x0, foot); g.lineTo(x1, foot); g.stroke(); g.setLineDash([]);
    g.beginPath(); g.arc(x1, foot - 2, 4, 0, 7);
    if (p.key < 0) { g.lineWidth = 1.5; g.stroke(); } else g.fill();
  }
};

const draw = () => {
  const began = performance.now();
  dirty = false;
  const ratio = window.devicePixelRatio || 1;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.fillStyle = ink.bg; g.fillRect(0, 0, width, height);
  g.textBaseline = 'middle'; g.textAlign = 'left';
  let drawn = 0;
  const first = Math.max(0, firstRow(view.top));
  const shown = [];
  for (let r = first; r < rows.length && rows[r].y - view.top + AXIS < height; r++) shown.push(rows[r]);
  shown.forEach(row => {
    const y = row.y - view.top + AXIS;
    if (row.lane && row.lane.index % 2) { g.fillStyle = ink.band; g.fillRect(0, y, width, row.h); }
  });
  drawAxis();
  g.save(); g.beginPath(); g.rect(gutter, AXIS, width - gutter, height - AXIS); g.clip();
  for (const row of shown) {
    if (!row.lane) continue;
    const y = row.y - view.top + AXIS + 3, h = row.h - 6, lane = row.lane.index;
    drawn += drawBars(lane, y, h) + drawMarks(lane, y, h);
    drawPending(lane, y, h);
    if (chosen && chosen.lane === lane) drawChosen(y, h);
  }
  g.restore();
  g.fillStyle = ink.bg; g.fillRect(0, 0, gutter, height);
  g.save(); g.beginPath(); g.rect(0, AXIS, gutter - 6, height - AXIS); g.clip();
  for (const row of shown) {
    const y = row.y - view.top + AXIS + row.h / 2;
    if (row.heading !== undefined) {
      g.font = font(12, 650); g.fillStyle = ink.ink; g.fillText(clipped(row.heading, gutter - 18), 8, y + 2);
    } else {
      g.font = font(12); g.fillStyle = row.lane.given ? ink.soft : ink.ink;
      if (chosen && chosen.lane === row.lane.index) g.fillStyle = ink.accent;
      g.fillText(clipped(row.lane.label, gutter - 30), row.lane.entity === '' ? 8 : 18, y);
    }
  }
  g.restore();
  g.fillStyle = ink.bg; g.fillRect(0, 0, gutter, AXIS);
  g.strokeStyle = ink.line; g.lineWidth = 1;
  g.beginPath(); g.moveTo(0, AXIS - .5); g.lineTo(width, AXIS - .5); g.moveTo(gutter - .5, 0); g.lineTo(gutter - .5, height); g.stroke();
  if (rows.height > height - AXIS) {
    const part = (height - AXIS) / rows.height;
    g.fillStyle = ink.line;
    g.fillRect(width - 6, AXIS + view.top * part, 5, Math.max(18, (height - AXIS) * part));
  }
  window.thalweg.drawn = drawn; window.thalweg.milliseconds = performance.now() - began;
};
const drawChosen = (y, h) => {
  const i = chosen.bar;
  if (i === undefined) return;
  const x0 = Math.max(gutter + 1, x(bars.start[i])), x1 = Math.min(width - 1, bars.end[i] === Infinity ? x(Math.max(now, bars.start[i])) + 34 : x(bars.end[i]));
  g.strokeStyle = ink.accent; g.lineWidth = 2; g.strokeRect(x0, y - 1, Math.max(2, x1 - x0), h + 2);
};
const firstRow = top => {
  let lo = 0, hi = rows.length;
  while (lo < hi) { const mid = (lo + hi) >> 1; if (rows[mid].y + rows[mid].h > top) hi = mid; else lo = mid + 1; }
  return lo;
};

// ---------------------------------------------------------------- what is under the pointer
const barAt = (lane, t, slack) => {
  let best, distance = Infinity;
  const lo = bars.from[lane], hi = bars.from[lane + 1];
  for (let i = data.nested[lane] ? lo : Math.max(lo, after(bars.end, t - slack, lo, hi) - 1); i < hi && bars.start[i] <= t + slack; i++) {
    if (hidden.has(bars.key[i])) continue;
    const d = Math.max(0, bars.start[i] - t, t - bars.end[i]) + (bars.flags[i] & WITHDRAWN ? 1e-6 : 0);
    if (d <= slack + 1e-6 && d < distance) { best = i; distance = d; }
  }
  return best;
};
const under = (px, py) => {
  if (py < AXIS || px < gutter) {
    const r = firstRow(py - AXIS + view.top), row = rows[r];
    return py >= AXIS && row && row.lane ? { lane: row.lane.index } : null;
  }
  const row = rows[firstRow(py - AXIS + view.top)];
  if (!row || !row.lane) return null;
  const lane = row.lane.index, t = timeAt(px), slack = 3 / scale();
  const bar = barAt(lane, t, slack);
  if (bar !== undefined) return { lane, bar };
  const near = [];
  for (let i = after(marks.time, t - slack, marks.from[lane], marks.from[lane + 1]); i < marks.from[lane + 1] && marks.time[i] <= t + slack; i++)
    if (!hidden.has(marks.key[i])) near.push(i);
  if (near.length) return { lane, marks: near };
  for (const p of waiting.get(lane) || []) if (t >= p.since - slack && t <= p.due + slack) return { lane, pending: p };
  return { lane };
};
const described = found => {
  if (found.bar !== undefined) {
    const i = found.bar, open = bars.end[i] === Infinity;
    const state = [bars.flags[i] & REVISED ? 'revised by a late or retracted row' : '', bars.flags[i] & WITHDRAWN ? 'withdrawn by a later query time' : '',
      lanes[found.lane].given ? 'input' : ''].filter(Boolean).join(', ');
    return [`${lanes[found.lane].label} = ${data.values[bars.key[i]]}`,
      `from ${written(bars.start[i])} ${open ? 'on, still holds' : `to ${written(bars.end[i])} (exclusive), ${bars.end[i] - bars.start[i]} long`}`, state];
  }
  if (found.marks) return [found.marks.length === 1 ? data.events[marks.text[found.marks[0]]] : `${found.marks.length} events`,
    found.marks.length === 1 ? `at ${written(marks.time[found.marks[0]])}` : '',
    found.marks.length === 1 ? '' : found.marks.slice(0, 12).map(i => `${data.events[marks.text[i]]} at ${written(marks.time[i])}`).join('\n')
      + (found.marks.length > 12 ? `\n... ${found.marks.length - 12} more` : '')];
  if (found.pending) return [`${lanes[found.lane].label}: pending`, found.pending.about, `counting since ${written(found.pending.since)}`];
  return [lanes[found.lane].label,
    `${counted(bars.from[found.lane + 1] - bars.from[found.lane], 'interval')}, ${counted(marks.from[found.lane + 1] - marks.from[found.lane], 'event')}`, ''];
};

// ---------------------------------------------------------------- the chosen one
const element = (tag, text) => { const e = document.createElement(tag); e.textContent = text; return e; };
const tree = number => {
  const item = document.createElement('li'), [text, ...below] = data.why.nodes[number];
  if (!below.length) { item.textContent = text; return item; }
  const fold = document.createElement('details'); fold.open = true;
  fold.append(element('summary', text));
  const list = document.createElement('ul');
  for (const child of below) list.append(tree(child));
  fold.append(list); item.append(fold);
  return item;
};
const choose = found => {
  chosen = found;
  detail.hidden = !found;
  if (found) {
    const [title, ...lines] = described(found);
    detail.replaceChildren(element('h2', title), ...lines.filter(Boolean).map(l => element('p', l)));
    const why = found.bar === undefined ? undefined : data.why.of[found.bar];
    if (why !== undefined) { const list = document.createElement('ul'); list.append(tree(why)); detail.append(list); }
    else if (found.bar !== undefined && data.ask[0] && !lanes[found.lane].given) {
      detail.append(element('p', `This page carries the explanations of ${counted(Object.keys(data.why.of).length, 'interval')}; for this one, ask:`));
      const ask = data.ask[0].replace('{}', `${lanes[found.lane].label}=${data.values[bars.key[found.bar]]} @ ${point(bars.start[found.bar])}`);
      detail.append(element('pre', ask));
    }
    $('live').textContent = [title, ...lines].filter(Boolean).join('; ');
  } else $('live').textContent = '';
  redraw();
};
const reveal = () => {
  const row = rows[laneRow.get(chosen.lane)];
  if (row.y < view.top) view.top = row.y; else if (row.y + row.h > view.top + height - AXIS) view.top = row.y + row.h - height + AXIS;
  const i = chosen.bar;
  if (i !== undefined) {
    const end = bars.end[i] === Infinity ? data.until : bars.end[i], span = view.to - view.from;
    if (bars.start[i] > view.to || end < view.from) { view.from = bars.start[i] - span * .3; view.to = view.from + span; }
  }
};
const stepLane = d => {
  const order = rows.filter(r => r.lane);
  if (!order.length) return;
  const now = chosen ? order.findIndex(r => r.lane.index === chosen.lane) : d > 0 ? -1 : order.length;
  const lane = order[Math.max(0, Math.min(order.length - 1, now + d))].lane.index;
  const mid = (view.from + view.to) / 2, bar = barAt(lane, mid, (view.to - view.from) / 2);
  choose(bar === undefined ? { lane } : { lane, bar }); reveal();
};
const stepBar = d => {
  if (!chosen) return stepLane(1);
  const lo = bars.from[chosen.lane], hi = bars.from[chosen.lane + 1];
  let i = chosen.bar === undefined ? (d > 0 ? lo - 1 : hi) : chosen.bar;
  do i += d; while (i >= lo && i < hi && hidden.has(bars.key[i]));
  if (i >= lo && i < hi) { choose({ lane: chosen.lane, bar: i }); reveal(); }
};

// ---------------------------------------------------------------- moving
const zoom = (factor, at) => {
  const t = timeAt(at), span = Math.min(Math.max((view.to - view.from) * factor, 4), (data.until + 4) * 4);
  const share = (t - view.from) / (view.to - view.from);
  view.from = t - span * share; view.to = view.from + span; redraw();
};
const pan = share => { const d = (view.to - view.from) * share; view.from += d; view.to += d; redraw(); };
const scroll = d => { view.top = Math.max(0, Math.min(view.top + d, rows.height - height + AXIS + 8)); redraw(); };
const fit = () => { [view.from, view.to] = whole(); redraw(); };
const closer = () => {
  if (!chosen || chosen.bar === undefined) return;
  const i = chosen.bar, end = bars.end[i] === Infinity ? data.until : bars.end[i], room = Math.max(2, (end - bars.start[i]) * .5);
  view.from = bars.start[i] - room; view.to = end + room; redraw();
};

canvas.addEventListener('wheel', event => {
  event.preventDefault();
  const overflow = rows.height > height - AXIS;
  if (event.ctrlKey || event.metaKey || event.altKey || (!overflow && !event.shiftKey && !event.deltaX)) zoom(Math.exp(event.deltaY * .002), event.offsetX);
  else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / (width - gutter));
  else scroll(event.deltaY);
}, { passive: false });
let grabbed = null;
canvas.addEventListener('pointerdown', event => {
  canvas.focus();
  canvas.setPointerCapture(event.pointerId);
  grabbed = { x: event.offsetX, y: event.offsetY, from: view.from, to: view.to, top: view.top, moved: false };
});
canvas.addEventListener('pointermove', event => {
  if (grabbed) {
    const dx = event.offsetX - grabbed.x, dy = event.offsetY - grabbed.y;
    if (Math.abs(dx) + Math.abs(dy) > 4) grabbed.moved = true;
    const d = dx / (width - gutter) * (grabbed.to - grabbed.from);
    view.from = grabbed.from - d; view.to = grabbed.to - d; view.top = grabbed.top; scroll(-dy); tip.hidden = true;
    return;
  }
  const found = under(event.offsetX, event.offsetY);
  tip.hidden = !found;
  if (found) {
    tip.textContent = described(found).filter(Boolean).join('\n');
    tip.style.left = Math.min(event.offsetX + 14, Math.max(0, width - 320)) + 'px';
    tip.style.top = Math.min(event.offsetY + 16, height - 60) + 'px';
  }
});
canvas.addEventListener('pointerup', event => {
  if (grabbed && !grabbed.moved) choose(under(event.offsetX, event.offsetY));
  grabbed = null;
});
canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
canvas.addEventListener('dblclick', event => zoom(.4, event.offsetX));

const actions = {
  ArrowLeft: () => pan(-.15), ArrowRight: () => pan(.15), ArrowUp: () => stepLane(-1), ArrowDown: () => stepLane(1),
  PageUp: () => scroll(-(height - AXIS) * .9), PageDown: () => scroll((height - AXIS) * .9),
  '+': () => zoom(.6, (gutter + width) / 2), '=': () => zoom(.6, (gutter + width) / 2), '-': () => zoom(1 / .6, (gutter + width) / 2),
  0: fit, Home: fit, n: () => stepBar(1), p: () => stepBar(-1), Enter: closer, Escape: () => choose(null),
  '/': () => $('search').focus(), '?': () => $('help').showModal(),
};
document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.tagName === 'INPUT') { if (event.key === 'Escape') { event.target.value = ''; arrange(); canvas.focus(); } return; }
  if (event.key === 'Enter' && event.target.tagName === 'BUTTON') return;
  const action = actions[event.key];
  if (action && !$('help').open) { event.preventDefault(); action(); }
});

// ---------------------------------------------------------------- the rest of the page
const used = new Set(laneKeys.flatMap(found => [...found]));
keys.forEach((name, key) => {
  if (key > 40 || !used.has(key)) return;
  const chip = document.createElement('button'), dot = document.createElement('i');
  dot.dataset.key = key; if (data.values[key] === '') dot.className = 'mark';
  chip.append(dot, name); chip.setAttribute('aria-pressed', 'true');
  chip.addEventListener('click', () => {
    const off = !hidden.delete(key); if (off) hidden.add(key);
    chip.setAttribute('aria-pressed', String(!off)); arrange();
  });
  $('legend').append(chip);
});
$('search').addEventListener('input', arrange);
$('fit').addEventListener('click', fit);
$('theme').addEventListener('click', () => { document.documentElement.dataset.theme = isDark() ? 'light' : 'dark'; restyle(); });
$('keys').addEventListener('click', () => $('help').showModal());
$('png').addEventListener('click', () => canvas.toBlob(blob => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob); link.download = 'timeline.png'; link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', restyle);
const resize = () => {
  const box = canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
  width = box.width; height = box.height;
  canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
  g.font = font(12);
  let longest = 60;
  for (let i = 0; i < Math.min(lanes.length, 4000); i++) longest = Math.max(longest, g.measureText(lanes[i].label).width);
  gutter = Math.min(Math.max(110, longest + 34), width * .35);
  arrange();
};
window.thalweg = { view, data, fit, zoom, draw, rows: () => rows, labels: () => labels, chosen: () => chosen, x, drawn: 0, milliseconds: 0 };
restyle();
resize();
new ResizeObserver(resize).observe(document.querySelector('main'));
})();
