/**
 * Measures layouts of M1 (or M5, or H1) on real QuestDB servers, one per layout. Layouts of one group run in parallel.
 * `bin/node test/bench/questdb-layout.ts [million rows of each = 50] [group …]`
 * A group is a list of layouts with commas: symbols/tables, then optionally a dedup key, a partition, `m5` or `h1`, such
 * as `230/1,230/4` or `1622/8/rev,1622/8/taken` or `230/4/day,230/4/week`. Needs about 100 bytes of
 * temporary disk for each row of a group.
 */
import { type Bars, barCount } from '../../services/core/bars/bar.ts'
import type { SeriesBars } from '../../services/core/bars/series.ts'
import { feedSeconds } from '../../services/core/clocks/feed-clock.ts'
import { count, machine, ms, printTable, quantile, timed } from './support/figures.ts'
import {
  type Filled,
  footprintOf,
  type Layout,
  type Opened,
  openOver,
  parseLayout,
  restartCold,
  seriesAt,
  startFilled,
  tableBytes,
  timeAt,
} from './support/questdb-layouts.ts'

const [millions = '50', ...given] = process.argv.slice(2)
const rowsWanted = Number(millions) * 1_000_000
const groups = given.length > 0 ? given : ['230/1,230/4,230/8', '1622/1,1622/8,1622/32']
const readsOfEach = 150
const coldReadsWanted = 6
const revision = 1_790_000_000_000

/** One line of the table: a value for each layout. */
type Lines = Map<string, string[]>
const put = (lines: Lines, what: string, value: string): void => {
  lines.set(what, [...(lines.get(what) ?? []), value])
}
const spread = (all: readonly number[]): string => `${ms(quantile(all, 0.5))} / ${ms(quantile(all, 0.95))}`
const anyOf = (below: number): number => Math.floor(Math.random() * below)

interface Subject {
  readonly filled: Filled
  opened: Opened
}

const readBack = async ({ opened, filled }: Subject, wanted: number, last: number): Promise<void> => {
  const bars = await opened.stores.bars.read({
    series: seriesAt(filled.layout, anyOf(filled.layout.symbols)),
    from: feedSeconds(0),
    to: feedSeconds(timeAt(filled.layout, last - 1)),
    take: { count: wanted, end: 'newest' },
  })
  if (barCount(bars) !== wanted) throw new Error(`${barCount(bars)} bars instead of ${wanted}`)
}

/** Alternates the subjects, so that other load of the machine affects all of them. */
async function inTurn(
  subjects: readonly Subject[],
  rounds: number,
  act: (subject: Subject, round: number) => Promise<unknown>,
): Promise<number[][]> {
  const all: number[][] = subjects.map(() => [])
  for (let round = 0; round < rounds; round++)
    for (const [i, subject] of subjects.entries())
      all[i]?.push(await timed(() => act(subject, round)).catch(failed))
  return all
}

/** Prints a failure and counts it as NaN, so that the other figures are still shown. */
const failed = (cause: unknown): number => {
  console.log(
    `  failed: ${cause instanceof Error ? `${cause.message}: ${String(cause.cause)}` : String(cause)}`,
  )
  return Number.POSITIVE_INFINITY
}

async function warmReads(subjects: readonly Subject[], lines: Lines): Promise<void> {
  for (const wanted of [300, 10_000])
    for (const where of ['newest', 'anywhere']) {
      const read = (subject: Subject): Promise<void> => {
        const { length } = subject.filled
        return readBack(subject, wanted, where === 'newest' ? length : wanted + anyOf(length - wanted))
      }
      await inTurn(subjects, 40, read)
      for (const all of await inTurn(subjects, readsOfEach, read))
        put(lines, `${count(wanted)} bars ${where}, warm`, spread(all))
    }
  const eightReaders = async (subject: Subject): Promise<void> => {
    const reader = async (): Promise<void> => {
      for (let i = 0; i < 6; i++)
        await readBack(subject, 10_000, 10_000 + anyOf(subject.filled.length - 10_000))
    }
    await Promise.all(Array.from({ length: 8 }, reader))
  }
  for (const all of await inTurn(subjects, 5, eightReaders))
    put(lines, '10,000 bars, 8 readers at once', `${count(48_000 / quantile(all, 0.5))}/s`)
}

const onePerSymbol = ({ layout }: Filled, at: number): SeriesBars[] =>
  Array.from({ length: layout.symbols }, (_, i) => ({
    series: seriesAt(layout, i),
    bars: flat(layout, at, 1),
  }))

function flat(layout: Layout, first: number, length: number): Bars {
  const all = (value: number): Float64Array => new Float64Array(length).fill(value)
  return {
    time: Float64Array.from({ length }, (_, i) => timeAt(layout, first + i)),
    open: all(1.1),
    high: all(1.2),
    low: all(1.05),
    close: all(1.15),
    volume: all(7),
    revision: all(revision + 1),
  }
}

