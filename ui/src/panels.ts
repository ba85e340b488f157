// The pages beside the map: pods that wait, decisions, pools, suppositions.

import { clock, count, h, money, plural, span } from './dom';
import type { Drawer } from './drawer';
import { bar } from './table';
import type { Cluster } from './store';
import type { Decision, Group, Why } from './types';

function tree(w: Why): HTMLElement {
  return h('li', {}, w.subject ? `${w.subject}: ` : null, h('b', {}, w.code), w.detail ? h('span', { class: 'soft' }, ` ${w.detail}`) : null, w.hint ? h('span', { class: 'hint' }, ` → ${w.hint}`) : null,
    w.causes?.length ? h('ul', {}, ...w.causes.map(tree)) : null);
}

/** Keeps what a reader has opened open while the page is drawn again. */
function keepOpen(into: HTMLElement, fresh: HTMLElement[]): void {
  const open = new Set([...into.querySelectorAll('details[open]')].map((d) => d.getAttribute('data-key')));
  for (const e of fresh) for (const d of [e, ...e.querySelectorAll('details')]) if (open.has(d.getAttribute('data-key')) && d.tagName === 'DETAILS') d.setAttribute('open', '');
  into.replaceChildren(...fresh);
}

export function pods(into: HTMLElement, c: Cluster, drawer: Drawer): void {
  const group = (g: Group): HTMLElement => {
    const more = g.count - g.pods.length;
    return h('details', { class: 'card', 'data-key': `${g.workload} ${g.state} ${g.text}` },
      h('summary', {}, h('span', { class: `tag s-${g.state.replace(/\s/g, '-')}` }, g.state), ' ', h('b', {}, g.workload), ` · ${plural(g.count, 'pod')}${g.since ? ` · for ${span(c.at - g.since)}` : ''}`,
        h('div', {}, g.text), g.hint ? h('div', { class: 'hint' }, `→ ${g.hint}`) : null),
      g.why ? h('ul', {}, tree(g.why)) : null,
      h('p', { class: 'pods' }, ...g.pods.map((p) => h('button', { class: 'link', onclick: () => drawer.pod(p) }, p)), more > 0 ? ` and ${count(more)} more` : null));
  };
  const waiting = c.waiting;
  keepOpen(into, [
    h('h1', {}, 'Pods without a node'),
    ...(waiting.length ? waiting.slice(0, 400).map(group) : [h('p', { class: 'soft' }, 'None: every pod has its place.')]),
    ...(waiting.length > 400 ? [h('p', { class: 'soft' }, `And ${plural(waiting.length - 400, 'workload')} more.`)] : []),
  ]);
}

const kinds: { [kind: string]: string } = { provisioner: 'buy', disruption: 'give back', consolidation: 'move', drift: 'replace' };

export function decisions(into: HTMLElement, c: Cluster, chosen: (d: Decision) => void): void {
  const scroll = into.scrollTop;
  const row = (d: Decision): HTMLElement => h('li', {},
    h('button', { class: `decision k-${d.kind}`, onclick: () => chosen(d) },
      h('time', {}, clock(d.at)), h('span', { class: 'kind' }, kinds[d.kind] ?? d.kind), h('span', { class: 'text' }, d.panic ? `broke off: ${d.panic.split('\n')[0]}` : d.text),
      h('span', { class: 'money' }, d.cost ? `+${money(d.cost)}` : '', d.saved ? ` −${money(d.saved)}` : '', d.proven ? h('span', { class: 'soft' }, ` ${d.proven} proven`) : null)),
    d.quiet ? h('div', { class: 'soft quiet' }, `before it ${plural(d.quiet, 'decision')} of this kind that changed nothing`) : null);
  into.replaceChildren(h('h1', {}, 'Decisions'), h('p', { class: 'soft' }, 'Latest first. Choose one to read why, and to see the cluster as it was. ', h('a', { href: 'journal' }, 'All of them as a journal'), ', for tenon replay.'),
    c.decisions.length ? h('ol', { class: 'timeline' }, ...c.decisions.map(row)) : h('p', { class: 'soft' }, 'Nothing has been decided yet.'));
  into.scrollTop = scroll;
}

export function pools(into: HTMLElement, c: Cluster, drawer: Drawer): void {
  const nodes = [...c.nodes.values()];
  const rows = c.pools.map((p) => {
    const mine = nodes.filter((n) => n.pool === p.name);
    const sum = (of: (n: (typeof mine)[0]) => number) => mine.reduce((s, n) => s + of(n), 0);
    const share = (used: number, room: number) => (room ? used / room : 0);
    const cells: (string | HTMLElement)[] = [h('button', { class: 'link', onclick: () => drawer.pool(p.kind, p.name) }, p.name), p.kind, h('span', { class: `tag ${p.state === 'ready' ? 's-ready' : 's-not-ready'}` }, p.state), count(mine.length), count(mine.filter((n) => n.drifted).length),
      bar(share(sum((n) => n.usedCPU), sum((n) => n.cpu)), `CPU of ${p.name}`), bar(share(sum((n) => n.usedMemory), sum((n) => n.memory)), `memory of ${p.name}`), p.limits ? limits(p.used ?? '', p.limits) : 'none', p.budgets ?? '', money(sum((n) => n.price))];
    return h('tr', {}, ...cells.map((x) => h('td', {}, x)));
  });
  into.replaceChildren(h('h1', {}, 'Pools'), c.pools.length
    ? h('div', { class: 'wide' }, h('table', {}, h('thead', {}, h('tr', {}, ...['Pool', 'Kind', 'State', 'Nodes', 'Drifted', 'CPU asked for', 'Memory asked for', 'Limits', 'Budgets', `${c.currency}/h`].map((t) => h('th', { scope: 'col' }, t)))), h('tbody', {}, ...rows)))
    : h('p', { class: 'soft' }, 'No pool: apply a NodePool, and pods that fit nowhere get nodes.'), ...savings(c, drawer));
}

