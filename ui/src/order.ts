// How nodes are grouped, ordered, filtered and coloured: pure functions, the same for map and table.

import { span } from './dom';
import type { Node } from './types';

export type GroupBy = 'pool' | 'zone' | 'type' | 'state' | 'none';
export type ColourBy = 'free' | 'price' | 'age' | 'capacity' | 'keeps' | 'state';
export type SortBy = 'name' | 'size' | 'free' | 'price' | 'age';

export interface Section {
  title: string;
  nodes: Node[];
}

/** The share of a node that pods ask for: of the resource that is scarcest. */
export function fill(n: Node): number {
  return Math.max(n.cpu ? n.usedCPU / n.cpu : 0, n.memory ? n.usedMemory / n.memory : 0);
}

export function matches(n: Node, text: string): boolean {
  if (!text) return true;
  const all = [n.name, n.claim, n.pool, n.type, n.zone, n.capacity, n.state, n.why, n.drifted && 'drifted', ...(n.keeps ?? [])].join(' ').toLowerCase();
  return text.toLowerCase().split(/\s+/).every((word) => all.includes(word));
}

const by: { [s in SortBy]: (a: Node, b: Node) => number } = {
  name: () => 0,
  size: (a, b) => b.cpu - a.cpu || b.memory - a.memory,
  free: (a, b) => fill(a) - fill(b),
  price: (a, b) => b.price - a.price,
  age: (a, b) => (a.created ?? 0) - (b.created ?? 0),
};

export function sections(nodes: Iterable<Node>, group: GroupBy, sort: SortBy, text: string): Section[] {
  const found = new Map<string, Node[]>();
  for (const n of nodes) {
    if (!matches(n, text)) continue;
    const title = group === 'none' ? '' : (group === 'pool' ? n.pool || 'no pool' : n[group]) || 'unknown';
    const list = found.get(title);
    if (list) list.push(n);
    else found.set(title, [n]);
  }
  const out = [...found].map(([title, list]) => ({ title, nodes: list }));
  out.sort((a, b) => a.title.localeCompare(b.title));
  for (const s of out) s.nodes.sort((a, b) => by[sort](a, b) || (a.name < b.name ? -1 : 1));
  return out;
}

export interface Legend {
  label: string;
  colour: string;
}

/** Colours that can be told apart by people who see few, on light and dark ground. */
const hues = ['#3b7dd8', '#e08a1e', '#7a5cc4', '#2a9d8f', '#c8553d', '#8a8f98', '#b0497f', '#5a8f29'];
const scale = ['#2f8f6b', '#5fa054', '#9aa63b', '#d0a02c', '#d97f2b', '#c8553d'];

/** Kinds that have the same colour everywhere. */
const known: { [kind: string]: string } = {
  ready: '#2f8f6b', spot: '#2f8f6b', 'on-demand': '#3b7dd8', reserved: '#7a5cc4', 'on its way': '#3b7dd8', 'not ready': '#c8553d', cordoned: '#8a8f98',
  drifted: '#7a5cc4', 'takes no more pods': '#d0a02c', drains: '#d97f2b', 'its machine ends': '#8a6d5a', nothing: '#2f8f6b',
};

function step(share: number): string {
  return scale[Math.max(0, Math.min(scale.length - 1, Math.floor(share * scale.length)))];
}

/** What keeps a node, in words: the first code that is not only a matter of time. */
function keeping(n: Node): string {
  if (!n.keeps) return n.state === 'ready' ? 'not asked yet' : n.state;
  return n.keeps[0] ?? 'nothing';
}

/** Gives every node its colour, and says what the colours stand for. */
export function colours(nodes: Iterable<Node>, what: ColourBy, at: number): { of: (n: Node) => string; legend: Legend[] } {
  const all = [...nodes];
  if (what === 'free') {
    return { of: (n) => step(1 - fill(n)), legend: [{ label: 'full', colour: step(0) }, { label: 'half', colour: step(0.5) }, { label: 'empty', colour: step(1) }] };
  }
  if (what === 'age') {
    const most = Math.max(60, ...all.map((n) => at - (n.created ?? at)));
    return { of: (n) => step((at - (n.created ?? at)) / most), legend: [{ label: 'new', colour: step(0) }, { label: span(most), colour: step(1) }] };
  }
  if (what === 'price') {
    const each = (n: Node) => (n.cpu ? n.price / n.cpu : 0);
    let least = Infinity;
    let most = 0;
    for (const n of all) {
      least = Math.min(least, each(n));
      most = Math.max(most, each(n));
    }
    const write = (v: number) => `${(v / 1000).toFixed(4)} a core`;
    return { of: (n) => step(most > least ? (each(n) - least) / (most - least) : 0), legend: all.length ? [{ label: write(least), colour: step(0) }, { label: write(most), colour: step(1) }] : [] };
  }
  const name = (n: Node) => (what === 'capacity' ? n.capacity || 'unknown' : what === 'state' ? (n.drifted && n.state === 'ready' ? 'drifted' : n.state) : keeping(n));
  const counts = new Map<string, number>();
  for (const n of all) counts.set(name(n), (counts.get(name(n)) ?? 0) + 1);
  // By name, so that a kind keeps its colour while numbers move.
  const rest = [...counts.keys()].filter((k) => !(k in known)).sort();
  const colour = (k: string) => known[k] ?? hues[Math.min(rest.indexOf(k), hues.length - 1)];
  const names = [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)! || a.localeCompare(b));
  return { of: (n) => colour(name(n)), legend: names.slice(0, 10).map((k) => ({ label: `${k} (${counts.get(k)})`, colour: colour(k) })) };
}