/** Writes one minute of all symbols at a time. The first minutes open the server's files and do not count. */
async function liveMinutes(
  subjects: readonly Subject[],
  lines: Lines,
  mode: string,
  after: number,
): Promise<void> {
  const [first, rounds] = [5, 30]
  for (const { opened } of subjects) opened.acks.length = 0
  const readable = await inTurn(subjects, rounds, ({ filled, opened }, round) => {
    return opened.stores.bars.write(onePerSymbol(filled, filled.length + after + round), 'live')
  })
  for (const [i, { opened }] of subjects.entries()) {
    put(lines, `a minute acked, ${mode}`, spread(opened.acks.slice(first)))
    put(lines, `a minute readable, ${mode}`, spread(readable[i]?.slice(first) ?? []))
  }
}

/** Measures writes of old bars, which QuestDB merges into their partitions. */
async function lateWrites(subjects: readonly Subject[], lines: Lines): Promise<void> {
  const corrections = await inTurn(subjects, 12, ({ filled, opened }) => {
    const series = seriesAt(filled.layout, anyOf(filled.layout.symbols))
    const bars = flat(filled.layout, anyOf(filled.length), 1)
    return opened.stores.bars.write([{ series, bars }], 'live')
  })
  const added = await inTurn(subjects, 3, ({ filled, opened }, round) => {
    const series = seriesAt(filled.layout, filled.layout.symbols + round)
    const bars = flat(filled.layout, 0, Math.min(20_000, filled.length))
    return opened.stores.bars.write([{ series, bars }], 'backfill')
  })
  for (const i of subjects.keys()) {
    put(lines, 'a correction anywhere, readable', spread(corrections[i] ?? []))
    put(lines, '20,000 old bars of a new symbol, readable', spread(added[i] ?? []))
  }
}

function footprints(subjects: readonly Subject[], lines: Lines, when: string): void {
  for (const { filled } of subjects) {
    const { handles, residentMb, ownMb } = footprintOf(filled.server)
    put(lines, `handles, ${when}`, String(handles))
    put(lines, `resident (its own), ${when}`, `${residentMb} (${ownMb}) MB`)
  }
}

/** Measures cold reads of disjoint ranges if possible: symbols share pages, so one read warms its range for all. */
async function coldReads(subjects: readonly Subject[], lines: Lines): Promise<void> {
  for (const wanted of [300, 10_000]) {
    const all = subjects.map(() => ({ first: [] as number[], later: [] as number[] }))
    while ((all[0]?.later.length ?? coldReadsWanted) < coldReadsWanted) {
      for (const subject of subjects) await reopen(subject, restartCold)
      const ranges = Math.max(
        2,
        Math.min(12, ...subjects.map(({ filled }) => Math.floor(filled.length / wanted))),
      )
      const times = await inTurn(subjects, ranges, (subject, round) =>
        readBack(
          subject,
          wanted,
          wanted + Math.floor((round * (subject.filled.length - wanted)) / (ranges - 1)),
        ),
      )
      for (const [i, [first = Number.NaN, ...later]] of times.entries()) {
        all[i]?.first.push(first)
        all[i]?.later.push(...later)
      }
    }
    for (const { first, later } of all) {
      put(lines, `${count(wanted)} bars, the very first, cold`, spread(first))
      put(lines, `${count(wanted)} bars, cold`, spread(later))
    }
  }
}

async function reopen(subject: Subject, restart: (filled: Filled) => Promise<void>): Promise<void> {
  await subject.opened.stores.close()
  await restart(subject.filled)
  subject.opened = await openOver(subject.filled.server)
}

async function measure(group: string): Promise<void> {
  const subjects: Subject[] = []
  const lines: Lines = new Map()
  try {
    for (const text of group.split(',')) {
      const filled = await startFilled(parseLayout(text), rowsWanted)
      subjects.push({ filled, opened: await openOver(filled.server) })
      const rows = filled.length * filled.layout.symbols
      put(lines, 'rows', `${(rows / 1e6).toFixed(1)} M`)
      put(lines, 'filled in', `${Math.round(filled.tookMs / 1_000)} s`)
      put(lines, 'bytes of disk a row', (tableBytes(filled.server) / rows).toFixed(1))
      console.log(`  ${text}: filled`)
    }
    footprints(subjects, lines, 'filled')
    await warmReads(subjects, lines)
    await liveMinutes(subjects, lines, 'nosync', 0)
    footprints(subjects, lines, 'after reads and writes')
    await lateWrites(subjects, lines)
    await coldReads(subjects, lines)
    for (const subject of subjects)
      await reopen(subject, async ({ server }) => {
        await server.kill()
        await server.start({ QDB_CAIRO_COMMIT_MODE: 'sync' })
      })
    await liveMinutes(subjects, lines, 'sync', 100)
    for (const { opened } of subjects) await opened.stores.close()
  } finally {
    console.log(machine())
    printTable(
      ['median / p95', ...group.split(',')],
      [...lines].map(([what, values]) => [what, ...values]),
    )
    for (const { filled } of subjects) await filled.server.stop()
  }
}

for (const group of groups) await measure(group)