/** What consolidation could save, and what keeps the rest. */
function savings(c: Cluster, drawer: Drawer): HTMLElement[] {
  const s = c.savings;
  if (!s) return [];
  const table = (titles: string[], rows: HTMLElement[]) => h('div', { class: 'wide' }, h('table', {}, h('thead', {}, h('tr', {}, ...titles.map((t) => h('th', { scope: 'col' }, t)))), h('tbody', {}, ...rows)));
  const row = (...cells: (string | HTMLElement)[]) => h('tr', {}, ...cells.map((x) => h('td', {}, x)));
  const names = (nodes: string[]) => h('span', {}, ...nodes.slice(0, 3).map((n) => h('button', { class: 'link', onclick: () => drawer.node(n) }, n)), nodes.length > 3 ? ` and ${nodes.length - 3} more` : '');
  return [h('h2', {}, 'Consolidation'),
    h('p', {}, `Moves that may begin now save ${money(s.now)} ${c.currency} an hour${s.held > 0 ? `, moves that something holds up ${money(s.held)}` : ''}. The nodes of pools cost ${money(s.price)}${s.bound ? `; new nodes for the pods that can move would cost ${money(s.bound)} at least` : ''}.`),
    s.best.length ? table(['Nodes', 'Saves', 'Pods that move', 'Nodes bought', 'Held up'], s.best.map((b) => row(names(b.nodes ?? []), money(b.saves), count(b.pods), count(b.buys ?? 0), b.heldUp ?? '')))
      : h('p', { class: 'soft' }, 'No move saves anything now.'),
    ...(s.stay.length ? [h('h2', {}, 'What keeps the other nodes'), table(['Kept by', 'Nodes', `${c.currency}/h`, 'Such as'], s.stay.map((k) => row(k.code, count(k.nodes), money(k.price), k.such)))] : [])];
}

export function suppose(into: HTMLElement, c: Cluster, drawer: Drawer): void {
  const values = (of: (n: { type?: string; zone?: string }) => string | undefined) => [...new Set([...c.nodes.values()].map(of).filter((x): x is string => !!x))].sort();
  const result = h('div', { class: 'result', 'aria-live': 'polite' });
  const question = (label: string, fields: HTMLElement[], what: () => { [p: string]: string }) => h('form', {
    class: 'card', onsubmit: (e: Event) => {
      e.preventDefault();
      void drawer.suppose(result, what());
    },
  }, h('label', {}, label), ...fields, fields.some((f) => f instanceof HTMLSelectElement && !f.options.length)
    ? h('span', { class: 'soft' }, 'There is no node yet.') : h('button', { type: 'submit' }, 'Decide'));
  const select = (label: string, options: string[]) => h('select', { 'aria-label': label, hidden: !options.length }, ...options.map((o) => h('option', {}, o))) as HTMLSelectElement;
  const type = select('instance type', values((n) => n.type));
  const zone = select('zone', values((n) => n.zone));
  const workload = h('input', { placeholder: 'deployment/NAMESPACE/NAME', 'aria-label': 'workload', required: true, pattern: '.+/.+', size: 28 }) as HTMLInputElement;
  const replicas = h('input', { type: 'number', min: 0, max: 100000, value: 10, 'aria-label': 'replicas' }) as HTMLInputElement;
  into.replaceChildren(h('h1', {}, 'What if …'), h('p', { class: 'soft' }, 'The controller decides about a cluster that is supposed to be otherwise. Nothing is done.'),
    h('div', { class: 'questions' },
      question('… a type were sold out', [type], () => ({ 'sold-out': type.value })),
      question('… a zone were sold out', [zone], () => ({ 'sold-out': `*,${zone.value}` })),
      question('… no spot were to be had', [], () => ({ 'sold-out': '*,,spot' })),
      question('… a workload had so many replicas', [workload, replicas], () => ({ scale: `${workload.value}=${replicas.value}` })),
      h('form', { class: 'card', onsubmit: (e: Event) => { e.preventDefault(); void drawer.open('New nodes for all pods', 'v1/anew', []); } }, h('label', {}, '… all pods ran on new nodes: the least it could cost'), h('button', { type: 'submit' }, 'Decide'))),
    result);
}

/** What is used of each limit, as "cpu 59 of 1000": both are told in the same order. */
function limits(used: string, of: string): string {
  const most = of.split(', ').map((l) => l.slice(l.lastIndexOf(' ') + 1));
  return used.split(', ').map((u, i) => `${u} of ${most[i]}`).join(', ');
}
