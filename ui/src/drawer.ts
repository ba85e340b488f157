// What is said of one thing: a node, a pod, a pool, a decision, a supposition.

import { ask, h, money, plural } from './dom';
import type { Answer, WhatIf } from './types';

type Marks = Map<string, 'gone' | 'gains'>;

export class Drawer {
  readonly element = h('aside', { class: 'drawer', hidden: true, tabindex: -1, 'aria-label': 'Details' });
  private abort: AbortController | null = null;
  private back: HTMLElement | null = null;

  constructor(private readonly mark: (m: Marks) => void) {
    addEventListener('keydown', (e) => {
      if (e.key === 'Escape' && !this.element.hidden) this.close();
    });
  }

  close(): void {
    this.abort?.abort();
    this.element.hidden = true;
    this.mark(new Map());
    this.back?.focus({ preventScroll: true });
  }

  node(name: string): void {
    const then = h('div', {});
    void this.open(`Node ${name}`, `v1/nodes/${encodeURIComponent(name)}`, [
      h('button', { onclick: () => void this.suppose(then, { without: `node/${name}` }) }, 'What if it went?'), then,
    ]);
  }

  pod(key: string): void {
    const [namespace, name] = key.split('/');
    void this.open(`Pod ${key}`, `v1/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`, []);
  }

  pool(kind: string, name: string): void {
    const then = h('div', {});
    void this.open(`${kind} ${name}`, `v1/pools/${encodeURIComponent(name)}`, [
      h('button', { onclick: () => void this.suppose(then, { without: `${kind.toLowerCase()}/${name}` }) }, 'What if it went, with its nodes?'), then,
    ]);
  }

  /** Opens with an answer of the controller, and with what else belongs there. */
  async open<T>(title: string, path: string, more: HTMLElement[]): Promise<T | null> {
    this.abort?.abort();
    this.abort = new AbortController();
    const mine = this.abort;
    if (this.element.hidden) this.back = document.activeElement as HTMLElement | null;
    this.mark(new Map());
    const text = h('pre', { class: 'answer', tabindex: 0 }, 'Asking the controller …');
    const close = h('button', { class: 'close', 'aria-label': 'Close', title: 'Close (Esc)', onclick: () => this.close() }, '×');
    this.element.replaceChildren(h('h2', {}, title, close), text, ...more);
    this.element.hidden = false;
    this.element.focus({ preventScroll: true });
    this.element.scrollTop = 0;
    try {
      const a = await ask<Answer<T>>(path, mine.signal);
      text.textContent = a.text;
      return a.answer;
    } catch (e) {
      if (!mine.signal.aborted) text.textContent = e instanceof Error ? e.message : String(e);
      return null;
    }
  }

  /** Asks what would be decided if something were otherwise, and marks it in the map. */
  async suppose(into: HTMLElement, what: { [parameter: string]: string }): Promise<void> {
    into.replaceChildren(h('p', { class: 'soft' }, 'Deciding again …'));
    this.mark(new Map());
    try {
      const a = await ask<Answer<WhatIf>>(`v1/whatif?${new URLSearchParams(what)}`);
      const d = a.answer.difference;
      const marks: Marks = new Map();
      if (what.without?.startsWith('node/')) marks.set(what.without.slice(5), 'gone');
      for (const m of d.pods) if (!marks.has(m.to)) marks.set(m.to, 'gains');
      this.mark(marks);
      const saves = d.before.hourlyCost - d.after.hourlyCost;
      const moved = d.pods.reduce((sum, m) => sum + m.pods.length, 0);
      into.replaceChildren(
        h('p', { class: 'verdict' }, d.same ? 'Nothing would be decided otherwise.' :
          `${plural(moved, 'pod')} would move, ${plural(d.after.newNodes, 'node')} would be bought, ${plural(d.after.refusedPods, 'pod')} would find no place; ` +
          `${saves >= 0 ? 'it would save' : 'it would cost'} ${money(Math.abs(saves) * 1e6)} an hour.`),
        h('pre', { class: 'answer', tabindex: 0 }, a.text));
    } catch (e) {
      into.replaceChildren(h('p', { class: 'bad' }, e instanceof Error ? e.message : String(e)));
    }
  }
}
