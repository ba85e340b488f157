// The cluster as boxes: a node's area is its size, what fills it are its pods.

import { cores, memory, money, percent, plural, short } from './dom';
import type { Section } from './order';
import { fill } from './order';
import type { Node } from './types';

interface Box {
  node: Node;
  x: number;
  y: number;
  side: number;
}

interface Heading {
  text: string;
  y: number;
}

interface Ghost extends Box {
  began: number;
}

const gap = 4;
const headingHeight = 26;
const least = 9;
const fade = 700;

/** Pods as parts of the unit square, from the bottom up: x, y, width, height, kind. */
function parts(n: Node): Float32Array {
  const pods: [number, number][] = [];
  let sum = 0;
  const list = n.pods ?? [];
  for (let i = 0; i < list.length; i += 3) {
    const share = Math.max(n.cpu ? list[i] / n.cpu : 0, n.memory ? list[i + 1] / n.memory : 0);
    pods.push([Math.max(share, 0.002), list[i + 2]]);
    sum += Math.max(share, 0.002);
  }
  // Each pod counts by its scarcest resource; together they fill what the node's scarcest is filled by.
  const scaleBy = sum > 0 ? Math.min(1, fill(n)) / sum : 0;
  pods.sort((a, b) => b[0] - a[0]);
  const out = new Float32Array(pods.length * 5);
  let y = 0;
  for (let i = 0; i < pods.length; ) {
    // A row takes pods while they come closer to squares.
    let area = 0;
    let j = i;
    let worst = Infinity;
    while (j < pods.length) {
      const next = area + pods[j][0] * scaleBy;
      const height = next;
      const ratio = Math.max(...[pods[i][0], pods[j][0]].map((p) => {
        const width = (p * scaleBy) / height;
        return Math.max(width / height, height / width);
      }));
      if (ratio > worst) break;
      worst = ratio;
      area = next;
      j++;
    }
    let x = 0;
    for (let k = i; k < j; k++) {
      const width = area > 0 ? (pods[k][0] * scaleBy) / area : 0;
      out.set([x, y, width, area, pods[k][1]], k * 5);
      x += width;
    }
    y += area;
    i = j;
  }
  return out;
}

/** What a node is, in a line. */
export function describe(n: Node, currency: string): string {
  const pods = (n.pods?.length ?? 0) / 3;
  return `${short(n.name)}: ${n.state}${n.why ? ` (${n.why})` : ''}, ${[n.type, n.zone, n.capacity].filter(Boolean).join(', ')}, ${plural(pods, 'pod')}, ` +
    `${percent(n.usedCPU, n.cpu)} % of ${cores(n.cpu)} cores, ${percent(n.usedMemory, n.memory)} % of ${memory(n.memory)}, ${money(n.price)} ${currency}/h`;
}

export class ClusterMap {
  readonly element: HTMLElement;
  private readonly canvas = document.createElement('canvas');
  private readonly spacer = document.createElement('div');
  private readonly tip = document.createElement('div');
  private readonly said = document.createElement('div');
  private boxes: Box[] = [];
  private headings: Heading[] = [];
  private ghosts: Ghost[] = [];
  private readonly born = new Map<string, number>();
  private sections: Section[] = [];
  private colour: (n: Node) => string = () => '#888';
  private currency = 'USD';
  private focus = '';
  private hover: Box | null = null;
  private marked = new Map<string, 'gone' | 'gains'>();
  private frame = 0;
  private cache = new WeakMap<Node, Float32Array>();
  private ink = { line: '#ccc', text: '#222', soft: '#888', ground: '#fff', focus: '#9a5b2a' };
  private readonly still = matchMedia('(prefers-reduced-motion: reduce)').matches;

