import { ms, printTable, quantile } from '../support/figures.ts'
import type { Burst, Cpu } from './burst.ts'
import { marketSymbols } from './market.ts'

/** The bursts of one form, or the first minute, under their name. */
export interface Measured {
  readonly name: string
  readonly bursts: readonly Burst[]
}

const of = (values: readonly number[], q: number): string => ms(quantile(values, q))

/** Milliseconds from the start of sending: medians of the bursts, or their maximum. */
export function printTimes(all: readonly Measured[]): void {
  const head = [
    'bursts',
    'frames p50',
    'frames p99',
    'last frame, max',
    'acks p50',
    'acks p99',
    'visible p50',
    'visible max',
    'receipt to bus',
  ]
  const rows = all.map(({ name, bursts }) => {
    const acks = bursts.flatMap((each) => each.acks)
    const visible = bursts.map((each) => each.visible)
    return [
      name,
      of(
        bursts.map(({ frames }) => frames.p50),
        0.5,
      ),
      of(
        bursts.map(({ frames }) => frames.p99),
        0.5,
      ),
      of(
        bursts.map(({ frames }) => frames.max),
        1,
      ),
      of(acks, 0.5),
      of(acks, 0.99),
      of(visible, 0.5),
      of(visible, 1),
      of(
        bursts.map(({ push }) => push),
        0.5,
      ),
    ]
  })
  printTable(head, rows)
  console.log('visible: history was asked for from the last frame on, every 25 ms; an upper bound')
}

/** Milliseconds of CPU of a process in a burst: median of the bursts, idle use included. */
export const cpuOfBurst = (bursts: readonly Burst[], process: string): number =>
  quantile(
    bursts.map(({ cpu }) => cpu[process] ?? 0),
    0.5,
  )

export const perBar = (cpuMs: number): string => `${((cpuMs / marketSymbols.length) * 1_000).toFixed(1)} µs`

/** `idle`: CPU without a burst, over the seconds that a burst once a minute is measured. */
export function printCpu(all: readonly Measured[], ingest: string, idle: Cpu): void {
  const names = Object.keys(idle)
  console.log('\nCPU of a burst, median, idle use included')
  printTable(
    ['bursts', ...names, `${ingest} per bar`],
    [
      ...all.map(({ name, bursts }) => [
        name,
        ...names.map((process) => ms(cpuOfBurst(bursts, process))),
        perBar(cpuOfBurst(bursts, ingest)),
      ]),
      ['idle, 2 s', ...names.map((process) => ms(idle[process] ?? 0)), ''],
    ],
  )
}
