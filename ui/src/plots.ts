// The last hours as plots.

import uPlot from '../vendor/uplot/uPlot.esm.js';
import { ask, h } from './dom';
import type { Sample, Totals } from './types';

interface Line {
  label: string;
  colour: string;
  of: (t: Totals) => number;
}

interface Plot {
  title: string;
  unit: string;
  lines: Line[];
}

const plots = (currency: string): Plot[] => [
  { title: `Price, ${currency} an hour`, unit: '', lines: [{ label: 'price', colour: '#2f8f6b', of: (t) => t.price / 1e6 }, { label: 'all on demand', colour: '#8a8f98', of: (t) => t.onDemand / 1e6 }] },
  { title: 'Nodes', unit: '', lines: [{ label: 'ready', colour: '#2f8f6b', of: (t) => t.ready }, { label: 'on their way', colour: '#3b7dd8', of: (t) => t.coming }, { label: 'going', colour: '#d97f2b', of: (t) => t.going }] },
  { title: 'Pods without a node', unit: '', lines: [{ label: 'pods', colour: '#c8553d', of: (t) => t.waiting }, { label: 'longest wait, s', colour: '#8a8f98', of: (t) => t.longest }] },
  { title: 'Asked for by pods, %', unit: '%', lines: [{ label: 'CPU', colour: '#3b7dd8', of: (t) => t.cpu }, { label: 'memory', colour: '#7a5cc4', of: (t) => t.memory }] },
];

/** How many points a plot keeps: six hours of them and a little. */
const most = 2400;
/** A point of the live stream is added no more often than this, in seconds. */
const every = 2;

/** Writes moments: with seconds while no more than some minutes are shown. */
function times(_plot: uPlot, at: number[]): string[] {
  const fine = at.length > 1 && at[1] - at[0] < 60;
  return at.map((s) => new Date(s * 1000).toLocaleTimeString('en-GB').slice(0, fine ? 8 : 5));
}

export class Plots {
  readonly element = h('section', { class: 'plots', 'aria-label': 'The last hours' });
  private samples: { at: number; totals: Totals }[] = [];
  private charts: uPlot[] = [];
  private currency = '';
  private due = 0;
  private later = 0;

  constructor() {
    new ResizeObserver(() => this.size()).observe(this.element);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.make();
      this.draw();
    });
  }

  /** Reads what the controller has kept. */
  async load(): Promise<void> {
    try {
      const kept = await ask<{ samples: Sample[] }>('v1/history');
      const first = this.samples[0]?.at ?? Infinity;
      this.samples = [...kept.samples.filter((s) => s.at < first).map((s) => ({ at: s.at, totals: s as Totals })), ...this.samples];
      this.draw();
    } catch {
      // What is told from now on is drawn.
    }
  }

  add(at: number, totals: Totals, currency: string): void {
    if (currency !== this.currency) {
      this.currency = currency;
      this.make();
    }
    const last = this.samples[this.samples.length - 1];
    if (last && at < last.at) return;
    if (last && at - last.at < every) last.totals = totals;
    else this.samples.push({ at, totals });
    if (this.samples.length > most) this.samples.splice(0, this.samples.length - most);
    this.draw();
  }

  private data(p: Plot): uPlot.AlignedData {
    return [this.samples.map((s) => s.at), ...p.lines.map((l) => this.samples.map((s) => l.of(s.totals)))] as uPlot.AlignedData;
  }

  private make(): void {
    for (const c of this.charts) c.destroy();
    this.charts = [];
    this.element.replaceChildren();
    const style = getComputedStyle(document.documentElement);
    const soft = style.getPropertyValue('--soft').trim();
    const line = style.getPropertyValue('--line').trim();
    const all = plots(this.currency);
    // All figures first: each is as wide as the others leave it.
    const figures = all.map((p) => h('figure', {}, h('figcaption', {}, p.title)));
    this.element.append(...figures);
    for (const [i, p] of all.entries()) {
      const figure = figures[i];
      const axis = { stroke: soft, grid: { stroke: line, width: 1 }, ticks: { show: false }, font: '11px system-ui' };
      const range: uPlot.Scale.Range = (_u, _min, max) => [0, p.unit === '%' ? 100 : Math.max(1, max * 1.1)];
      this.charts.push(new uPlot({
        width: Math.max(180, figure.clientWidth - 16), height: 132,
        scales: { x: { time: true }, y: { range } },
        legend: { show: true, live: true },
        hooks: { ready: [(u: uPlot) => this.latest(u)] },
        cursor: { drag: { x: false, y: false }, y: false },
        axes: [{ ...axis, space: 60, size: 24, values: times }, { ...axis, size: 46, space: 24 }],
        series: [{ value: '{HH}:{mm}:{ss}' }, ...p.lines.map((l) => ({ label: l.label, stroke: l.colour, width: 1.5, points: { show: (u: uPlot) => u.data[0].length < 3 }, value: (_u: uPlot, v: number | null) => (v === null || v === undefined ? '–' : v.toLocaleString('en', { maximumFractionDigits: 3 })) }))],
      }, this.data(p), figure));
    }
  }

  /** Has the legend say the latest figures, while no others are pointed at. */
  private latest(c: uPlot): void {
    if (c.cursor.idx == null && this.samples.length) c.setLegend({ idx: this.samples.length - 1 });
  }

  /** Draws soon, and no more than once a second: what came last is always drawn. */
  private draw(): void {
    if (this.later) return;
    this.later = setTimeout(() => {
      this.later = 0;
      this.due = performance.now() + 1000;
      if (!this.charts.length) this.make();
      plots(this.currency).forEach((p, i) => {
        const c = this.charts[i];
        if (!c) return;
        c.setData(this.data(p));
        this.latest(c);
      });
    }, Math.max(0, this.due - performance.now()));
  }

  private size(): void {
    for (const c of this.charts) {
      const width = Math.max(180, (c.root.parentElement?.clientWidth ?? 0) - 16);
      if (width !== c.width) c.setSize({ width, height: 132 });
    }
  }
}
