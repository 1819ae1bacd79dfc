import { joinSpans } from '../../core/bars/coverage.ts'
import { refuseUnfitWindow, type Span, type Window } from '../../core/bars/window.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Reader } from '../../core/fair-queue.ts'
import { type CompoundKey, compoundKey, type FeedKey } from '../../core/feeds/compound-key.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { patientReadDeadlineMs, readDeadlineMs } from '../../platform/read-turns.ts'
import { SharedRun } from '../../platform/serial.ts'
import type { WindowStore } from '../../ports/windows.ts'
import { untilDone } from '../write-queue/until-done.ts'
import { type EmptyingDeps, purgeTables } from './empty-tables.ts'
import { allSymbols, nameOf } from './layout/tables.ts'
import type { TakeRow } from './pg/connection.ts'
import { Fields } from './pg/fields.ts'
import { SpanSlots } from './span-slots.ts'
import { type NamedWithdrawal, type WithdrawalDeps, withdrawWindows } from './withdraw-windows.ts'
import { RowEncoder } from './write/rows.ts'

type WindowDeps = EmptyingDeps & WithdrawalDeps

const purgeDeadlineMs = 10_000

export interface QuestdbWindows extends WindowStore {
  /** Withdraws the windows of symbols by their plain names. */
  withdrawNames(of: NamedWithdrawal): Promise<void>
}

export function questdbWindows(deps: WindowDeps): QuestdbWindows {
  const feeds = new Map<FeedKey, FeedRows>()
  const rowsOf = (feed: FeedKey): FeedRows => {
    const rows = feeds.get(feed) ?? new FeedRows(feed, deps)
    feeds.set(feed, rows)
    return rows
  }
  const withdrawNames = async (of: NamedWithdrawal): Promise<void> => {
    // What is kept must not grow in a row that is withdrawn: another writer stores it.
    const kept = new FeedRows(of.feed, deps)
    await withdrawWindows(of, deps, (windows) => kept.add(windows))
    feeds.delete(of.feed)
  }
  return {
    async add(windows, signal) {
      windows.forEach(refuseUnfitWindow)
      const byFeed = Map.groupBy(
        windows.filter(({ from, to }) => from < to),
        ({ feed }) => feed,
      )
      await Promise.all([...byFeed].map(([feed, held]) => rowsOf(feed).add(held, signal)))
    },
    of: (feed, reader, symbol) => readWindows(feed, deps, reader, symbol),
    async purge(feed) {
      const table = await deps.tableList.listedWindowsOf(feed)
      if (table === undefined) return
      await purgeTables(feed, [table], purgeDeadlineMs, deps)
      feeds.delete(feed)
    },
    async withdraw(of) {
      const only = of.symbol === undefined ? undefined : nameOf({ symbol: of.symbol })
      const withdrawal = { ...of, concerns: (name: string) => only === undefined || name === only }
      await withdrawNames(withdrawal)
      // A session that added to a window meanwhile may have restored it.
      await withdrawNames(withdrawal)
    },
    withdrawNames,
  }
}

/**
 * The windows that this process adds to one feed. A window that grows replaces its own row, which keeps the table
 * small. Rows of other writers are never changed, so a union cannot shrink.
 */
class FeedRows {
  readonly #feed: FeedKey
  readonly #deps: WindowDeps
  #writer = ''
  /** When the writer began, in microseconds: groups its rows behind those of older writers. */
  #begun = 0
  #failures = -1
  #slots = new Map<string, SpanSlots>()
  #waiting: Window[] = []
  #signal: AbortSignal | undefined
  readonly #writes = new SharedRun(() => this.#write())

  constructor(feed: FeedKey, deps: WindowDeps) {
    this.#feed = feed
    this.#deps = deps
  }

  /** Windows added while a write is under way share the next write. `signal` is the feed's: it drops all of them. */
  add(windows: readonly Window[], signal?: AbortSignal): Promise<void> {
    this.#waiting.push(...windows)
    this.#signal = signal
    return this.#writes.run()
  }