  constructor(private readonly chosen: (n: Node) => void) {
    this.element = document.createElement('div');
    this.element.className = 'map';
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('role', 'img');
    this.tip.className = 'tip';
    this.tip.hidden = true;
    this.said.className = 'unseen';
    this.said.setAttribute('aria-live', 'polite');
    this.element.append(this.canvas, this.spacer, this.tip, this.said);
    this.element.addEventListener('scroll', () => this.redraw());
    new ResizeObserver(() => this.layout()).observe(this.element);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.redraw());
    this.canvas.addEventListener('pointermove', (e) => this.point(e));
    this.canvas.addEventListener('pointerleave', () => this.point(null));
    this.canvas.addEventListener('click', (e) => {
      const b = this.at(e);
      if (b) this.choose(b);
    });
    this.canvas.addEventListener('keydown', (e) => this.key(e));
    this.canvas.addEventListener('focus', () => this.redraw());
    this.canvas.addEventListener('blur', () => this.redraw());
  }

  /** Draws these nodes. Those that are new come into sight, those that went fade away. */
  show(sections: Section[], colour: (n: Node) => string, currency: string, now: { born: string[]; gone: Node[] }): void {
    const time = performance.now();
    for (const n of now.gone) {
      const b = this.boxes.find((x) => x.node.name === n.name);
      if (b && !this.still) this.ghosts.push({ ...b, began: time });
    }
    for (const name of now.born) if (!this.still) this.born.set(name, time);
    this.sections = sections;
    this.colour = colour;
    this.currency = currency;
    this.layout();
  }

  /** Marks nodes that would go, and those that would take their pods. */
  mark(marked: Map<string, 'gone' | 'gains'>): void {
    this.marked = marked;
    this.redraw();
  }

  select(name: string): void {
    this.focus = name;
    this.redraw();
  }

  private layout(): void {
    const width = this.element.clientWidth - 2 * gap;
    const room = Math.max(240, this.element.clientHeight);
    if (width <= 0) return;
    const n = this.sections.reduce((sum, s) => sum + s.nodes.length, 0);
    const area = this.sections.reduce((sum, s) => sum + s.nodes.reduce((a, x) => a + Math.max(1, x.cpu / 1000), 0), 0);
    const headings = this.sections.some((s) => s.title) ? this.sections.length * headingHeight : 0;
    // The scale at which all would just be seen; boxes stay large enough to be told apart.
    let unit = Math.sqrt((0.7 * width * Math.max(120, room - headings)) / Math.max(1, area));
    unit = Math.max(least, Math.min(unit, 46, n ? 96 : 46));
    this.boxes = [];
    this.headings = [];
    let y = gap;
    for (const s of this.sections) {
      if (s.title) {
        const price = s.nodes.reduce((sum, x) => sum + x.price, 0);
        this.headings.push({ text: `${s.title} · ${plural(s.nodes.length, 'node')} · ${money(price)} ${this.currency}/h`, y });
        y += headingHeight;
      }
      let x = gap;
      let row = 0;
      for (const node of s.nodes) {
        const side = Math.max(least, Math.round(unit * Math.sqrt(Math.max(1, node.cpu / 1000))));
        if (x + side > width && x > gap) {
          x = gap;
          y += row + gap;
          row = 0;
        }
        this.boxes.push({ node, x, y, side });
        x += side + gap;
        row = Math.max(row, side);
      }
      y += row + 2 * gap;
    }
    this.spacer.style.height = `${Math.max(0, y - this.element.clientHeight)}px`;
    const label = n ? `${plural(n, 'node')} as boxes. Arrow keys move from node to node, Enter opens one. The table has the same.` : 'No node.';
    this.canvas.setAttribute('aria-label', label);
    this.redraw();
  }

  private redraw(): void {
    if (!this.frame) this.frame = requestAnimationFrame((t) => this.draw(t));
  }

  private draw(time: number): void {
    this.frame = 0;
    const ratio = devicePixelRatio || 1;
    const w = this.element.clientWidth;
    const h = this.element.clientHeight;
    if (this.canvas.width !== Math.round(w * ratio) || this.canvas.height !== Math.round(h * ratio)) {
      this.canvas.width = Math.round(w * ratio);
      this.canvas.height = Math.round(h * ratio);
      this.canvas.style.width = `${w}px`;
      this.canvas.style.height = `${h}px`;
    }
    const style = getComputedStyle(this.element);
    this.ink = { line: style.getPropertyValue('--line'), text: style.getPropertyValue('--ink'), soft: style.getPropertyValue('--soft'), ground: style.getPropertyValue('--card'), focus: style.getPropertyValue('--wood') };
    const c = this.canvas.getContext('2d')!;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, w, h);
    const top = this.element.scrollTop;
    c.font = '600 13px system-ui, sans-serif';
    c.textBaseline = 'middle';
    c.fillStyle = this.ink.text;
    for (const x of this.headings) if (x.y - top > -headingHeight && x.y - top < h) c.fillText(x.text, gap, x.y - top + headingHeight / 2, w - 2 * gap);
    let moving = false;
    for (let i = this.first(top); i < this.boxes.length; i++) {
      const b = this.boxes[i];
      if (b.y - top > h) break;
      moving = this.box(c, b, b.y - top, time) || moving;
    }
    this.ghosts = this.ghosts.filter((g) => time - g.began < fade);
    for (const g of this.ghosts) {
      c.globalAlpha = 1 - (time - g.began) / fade;
      c.strokeStyle = '#c8553d';
      c.strokeRect(g.x + 0.5, g.y - top + 0.5, g.side - 1, g.side - 1);
      c.globalAlpha = 1;
      moving = true;
    }
    if (moving) this.redraw();
  }

  /** The first box that may be seen: boxes stand in order of their rows. */
  private first(top: number): number {
    let low = 0;
    let high = this.boxes.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (this.boxes[mid].y + 600 < top) low = mid + 1;
      else high = mid;
    }
    return low;
  }

  /** Draws a box; true if it has to be drawn again because it moves. */
  private box(c: CanvasRenderingContext2D, b: Box, y: number, time: number): boolean {
    const n = b.node;
    let moving = false;
    const began = this.born.get(n.name);
    if (began !== undefined) {
      const age = (time - began) / fade;
      if (age >= 1) this.born.delete(n.name);
      else {
        c.globalAlpha = 0.25 + 0.75 * Math.max(0, age);
        moving = true;
      }
    }
    c.fillStyle = this.ink.ground;
    c.fillRect(b.x, y, b.side, b.side);
    const colour = this.colour(n);
    if (b.side < 22) {
      const full = Math.min(1, fill(n)) * (b.side - 2);
      c.fillStyle = colour;
      c.fillRect(b.x + 1, y + b.side - 1 - full, b.side - 2, full);
    } else this.pods(c, b, y, colour);
    const waits = n.state === 'on its way';
    c.lineWidth = 1;
    c.strokeStyle = waits || n.state === 'not ready' || n.why ? colour : this.ink.line;
    if (n.why || n.state === 'not ready') c.lineWidth = 2;
    c.setLineDash(waits ? [3, 3] : []);
    c.strokeRect(b.x + 0.5, y + 0.5, b.side - 1, b.side - 1);
    c.setLineDash([]);
    if (n.why) {
      c.beginPath();
      c.moveTo(b.x, y);
      c.lineTo(b.x + b.side, y + b.side);
      c.strokeStyle = this.ink.text;
      c.lineWidth = 1;
      c.stroke();
    }
    c.globalAlpha = 1;
    const mark = this.marked.get(n.name);
    if (mark || n.name === this.focus || b === this.hover) {
      c.lineWidth = 3;
      c.strokeStyle = mark === 'gone' ? '#c8553d' : mark === 'gains' ? '#2f8f6b' : this.ink.focus;
      c.strokeRect(b.x - 0.5, y - 0.5, b.side + 1, b.side + 1);
      if (mark === 'gone') {
        c.beginPath();
        c.moveTo(b.x, y);
        c.lineTo(b.x + b.side, y + b.side);
        c.moveTo(b.x + b.side, y);
        c.lineTo(b.x, y + b.side);
        c.stroke();
      }
    }
    return moving;
  }

  private pods(c: CanvasRenderingContext2D, b: Box, y: number, colour: string): void {
    let list = this.cache.get(b.node);
    if (!list) {
      list = parts(b.node);
      this.cache.set(b.node, list);
    }
    const inner = b.side - 2;
    c.fillStyle = colour;
    const slack = b.side > 60 ? 1 : 0.5;
    const alpha = c.globalAlpha;
    for (let i = 0; i < list.length; i += 5) {
      const kind = list[i + 4];
      c.globalAlpha = alpha * (kind === 1 ? 0.45 : kind === 2 ? 1 : 0.85);
      const w = list[i + 2] * inner;
      const h = list[i + 3] * inner;
      c.fillRect(b.x + 1 + list[i] * inner, y + b.side - 1 - list[i + 1] * inner - h, Math.max(0.5, w - slack), Math.max(0.5, h - slack));
    }
    c.globalAlpha = alpha;
  }

  private at(e: MouseEvent): Box | null {
    const r = this.canvas.getBoundingClientRect();
    const x = e.clientX - r.left;
    const y = e.clientY - r.top + this.element.scrollTop;
    for (let i = this.first(y); i < this.boxes.length; i++) {
      const b = this.boxes[i];
      if (b.y > y) break;
      if (x >= b.x && x <= b.x + b.side && y <= b.y + b.side) return b;
    }
    return null;
  }

  private point(e: PointerEvent | null): void {
    const b = e ? this.at(e) : null;
    this.canvas.style.cursor = b ? 'pointer' : 'default';
    if (b !== this.hover) {
      this.hover = b;
      this.redraw();
    }
    this.tip.hidden = !b;
    if (!b || !e) return;
    this.tip.textContent = describe(b.node, this.currency);
    const r = this.element.getBoundingClientRect();
    this.tip.style.left = `${Math.max(4, Math.min(e.clientX - r.left + 12, r.width - 330))}px`;
    this.tip.style.top = `${e.clientY - r.top + this.element.scrollTop + 16}px`;
  }

  private choose(b: Box): void {
    this.focus = b.node.name;
    this.redraw();
    this.chosen(b.node);
  }

  private key(e: KeyboardEvent): void {
    const i = this.boxes.findIndex((b) => b.node.name === this.focus);
    const b = this.boxes[i];
    let to = -1;
    if (!b) to = ['ArrowRight', 'ArrowLeft', 'ArrowUp', 'ArrowDown', 'Enter', ' ', 'Home'].includes(e.key) ? 0 : -1;
    else if (e.key === 'ArrowRight') to = Math.min(i + 1, this.boxes.length - 1);
    else if (e.key === 'ArrowLeft') to = Math.max(i - 1, 0);
    else if (e.key === 'Home') to = 0;
    else if (e.key === 'End') to = this.boxes.length - 1;
    else if (e.key === 'ArrowDown') to = this.boxes.findIndex((x) => x.y > b.y && x.x + x.side > b.x);
    else if (e.key === 'ArrowUp') to = this.boxes.findLastIndex((x) => x.y < b.y && x.x <= b.x);
    else if (e.key === 'Enter' || e.key === ' ') {
      e.preventDefault();
      this.chosen(b.node);
      return;
    }
    if (to < 0) return;
    e.preventDefault();
    const next = this.boxes[to];
    this.focus = next.node.name;
    this.said.textContent = describe(next.node, this.currency);
    const top = this.element.scrollTop;
    if (next.y < top) this.element.scrollTop = next.y - gap;
    else if (next.y + next.side > top + this.element.clientHeight) this.element.scrollTop = next.y + next.side + gap - this.element.clientHeight;
    this.redraw();
  }
}
