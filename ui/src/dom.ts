// Small helpers to make elements and to write figures.

type Child = Node | string | null | undefined | false;
type Props = { [name: string]: unknown };

/** Makes an element. Text is always text: nothing here reads markup. */
export function h(tag: string, props: Props = {}, ...children: (Child | Child[])[]): HTMLElement {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) e.addEventListener(name.slice(2), value as EventListener);
    else if (name === 'class') e.className = String(value);
    else e.setAttribute(name, value === true ? '' : String(value));
  }
  e.append(...children.flat().filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
  return e;
}

/** Where the controller's pages begin: it differs behind a proxy. */
export const base = new URL('../', import.meta.url);

export async function ask<T>(path: string, signal?: AbortSignal): Promise<T> {
  const answer = await fetch(new URL(path, base), { signal, headers: { Accept: 'application/json' } });
  if (!answer.ok) throw new Error((await answer.text()).trim() || answer.statusText);
  return (await answer.json()) as T;
}

/** A price of millionths an hour: small ones to a thousandth. */
export function money(micro: number): string {
  const v = micro / 1e6;
  return v < 100 ? v.toFixed(3) : v.toLocaleString('en', { maximumFractionDigits: v < 10000 ? 1 : 0 });
}

export function cores(milli: number): string {
  const v = milli / 1000;
  return v < 10 && milli % 1000 ? v.toFixed(2) : String(Math.round(v * 10) / 10);
}

export function memory(mib: number): string {
  if (mib < 1024) return `${mib} Mi`;
  const gib = mib / 1024;
  return `${gib < 10 ? gib.toFixed(1) : Math.round(gib)} Gi`;
}

/** How long something takes, in its two largest units. */
export function span(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min${s % 60 && s < 600 ? ` ${s % 60} s` : ''}`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

export function clock(at: number): string {
  return new Date(at * 1000).toLocaleTimeString('en-GB');
}

export function count(n: number): string {
  return n.toLocaleString('en');
}

export function plural(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? '' : 's'}`;
}

export function percent(used: number, room: number): number {
  return room > 0 ? Math.min(999, Math.round((100 * used) / room)) : 0;
}

/** The first part of a node's DNS name, which is what tells it from others. */
export function short(name: string): string {
  const dot = name.indexOf('.');
  return dot > 0 ? name.slice(0, dot) : name;
}
