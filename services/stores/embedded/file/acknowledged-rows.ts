import type { DatabaseSync } from 'node:sqlite'
import type { Window } from '../../../core/bars/window.ts'
import { keptWindows, type Withdrawal } from '../../../core/bars/withdrawal.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { CompoundKey, FeedKey } from '../../../core/feeds/compound-key.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'

/** Means all symbols of the feed; no symbol has this name. */
const allSymbols = ''
const series = 'feed = ? AND symbol = ? AND resolution = ?'

/** Adds a window to its series, whose windows never overlap or touch. Call it inside a transaction. */
export function windowUnion(db: DatabaseSync): (window: Window) => void {
  const before = db.prepare(`
    SELECT start, stop FROM acknowledged WHERE ${series} AND start < ? ORDER BY start DESC LIMIT 1`)
  const reached = db.prepare(`
    SELECT max(stop) AS stop FROM acknowledged WHERE ${series} AND start BETWEEN ? AND ?`)
  const remove = db.prepare(`DELETE FROM acknowledged WHERE ${series} AND start BETWEEN ? AND ?`)
  const insert = db.prepare('INSERT INTO acknowledged VALUES (?, ?, ?, ?, ?)')
  return ({ feed, symbol, resolution, from, to }) => {
    const of = [feed, symbol ?? allSymbols, resolution] as const
    const left = before.get(...of, from)
    const start = left !== undefined && Number(left['stop']) >= from ? Number(left['start']) : from
    const stop = Math.max(to, Number(reached.get(...of, start, to)?.['stop'] ?? to))
    remove.run(...of, start, to)
    insert.run(...of, start, stop)
  }
}

/** Removes times from windows. Call it inside a transaction. */
export function windowWithdrawal(db: DatabaseSync, add: (window: Window) => void): (of: Withdrawal) => void {
  const overlapping = db.prepare(`
    SELECT symbol, start, stop FROM acknowledged WHERE feed = ? AND resolution = ? AND start < ? AND stop > ?`)
  const remove = db.prepare(`DELETE FROM acknowledged WHERE ${series} AND start = ?`)
  return (of) => {
    const { feed, resolution, symbol: only, span } = of
    const taken = overlapping
      .all(feed, resolution, span.to, span.from)
      .map((row) => ({
        symbol: row['symbol'] === allSymbols ? undefined : (row['symbol'] as CompoundKey),
        from: feedSeconds(Number(row['start'])),
        to: feedSeconds(Number(row['stop'])),
      }))
      .filter(({ symbol }) => only === undefined || symbol === undefined || symbol === only)
    for (const { symbol, from } of taken) remove.run(feed, symbol ?? allSymbols, resolution, from)
    keptWindows(taken, of).forEach(add)
  }
}

export function windowPurge(db: DatabaseSync): (feed: FeedKey) => void {
  const statement = db.prepare('DELETE FROM acknowledged WHERE feed = ?')
  return (feed) => void statement.run(feed)
}

/** Windows as columns, which cross threads without a copy: starts and ends of one series after another. */
interface WindowColumns {
  readonly lists: readonly { readonly symbol: string; readonly resolution: string; readonly count: number }[]
  readonly times: Float64Array
}

/** All windows of a feed, ascending within each series; with a symbol only its own and those of the whole feed. */
export function windowReads(
  db: DatabaseSync,
): (of: { readonly feed: FeedKey; readonly symbol: CompoundKey | undefined }) => WindowColumns {
  const select = 'SELECT symbol, resolution, start, stop FROM acknowledged WHERE feed = ?'
  const order = 'ORDER BY symbol, resolution, start'
  const ofAll = db.prepare(`${select} ${order}`)
  const ofOne = db.prepare(`${select} AND symbol IN ('${allSymbols}', ?) ${order}`)
  return ({ feed, symbol }) => {
    const lists: { symbol: string; resolution: string; count: number }[] = []
    const times: number[] = []
    for (const row of symbol === undefined ? ofAll.iterate(feed) : ofOne.iterate(feed, symbol)) {
      const [name, resolution] = [String(row['symbol']), String(row['resolution'])]
      const last = lists.at(-1)
      if (last?.symbol === name && last.resolution === resolution) last.count += 1
      else lists.push({ symbol: name, resolution, count: 1 })
      times.push(Number(row['start']), Number(row['stop']))
    }
    return { lists, times: Float64Array.from(times) }
  }
}

export function windowsOf(feed: FeedKey, { lists, times }: WindowColumns): Window[] {
  const windows: Window[] = []
  for (const { symbol: name, resolution, count } of lists) {
    const symbol = name === allSymbols ? undefined : (name as CompoundKey)
    for (const end = windows.length + count; windows.length < end; ) {
      const at = windows.length * 2
      const [from, to] = [feedSeconds(times[at] as number), feedSeconds(times[at + 1] as number)]
      windows.push({ feed, symbol, resolution: resolution as Resolution, from, to })
    }
  }
  return windows
}
