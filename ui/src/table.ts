// The nodes as a table of which only what is in sight is in the page.

import { h, cores, memory, money, plural, short, span } from './dom';
import { fill, type Section } from './order';
import type { Node } from './types';

const rowHeight = 30;

/** A share as a bar whose colour says how full it is, with its figure. */
export function bar(share: number, label: string): HTMLElement {
  const p = Math.round(100 * share);
  const m = h('meter', { min: 0, max: 100, value: Math.min(100, p), low: 30, high: 60, optimum: 100, 'aria-label': label });
  return h('span', { class: 'bar' }, m, ` ${p} %`);
}

export class NodeTable {
  readonly element = h('div', { class: 'table', tabindex: 0 });
  private readonly body = h('div', { class: 'rows', role: 'table', 'aria-label': 'Nodes' });
  private list: Node[] = [];
  private at = 0;
  private currency = 'USD';
  private focus = -1;
  private frame = 0;

  constructor(private readonly chosen: (n: Node) => void) {
    this.element.append(
      h('div', { class: 'row head', 'aria-hidden': true }, ...['Node', 'State', 'Pool', 'Type', 'Zone', 'Bought', 'Pods', 'CPU', 'Memory', 'Age', 'Kept by', 'Price/h'].map((t) => h('span', {}, t))),
      this.body,
    );
    this.element.addEventListener('scroll', () => this.redraw());
    new ResizeObserver(() => this.redraw()).observe(this.element);
    this.element.addEventListener('keydown', (e) => this.key(e));
  }

  show(sections: Section[], at: number, currency: string): void {
    this.list = sections.flatMap((s) => s.nodes);
    this.at = at;
    this.currency = currency;
    this.body.style.height = `${this.list.length * rowHeight}px`;
    this.body.setAttribute('aria-rowcount', String(this.list.length));
    this.redraw();
  }

  private redraw(): void {
    if (!this.frame) this.frame = requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    this.frame = 0;
    const from = Math.max(0, Math.floor(this.element.scrollTop / rowHeight) - 4);
    const to = Math.min(this.list.length, from + Math.ceil(this.element.clientHeight / rowHeight) + 8);
    const rows: HTMLElement[] = [];
    for (let i = from; i < to; i++) rows.push(this.row(i));
    this.body.replaceChildren(...rows);
    if (!this.list.length) this.body.replaceChildren(h('p', { class: 'soft' }, 'No node matches.'));
  }

  private row(i: number): HTMLElement {
    const n = this.list[i];
    const cell = (text: string | HTMLElement, title?: string) => h('span', { role: 'cell', title }, text);
    const row = h('div', { class: `row${i === this.focus ? ' chosen' : ''}`, role: 'row', 'aria-rowindex': i + 1, onclick: () => this.choose(i) },
      cell(short(n.name), n.name),
      cell(h('span', { class: `tag s-${n.state.replace(/\s/g, '-')}` }, n.drifted && n.state === 'ready' ? 'drifted' : n.state), n.why ?? n.drifted),
      cell(n.pool ?? ''), cell(n.type ?? ''), cell(n.zone ?? ''), cell(n.capacity ?? ''),
      cell(String((n.pods?.length ?? 0) / 3)),
      cell(bar(n.cpu ? n.usedCPU / n.cpu : 0, `CPU of ${short(n.name)}`), `${cores(n.usedCPU)} of ${cores(n.cpu)} cores`),
      cell(bar(n.memory ? n.usedMemory / n.memory : 0, `memory of ${short(n.name)}`), `${memory(n.usedMemory)} of ${memory(n.memory)}`),
      cell(n.created ? span(this.at - n.created) : ''), cell(n.why ?? (n.keeps ?? []).join(', '), (n.keeps ?? []).join(', ')), cell(money(n.price), `${money(n.price)} ${this.currency} an hour`));
    row.style.top = `${i * rowHeight}px`;
    return row;
  }

  private choose(i: number): void {
    this.focus = i;
    this.redraw();
    this.chosen(this.list[i]);
  }

  private key(e: KeyboardEvent): void {
    const last = this.list.length - 1;
    const page = Math.floor(this.element.clientHeight / rowHeight) - 2;
    const to: { [key: string]: number } = { ArrowDown: this.focus + 1, ArrowUp: this.focus - 1, PageDown: this.focus + page, PageUp: this.focus - page, Home: 0, End: last };
    if (e.key === 'Enter' && this.focus >= 0) return this.choose(this.focus);
    if (!(e.key in to)) return;
    e.preventDefault();
    this.focus = Math.max(0, Math.min(last, to[e.key]));
    const y = this.focus * rowHeight;
    if (y < this.element.scrollTop) this.element.scrollTop = y;
    else if (y + 2 * rowHeight > this.element.scrollTop + this.element.clientHeight) this.element.scrollTop = y + 2 * rowHeight - this.element.clientHeight;
    this.redraw();
  }
}

/** What all nodes of a list come to. */
export function summary(nodes: Node[], currency: string): string {
  const price = nodes.reduce((sum, n) => sum + n.price, 0);
  const share = nodes.length ? nodes.reduce((sum, n) => sum + fill(n), 0) / nodes.length : 0;
  return `${plural(nodes.length, 'node')}, ${money(price)} ${currency}/h, ${Math.round(100 * share)} % full on average`;
}

