// The cluster as it was last told, and what wants to know of changes.

import { base } from './dom';
import type { Decision, Frame, Group, Node, Pool, Savings, Totals } from './types';

export type Link = 'connecting' | 'live' | 'lost';

export interface Cluster {
  at: number;
  currency: string;
  totals: Totals;
  leader: string;
  savings: Savings | null;
  nodes: Map<string, Node>;
  pools: Pool[];
  waiting: Group[];
  decisions: Decision[];
}

/** What a frame changed, for those who draw. */
export interface Change {
  whole: boolean;
  nodes: string[];
  gone: Node[];
  pools: boolean;
  waiting: boolean;
  decisions: boolean;
}

const none: Totals = { price: 0, onDemand: 0, ready: 0, coming: 0, going: 0, notReady: 0, running: 0, waiting: 0, longest: 0, cpu: 0, memory: 0 };

export function empty(): Cluster {
  return { at: 0, currency: 'USD', totals: none, leader: '', nodes: new Map(), pools: [], waiting: [], decisions: [], savings: null };
}

/** Puts a frame onto a cluster. */
export function apply(c: Cluster, f: Frame): Change {
  const change: Change = { whole: !!f.whole, nodes: [], gone: [], pools: !!f.pools, waiting: !!f.waiting, decisions: !!f.decisions };
  c.at = f.at;
  c.currency = f.currency;
  c.totals = f.totals;
  c.leader = f.leader ?? '';
  if (f.whole) {
    c.nodes.clear();
    c.savings = null;
  }
  if (f.savings) c.savings = f.savings;
  for (const name of f.gone ?? []) {
    const n = c.nodes.get(name);
    if (n) change.gone.push(n);
    c.nodes.delete(name);
  }
  for (const n of f.nodes) {
    c.nodes.set(n.name, n);
    change.nodes.push(n.name);
  }
  if (f.pools) c.pools = f.pools;
  if (f.waiting) c.waiting = f.waiting;
  if (f.decisions) c.decisions = f.decisions;
  return change;
}

/** Follows the controller's events, and begins again by itself when it is cut off. */
export class Feed {
  readonly cluster = empty();
  link: Link = 'connecting';
  /** When the controller was last heard of, in milliseconds. */
  heard = 0;
  private source: EventSource | null = null;
  private wait = 500;

  constructor(private readonly changed: (c: Change) => void, private readonly linked: (l: Link) => void) {
    this.connect();
    setInterval(() => {
      if (this.link === 'live' && performance.now() - this.heard > 25_000) this.again();
    }, 5_000);
  }

  private connect(): void {
    const source = new EventSource(new URL('v1/live', base));
    this.source = source;
    const frame = (e: MessageEvent<string>) => {
      this.heard = performance.now();
      this.wait = 500;
      const change = apply(this.cluster, JSON.parse(e.data) as Frame);
      this.say('live');
      this.changed(change);
    };
    source.addEventListener('all', frame);
    source.addEventListener('change', frame);
    source.addEventListener('beat', () => {
      this.heard = performance.now();
    });
    source.addEventListener('error', () => this.again());
  }

  private again(): void {
    this.source?.close();
    if (this.source === null) return;
    this.source = null;
    this.say('lost');
    setTimeout(() => this.connect(), this.wait);
    this.wait = Math.min(this.wait * 2, 8_000);
  }

  private say(l: Link): void {
    if (this.link === l) return;
    this.link = l;
    this.linked(l);
  }
}
