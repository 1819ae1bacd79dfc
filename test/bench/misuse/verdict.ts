import { quantile } from '../support/figures.ts'
import type { Run } from './measure.ts'
import type { ServerState } from './watched-server.ts'

/** Maximum degradation by an attack. */
const goals = {
  victimP99Ms: 50,
  lagP99Ms: 20,
  lagMaxMs: 250,
  memoryMb: 100,
  /** Handles that may stay open: files of the store, spare connections. */
  handles: 10,
} as const

export interface Pair {
  readonly quiet: Run
  readonly attacked: Run
  /** Why the attack proves nothing; `undefined` when it reached the server. */
  readonly miss: string | undefined
}

/** Measurements of one attack: the state before, its pairs, and a run of the victim afterwards. */
export interface Measured {
  readonly pairs: readonly Pair[]
  readonly before: ServerState
  readonly after: ServerState
  readonly afterwards: Run
  /** Goal for the growth of memory; `undefined`: that of all attacks. */
  readonly memoryMb: number | undefined
}

export const head = [
  'attack',
  'REST p99 quiet → attacked',
  'pings p99',
  'failed',
  'lag p99',
  'lag max',
  'longest turn, CPU',
  'memory',
  'CPU wait',
  'afterwards',
  'goals',
] as const

const median = (values: readonly number[]): number => quantile(values, 0.5)
const rounded = (value: number): string => value.toFixed(value < 10 ? 1 : 0)
const signed = (value: number): string => `${value < 0 ? '−' : '+'}${rounded(Math.abs(value))}`

/** The two runs of a pair. */
export type Turn = 'quiet' | 'attacked'

const medianOf = (pairs: readonly Pair[], which: Turn, figure: (run: Run) => number): number =>
  median(pairs.map((pair) => figure(pair[which])))
/** The median difference between the attacked and the quiet run of a pair. */
const growth = (pairs: readonly Pair[], figure: (run: Run) => number): number =>
  median(pairs.map(({ quiet, attacked }) => figure(attacked) - figure(quiet)))

const change = (pairs: readonly Pair[], figure: (run: Run) => number): string =>
  `${rounded(medianOf(pairs, 'quiet', figure))} → ${rounded(medianOf(pairs, 'attacked', figure))} ms`
const changeAndGrowth = (pairs: readonly Pair[], figure: (run: Run) => number): string =>
  `${change(pairs, figure)} (${signed(growth(pairs, figure))})`

export function failuresOf(runs: readonly Run[]): Record<string, number> {
  const all: Record<string, number> = {}
  for (const { failures } of runs)
    for (const [what, times] of Object.entries(failures)) all[what] = (all[what] ?? 0) + times
  return all
}

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, each) => total + each, 0)

/** The changes of the state, one word each. */
function changed({ before, after, afterwards, pairs, memoryMb = goals.memoryMb }: Measured): string[] {
  const quietP99 = medianOf(pairs, 'quiet', ({ restP99 }) => restP99)
  const changes: readonly (readonly [string, boolean])[] = [
    ['not ready', !after.isReady],
    ['REST slower', !(afterwards.restP99 - quietP99 <= goals.victimP99Ms)],
    ['requests fail', sum(afterwards.failures) > 0],
    ['tables suspended', after.suspendedTables > 0],
    [`${after.handles - before.handles} handles more`, after.handles - before.handles > goals.handles],
    ['sockets stay', after.streamSockets > before.streamSockets],
    ['HTTP connections stay', after.httpConnections > before.httpConnections + goals.handles],
    ['memory', after.rssMb - before.rssMb > memoryMb],
  ]
  return changes.filter(([, is]) => is).map(([what]) => what)
}

/** The missed goals, one word each; empty when all are met. */
export function unmet(measured: Measured): string[] {
  const { pairs, before, memoryMb = goals.memoryMb } = measured
  // NaN, when nothing was measured, meets no goal.
  const met: readonly (readonly [string, boolean])[] = [
    ['REST', growth(pairs, ({ restP99 }) => restP99) <= goals.victimP99Ms],
    ['pings', growth(pairs, ({ pingP99 }) => pingP99) <= goals.victimP99Ms],
    ['failures', sum(failuresOf(pairs.map(({ attacked }) => attacked))) === 0],
    ['lag p99', growth(pairs, ({ lagP99 }) => lagP99) <= goals.lagP99Ms],
    ['lag max', medianOf(pairs, 'attacked', ({ lagMax }) => lagMax) < goals.lagMaxMs],
    ['memory', memoryGrowth(pairs, before) <= memoryMb],
    ['afterwards', changed(measured).length === 0],
  ]
  const misses = pairs.flatMap(({ miss }) => miss ?? [])
  return [...new Set([...met.filter(([, is]) => !is).map(([what]) => what), ...misses])]
}

/** Memory growth since before the first attack, because later attacks reuse the memory of earlier ones. */
const memoryGrowth = (pairs: readonly Pair[], before: ServerState): number =>
  Math.max(...pairs.map(({ attacked }) => attacked.rssMb)) - before.rssMb

/** Share of CPU wait of the server's main thread from which on the figures describe the machine. */
const busyShare = 0.2
/** Whether the machine was already too busy without an attack, so that the figures mean little. */
export const isBusy = ({ pairs }: Measured): boolean =>
  medianOf(pairs, 'quiet', ({ cpuWait }) => cpuWait) > busyShare

/** One line of the table. */
export function row(name: string, measured: Measured): string[] {
  const { pairs, before, after } = measured
  const attacked = pairs.map((pair) => pair.attacked)
  const missed = unmet(measured)
  const share = (which: Turn): string =>
    `${Math.round(100 * medianOf(pairs, which, ({ cpuWait }) => cpuWait))}`
  return [
    name,
    changeAndGrowth(pairs, ({ restP99 }) => restP99),
    changeAndGrowth(pairs, ({ pingP99 }) => pingP99),
    String(sum(failuresOf(attacked))),
    changeAndGrowth(pairs, ({ lagP99 }) => lagP99),
    change(pairs, ({ lagMax }) => lagMax),
    change(pairs, ({ longestTurn }) => longestTurn),
    `${rounded(before.rssMb)} ${signed(memoryGrowth(pairs, before))} MB`,
    `${share('quiet')} → ${share('attacked')} %`,
    `${signed(after.rssMb - before.rssMb)} MB, ${changed(measured).join(', ') || 'as before'}`,
    `${missed.length === 0 ? 'met' : `not met: ${missed.join(', ')}`}${isBusy(measured) ? ' (busy machine)' : ''}`,
  ]
}

/** A table row of an attack without figures. */
export const wordsRow = (name: string, words: string): string[] => [
  name,
  ...head.slice(2).map(() => ''),
  words,
]
