/** The dashboard's charts of truths and of workers: uPlot's, in the page's own colours. */
import { shown } from "./dom.js";

const HEIGHT = 300;
const LETTER = 7.5; // pixels, roughly
const LONGEST = 14; // letters of an axis label
const MOST_LABELS = 11;
const PROBABLE = 0.01; // least probability of an answer that is listed
const MOST_PROBABLE = 3; // answers that are listed

/** Charts by the place they stand in. @type {Map<HTMLElement, {draw: () => void, plot: any}>} */
const charts = new Map();

let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return; // a phone's address bar comes and goes
  width = innerWidth;
  redraw();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

function redraw() {
  for (const { draw } of charts.values()) draw();
}

/**
 * @param {HTMLElement} place
 * @param {(width: number, colours: Colours) => [object, number[][]]} design options and data
 * @typedef {{soft: string, line: string, accent: string}} Colours
 */
function put(place, design) {
  charts.get(place)?.plot?.destroy();
  const chart = { plot: null, draw };
  charts.set(place, chart);
  draw();

  function draw() {
    chart.plot?.destroy();
    chart.plot = null;
    if (!place.clientWidth) return; // not shown now; drawn when it is
    const [options, data] = design(place.clientWidth, coloursOf(place));
    chart.plot = new globalThis.uPlot(
      { width: place.clientWidth, height: HEIGHT, legend: { show: false }, ...options },
      data,
      place,
    );
  }
}

/** @param {HTMLElement} place @returns {Colours} */
function coloursOf(place) {
  const style = getComputedStyle(place);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  return { soft: colour("soft"), line: colour("line"), accent: colour("accent") };
}

/**
 * Every question's truth as a point with its interval.
 * @param {HTMLElement} place
 * @param {any} found what the service answers to …/truths
 * @param {(place: number | null) => void} pointed which question the mouse is at
 */
export function drawTruths(place, { truths, scale }, pointed) {
  const [low, high] = [scale.numbers[0], scale.numbers.at(-1)];
  const margin = 0.06 * (high - low);
  const names = truths.map((truth) => cut(truth.task));
  const worded = scale.numbers.length <= MOST_LABELS;
  const levels = scale.labels.map(cut);
  put(place, (width, colours) => [
    {
      scales: {
        x: { time: false, range: [-0.6, truths.length - 0.4] },
        y: { range: [low - margin, high + margin] },
      },
      axes: [
        axis(colours, {
          grid: { show: false },
          space: LETTER * longest(names) + 12,
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000],
          values: (plot, splits) => splits.map((split) => names[split] ?? ""),
        }),
        axis(colours, {
          size: LETTER * (worded ? longest(levels) : 6) + 20,
          ...(worded && { splits: () => scale.numbers, values: () => levels }),
        }),
      ],
      series: [{}, ...["truth", "low", "high"].map((label) => ({ label, ...invisible }))],
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      hooks: {
        draw: [(plot) => whiskers(plot, colours, width / truths.length)],
        setCursor: [(plot) => pointed(plot.cursor.idx ?? null)],
      },
    },
    [
      [...truths.keys()],
      ...["truth", "low", "high"].map((name) => truths.map((truth) => truth[name])),
    ],
  ]);
}

const invisible = { paths: () => null, points: { show: false } };

/** @param {any} plot @param {Colours} colours @param {number} room for one question, in pixels */
function whiskers(plot, colours, room) {
  const { ctx } = plot;
  const ratio = globalThis.devicePixelRatio;
  const radius = ratio * Math.max(1.5, Math.min(5, room / 5));
  const [, points, lows, highs] = plot.data;
  const y = (value) => plot.valToPos(value, "y", true);
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = colours.accent;
  for (const [place, point] of points.entries()) {
    const x = plot.valToPos(place, "x", true);
    ctx.globalAlpha = 0.35;
    ctx.lineWidth = 1.4 * radius;
    ctx.beginPath();
    ctx.moveTo(x, y(lows[place]));
    ctx.lineTo(x, y(highs[place]));
    ctx.stroke();
    ctx.globalAlpha = 1;
    ctx.beginPath();
    ctx.arc(x, y(point), radius, 0, 2 * Math.PI);
    ctx.fill();
  }
  ctx.restore();
}

/**
 * The number of workers by distance from the truths.
 * @param {HTMLElement} place
 * @param {{edges: number[], counts: number[]}} quality
 */
export function drawQuality(place, { edges, counts }) {
  const middles = counts.map((_, bin) => (edges[bin] + edges[bin + 1]) / 2);
  put(place, (width, colours) => [
    {
      height: 200,
      scales: {
        x: { time: false, range: [edges[0], edges.at(-1)] },
        y: { range: [0, 1.1 * Math.max(1, ...counts)] },
      },
      axes: [
        axis(colours, { grid: { show: false } }),
        axis(colours, { size: 50, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] }),
      ],
      series: [
        {},
        {
          fill: colours.accent,
          points: { show: false },
          paths: globalThis.uPlot.paths.bars({ size: [0.9, 200] }),
        },
      ],
      cursor: { show: false },
    },
    [middles, counts],
  ]);
}

/** @param {Colours} colours @param {object} options */
function axis({ soft, line }, options) {
  return {
    stroke: soft,
    font: "13px system-ui, sans-serif",
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1 },
    ...options,
  };
}

function longest(texts) {
  return Math.max(...texts.map((text) => text.length));
}

function cut(text) {
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

/** @param {any} truth @returns {string} "often (3.1)", or the number alone */
export function reading({ truth, label }) {
  return label === null ? shown(truth) : `${label} (${shown(truth)})`;
}

/** @param {{low: number, high: number}} bounds */
export function interval({ low, high }) {
  return `${shown(low)} – ${shown(high)}`;
}

/** @param {number[]} probabilities @param {string[]} labels @returns {string} "often 82 %, rarely 15 %" */
export function probable(probabilities, labels) {
  return probabilities
    .map((chance, code) => ({ chance, label: labels[code] }))
    .filter(({ chance }) => chance >= PROBABLE)
    .sort((one, other) => other.chance - one.chance)
    .slice(0, MOST_PROBABLE)
    .map(({ chance, label }) => `${label} ${shown(100 * chance, 0)} %`)
    .join(", ");
}
