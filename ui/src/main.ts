// The live page: what the controller sees and decides, as it happens.

import { clock, count, h, money, percent, span } from './dom';
import { Drawer } from './drawer';
import { ClusterMap } from './map';
import { colours, sections, type ColourBy, type GroupBy, type SortBy } from './order';
import * as panels from './panels';
import { Plots } from './plots';
import { apply, empty, Feed, type Change, type Cluster, type Link } from './store';
import { NodeTable, summary } from './table';
import type { Decision, Frame, Node } from './types';

type Page = 'cluster' | 'pods' | 'decisions' | 'pools' | 'whatif';
const pages: [Page, string][] = [['cluster', 'Cluster'], ['pods', 'Pods'], ['decisions', 'Decisions'], ['pools', 'Pools'], ['whatif', 'What if']];

/** What a reader has chosen, kept for the next visit. */
const settings: { group: GroupBy; colour: ColourBy; sort: SortBy; table: boolean } = { group: 'pool', colour: 'free', sort: 'size', table: false, ...read() };

function read(): object {
  try {
    return JSON.parse(localStorage.getItem('tenon') ?? '{}') as object;
  } catch {
    return {};
  }
}

function keep(): void {
  try {
    localStorage.setItem('tenon', JSON.stringify(settings));
  } catch {
    // A browser that keeps nothing shows the page all the same.
  }
}

