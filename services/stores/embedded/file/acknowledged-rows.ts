import type { DatabaseSync } from 'node:sqlite'
import type { Window } from '../../../core/bars/window.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { CompoundKey, FeedKey } from '../../../core/feeds/compound-key.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'

/** Means all symbols of the feed; no symbol has this name. */
const allSymbols = ''
const series = 'feed = ? AND symbol = ? AND resolution = ?'

/**
 * Adds a window to those of its series, which are kept joined: they never overlap or touch. Call it inside a
 * transaction.
 */
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

export function windowPurge(db: DatabaseSync): (feed: FeedKey) => void {
  const statement = db.prepare('DELETE FROM acknowledged WHERE feed = ?')
  return (feed) => void statement.run(feed)
}

/** All windows of a feed, ascending within each series. */
export function windowReads(db: DatabaseSync): (feed: FeedKey) => readonly Window[] {
  const statement = db.prepare(`
    SELECT symbol, resolution, start, stop FROM acknowledged WHERE feed = ?
    ORDER BY symbol, resolution, start`)
  return (feed) =>
    statement.all(feed).map(({ symbol, resolution, start, stop }) => ({
      feed,
      symbol: symbol === allSymbols ? undefined : (symbol as CompoundKey),
      resolution: resolution as Resolution,
      from: feedSeconds(Number(start)),
      to: feedSeconds(Number(stop)),
    }))
}