  #write(): Promise<void> {
    const [windows, signal] = [this.#waiting, this.#signal]
    this.#waiting = []
    const { clock, writer } = this.#deps
    const isClosed = (): boolean => writer.isClosed
    return untilDone(() => this.#store(windows, signal), { clock, signal, isClosed })
  }

  async #store(windows: readonly Window[], signal: AbortSignal | undefined): Promise<void> {
    const { tableList, writer, sender, clock } = this.#deps
    const table = await tableList.needWindows(this.#feed)
    // A request that was given up may still arrive: it must not replace a row that has grown since.
    if (this.#failures !== writer.failures || (await this.#isTaken(table))) {
      this.#failures = writer.failures
      this.#writer = clock.randomHex(8)
      this.#begun = clock.utcMs() * 1_000
      this.#slots = new Map()
    }
    const encoder = new RowEncoder(sender)
    for (const { symbol, resolution, ...span } of windows) {
      const name = symbol === undefined ? allSymbols : nameOf({ symbol })
      const { slot, span: held } = this.#slotsOf(`${resolution} ${name}`).add(span)
      encoder.add(table, (row) => {
        row
          .symbol('sym', name)
          .symbol('res', resolution)
          .symbol('writer', this.#writer)
          .intColumn('slot', slot)
          .intColumn('start', held.from)
          .intColumn('stop', held.to)
          .at(this.#begun, 'us')
      })
    }
    try {
      await writer.write(encoder.pieces(), { lane: 'live', signal })
    } catch (cause) {
      this.#failures = -1
      throw cause
    }
  }

  /** Another process may have purged or withdrawn windows: growing a window must not restore them. */
  async #isTaken(table: string): Promise<boolean> {
    let isWhole = false
    const sql =
      `SELECT count(), sum(CASE WHEN start < stop THEN 0 ELSE 1 END) FROM '${table}' ` +
      'WHERE ts = $1::long::timestamp AND writer = $2'
    const takeRow: TakeRow = (view, start) => {
      const fields = new Fields(view, start)
      isWhole = fields.long() > 0 && fields.long() === 0
    }
    await this.#deps.pool.read({ sql, parameterSets: [[String(this.#begun), this.#writer]] }, () => takeRow)
    return !isWhole
  }

  #slotsOf(id: string): SpanSlots {
    const slots = this.#slots.get(id) ?? new SpanSlots()
    this.#slots.set(id, slots)
    return slots
  }
}

/** All windows of a feed, joined; with a symbol only its own and those of the whole feed. */
export async function readWindows(
  feed: FeedKey,
  { tableList, pool }: Pick<WindowDeps, 'tableList' | 'pool'>,
  reader?: Reader,
  only?: CompoundKey,
): Promise<readonly Window[]> {
  const table = await tableList.windowsOf(feed)
  if (table === undefined) return []
  const series = new Map<string, { symbol: CompoundKey | undefined; resolution: Resolution; spans: Span[] }>()
  const sql = `SELECT sym, res, start, stop FROM '${table}'`
  const statement =
    only === undefined
      ? { sql, parameterSets: [[]] }
      : { sql: `${sql} WHERE sym = $1`, parameterSets: [[allSymbols], [nameOf({ symbol: only })]] }
  const collect = (): TakeRow => {
    series.clear()
    return (view, start) => {
      const fields = new Fields(view, start)
      const [name, resolution] = [fields.text() ?? allSymbols, fields.text() as Resolution]
      const id = `${resolution} ${name}`
      const symbol = name === allSymbols ? undefined : compoundKey(feed, name)
      const of = series.get(id) ?? { symbol, resolution, spans: [] }
      of.spans.push({ from: feedSeconds(fields.long()), to: feedSeconds(fields.long()) })
      series.set(id, of)
    }
  }
  const deadlineMs = reader ? readDeadlineMs : patientReadDeadlineMs
  await pool.read(statement, collect, { deadlineMs, reader })
  return [...series.values()].flatMap(({ symbol, resolution, spans }) =>
    joinSpans(spans).map((span) => ({ feed, symbol, resolution, ...span })),
  )
}
