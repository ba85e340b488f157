// What the controller sends: the JSON of internal/web/live.

/** A machine: a node, or a claim whose node has not joined yet. */
export interface Node {
  name: string;
  claim?: string;
  pool?: string;
  type?: string;
  zone?: string;
  capacity?: string;
  state: string;
  why?: string;
  decision?: string;
  created?: number;
  expires?: number;
  drifted?: string;
  price: number;
  onDemand: number;
  cpu: number;
  memory: number;
  usedCPU: number;
  usedMemory: number;
  keeps?: string[];
  /** Three numbers for each pod: thousandths of a core, MiB, kind. */
  pods?: number[];
}

export interface Pool {
  kind: string;
  name: string;
  state: string;
  limits?: string;
  used?: string;
  budgets?: string;
  weight?: number;
}

export interface Why {
  code: string;
  subject?: string;
  detail?: string;
  hint?: string;
  causes?: Why[];
}

/** Pods of one workload that wait for the same reason. */
export interface Group {
  state: string;
  workload: string;
  text: string;
  hint?: string;
  why?: Why;
  count: number;
  pods: string[];
  since: number;
  decision?: string;
}

export interface Decision {
  digest: string;
  at: number;
  kind: string;
  text: string;
  waiting: number;
  new: number;
  refused: number;
  back: number;
  cost: number;
  saved: number;
  proven?: string;
  quiet?: number;
  panic?: string;
}

export interface Totals {
  price: number;
  onDemand: number;
  ready: number;
  coming: number;
  going: number;
  notReady: number;
  running: number;
  waiting: number;
  longest: number;
  cpu: number;
  memory: number;
}

/** What consolidation could save, by the last decision that looked for it. */
export interface Savings {
  at: number;
  decision: string;
  price: number;
  bound?: number;
  now: number;
  held: number;
  best: { nodes: string[] | null; reason: string; saves: number; pods: number; buys?: number; heldUp?: string }[];
  stay: { code: string; nodes: number; price: number; such: string }[];
}

export interface Frame {
  seq: number;
  whole?: boolean;
  at: number;
  currency: string;
  totals: Totals;
  /** The replica that decides, as NAMESPACE/NAME, if it is another one. */
  leader?: string;
  nodes: Node[];
  gone?: string[];
  pools?: Pool[];
  waiting?: Group[];
  decisions?: Decision[];
  savings?: Savings;
}

export interface Sample extends Totals {
  at: number;
}

/** An answer as data, and as the command line writes it. */
export interface Answer<T> {
  format: string;
  answer: T;
  text: string;
}

export interface Move {
  from: string;
  to: string;
  pods: string[];
}

export interface Side {
  nodes: number;
  newNodes: number;
  hourlyCost: number;
  waitingPods: number;
  refusedPods: number;
}

export interface WhatIf {
  difference: { before: Side; after: Side; same: boolean; pods: Move[] };
}