function start(): void {
  let page: Page = 'cluster';
  let text = '';
  /** The cluster of a decision that is looked at instead of the one of now. */
  let past: { cluster: Cluster; decision: Decision } | null = null;
  let bannered: { cluster: Cluster; decision: Decision } | null = null;
  let born: string[] = [];
  let gone: Node[] = [];
  let due = 0;

  const map: ClusterMap = new ClusterMap((n) => drawer.node(n.name));
  const drawer: Drawer = new Drawer((m) => map.mark(m));
  const table = new NodeTable((n) => drawer.node(n.name));
  const plots = new Plots();
  const cards = h('section', { class: 'cards totals', 'aria-label': 'At a glance' });
  const legend = h('div', { class: 'legend' });
  const found = h('span', { class: 'soft', 'aria-live': 'polite' });
  const elsewhere = h('div', { class: 'banner', role: 'status', hidden: true });
  let leader = '';
  const banner = h('div', { class: 'banner', role: 'status', hidden: true });
  const link = h('span', { class: 'link-state', role: 'status' });
  const view = h('div', { class: 'view' });
  const main = h('main', { tabindex: -1 });

  const choice = <T extends string>(label: string, options: [T, string][], value: T, chosen: (v: T) => void) => {
    const s = h('select', { onchange: () => { chosen(s.value as T); keep(); draw(); } }, ...options.map(([v, t]) => h('option', { value: v, selected: v === value }, t))) as HTMLSelectElement;
    return h('label', {}, `${label} `, s);
  };
  const filter = h('input', { type: 'search', placeholder: 'filter: spot m5 drifted …', 'aria-label': 'Filter nodes', oninput: () => { text = filter.value.trim(); draw(); } }) as HTMLInputElement;
  const kind = h('button', { onclick: () => { settings.table = !settings.table; keep(); draw(); } });
  const tools = h('div', { class: 'tools' },
    choice('Group by', [['pool', 'pool'], ['zone', 'zone'], ['type', 'type'], ['state', 'state'], ['none', 'nothing']], settings.group, (v) => (settings.group = v)),
    choice('Colour by', [['free', 'free room'], ['price', 'price a core'], ['age', 'age'], ['capacity', 'how it is bought'], ['keeps', 'what keeps it'], ['state', 'state']], settings.colour, (v) => (settings.colour = v)),
    choice('Order by', [['size', 'size'], ['name', 'name'], ['free', 'fill'], ['price', 'price'], ['age', 'age']], settings.sort, (v) => (settings.sort = v)),
    filter, kind, found);

  const nav = h('nav', { 'aria-label': 'Pages' });
  document.body.replaceChildren(
    h('a', { class: 'skip', href: '#content', onclick: (e: Event) => { e.preventDefault(); main.focus(); } }, 'Skip to content'),
    h('header', {}, h('b', { class: 'name' }, 'TENON'), nav, link), banner, elsewhere, main, drawer.element);

  /** Whether anything of the cluster has been told yet: until then nothing is said of it. */
  let known = false;
  const feed: Feed = new Feed((c) => told(c), (l) => linked(l));
  const shown = () => past?.cluster ?? feed.cluster;

  function told(c: Change): void {
    if (!c.whole) {
      born.push(...c.nodes.filter((n) => feed.cluster.nodes.get(n)?.state === 'on its way'));
      gone.push(...c.gone);
    }
    plots.add(feed.cluster.at, feed.cluster.totals, feed.cluster.currency);
    if (!known) {
      known = true;
      go();
    }
    draw();
  }

  function linked(l: Link): void {
    link.className = `link-state ${l}`;
    link.textContent = l === 'live' ? 'live' : l === 'lost' ? 'connection lost: what is shown is old; trying again' : 'connecting …';
    document.body.classList.toggle('stale', l !== 'live');
  }

  /** Draws in the next frame what is to be seen, once for all that was told till then. */
  function draw(): void {
    if (due) return;
    due = requestAnimationFrame(() => {
      due = 0;
      paint();
    });
  }

  function paint(): void {
    const c = shown();
    const t = c.totals;
    nav.replaceChildren(...pages.map(([p, title]) => h('a', { href: `#${p}`, 'aria-current': p === page ? 'page' : null }, title, p === 'pods' && t.waiting ? h('span', { class: 'count' }, count(t.waiting)) : null)), h('a', { href: 'metrics' }, 'Metrics'));
    elsewhere.hidden = !feed.cluster.leader;
    if (feed.cluster.leader !== leader) { // not with each look: what is told by a screen reader is told once
      leader = feed.cluster.leader;
      const [namespace, pod] = leader.split('/');
      elsewhere.replaceChildren(`This replica does not decide, but ${pod} does. Its decisions are there: `, h('code', {}, `kubectl port-forward -n ${namespace} pod/${pod} 8080`));
    }
    banner.hidden = !past;
    if (past !== bannered) { // not with each look: what is replaced while it is pressed is not clicked
      bannered = past;
      if (past) banner.replaceChildren(`The cluster as it was at ${clock(past.decision.at)}: ${past.decision.text}. `, h('button', { onclick: () => { past = null; drawer.close(); draw(); } }, 'Back to now'));
    }
    if (!known) return;
    if (page === 'pods') return panels.pods(view, c, drawer);
    if (page === 'decisions') return panels.decisions(view, feed.cluster, lookBack);
    if (page === 'pools') return panels.pools(view, c, drawer);
    if (page === 'whatif') return;
    const card = (value: string, label: string, alarm = false) => h('div', { class: `card${alarm ? ' alarm' : ''}` }, h('b', {}, value), h('span', {}, label));
    const below = percent(t.onDemand - t.price, t.onDemand);
    const month = money(t.price * 730);
    const saved = c.savings && card(money(c.savings.now), `an hour saved by consolidation now${c.savings.held > 0 ? `, ${money(c.savings.held)} held up` : ''}`);
    // There are eight cards at any time, which fill their rows: what could be saved takes the place of the price of a month.
    cards.replaceChildren(
      card(money(t.price), `${c.currency} an hour${below > 0 ? `, ${below} % below on demand` : ''}${saved ? `, ${month} a month` : ''}`),
      saved ?? card(month, `${c.currency} a month like this`),
      card(count(t.ready), `${t.ready === 1 ? 'node' : 'nodes'} ready${t.coming ? `, ${count(t.coming)} on the way` : ''}${t.notReady ? `, ${count(t.notReady)} not ready` : ''}`),
      card(count(t.going), 'given back now'),
      card(count(t.running), `${t.running === 1 ? 'pod' : 'pods'} on nodes`),
      card(count(t.waiting), `${t.waiting === 1 ? 'pod' : 'pods'} without a node${t.waiting ? `, longest ${span(t.longest)}` : ''}`, t.waiting > 0),
      card(`${t.cpu} %`, 'of CPU asked for'), card(`${t.memory} %`, 'of memory asked for'));
    // A cluster with nothing in it has nothing to group, colour or filter.
    const bare = c.nodes.size === 0 && c.pools.length === 0;
    hello.hidden = !bare;
    for (const e of [tools, map.element, table.element]) e.hidden = bare;
    const list = sections(c.nodes.values(), settings.group, settings.sort, text);
    const nodes = list.flatMap((s) => s.nodes);
    const palette = colours(nodes, settings.colour, c.at);
    kind.textContent = settings.table ? 'Show as map' : 'Show as table';
    found.textContent = text ? summary(nodes, c.currency) : '';
    if (settings.table) table.show(list, c.at, c.currency);
    else map.show(list, palette.of, c.currency, { born, gone });
    born = [];
    gone = [];
    legend.hidden = settings.table || bare;
    legend.replaceChildren(...palette.legend.map((l) => {
      const swatch = h('i', {});
      swatch.style.background = l.colour;
      return h('span', {}, swatch, l.label);
    }), h('span', { class: 'soft' }, 'pale: daemons · a stroke: going · dashed: on its way'));
    const want = settings.table ? table.element : map.element;
    const other = settings.table ? map.element : table.element;
    if (other.isConnected) other.replaceWith(want);
  }

  const waits = h('p', { class: 'hello' }, 'Connecting to the controller …');
  const hello = h('p', { class: 'hello', hidden: true }, 'No nodes and no pools yet. Apply a NodePool, then start pods that do not fit: what happens is seen here.');

  function go(): void {
    const to = location.hash.slice(1) as Page;
    page = pages.some(([p]) => p === to) ? to : 'cluster';
    document.title = `${pages.find(([p]) => p === page)![1]} · Tenon`;
    if (!known) main.replaceChildren(waits);
    else if (page === 'cluster') main.replaceChildren(hello, cards, plots.element, tools, legend, settings.table ? table.element : map.element);
    else main.replaceChildren(view);
    if (page === 'whatif' && known) panels.suppose(view, shown(), drawer);
    draw();
  }

  async function lookBack(d: Decision): Promise<void> {
    const then = await drawer.open<{ decision: Decision; cluster: Frame }>(`Decision of ${clock(d.at)}`, `v1/decisions/${encodeURIComponent(d.digest)}`, [
      h('button', { onclick: () => { location.hash = 'cluster'; } }, 'See the cluster as it was'),
      h('p', {}, h('a', { href: `decisions/${d.digest}/world` }, 'The world it was made of'), ', to be tried again with tenon plan -f world.json'),
    ]);
    if (!then) return;
    const cluster = empty();
    apply(cluster, then.cluster);
    past = { cluster, decision: d };
    draw();
  }

  addEventListener('hashchange', go);
  addEventListener('keydown', (e) => {
    const typing = e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement;
    if (typing || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === '/' && page === 'cluster') {
      e.preventDefault();
      filter.focus();
    }
    const n = Number(e.key);
    if (n >= 1 && n <= pages.length) location.hash = pages[n - 1][0];
  });
  linked('connecting');
  void plots.load();
  go();
}

start();
