import { type BarFault, barTimeMax, fault } from '../../core/bars/bar-rules.ts'
import { closeToleranceSeconds } from '../../core/bars/closed.ts'
import { onGrid, type Window, windowFromMin } from '../../core/bars/window.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../../core/feeds/feed.ts'
import { isResolution } from '../../core/feeds/resolution.ts'
import { show } from '../../core/show.ts'
import type { Window__Output } from '../../wire/gen/fxd/v1/Window.ts'
import type { SymbolLookup } from './check-batch.ts'

/** Minimum end of a window (the start of 1971); an earlier end means that the times were not set. */
const windowEndMin = 31_536_000

/** Maximum separate windows of a series, or feed-wide of a resolution: one interruption a day for 27 years. */
export const separateWindowsMax = 10_000
/** Maximum separate windows of a feed's symbols beyond the first of each series. Coverage of all symbols reads them all. */
export const feedWindowsMax = 50_000

export interface CheckedWindow {
  /** With both ends on the grid, as it is stored. It is empty if no bar may open in the window. */
  readonly window: Window
  /** The end that the collector claims, at most the present: minutes before it are over. */
  readonly end: FeedSeconds
}

/** The window as it may be stored, or its fault. The end is limited to the present: the future has no bars yet. */
export function checkWindow(
  { symbol, resolution, from, to }: Window__Output,
  at: {
    readonly view: SymbolLookup
    readonly definition: FeedDefinition
    readonly feedNow: FeedSeconds | undefined
    readonly isImport: boolean
  },
): CheckedWindow | BarFault {
  const feed = at.definition.key
  const key = symbol === '' ? undefined : compoundKey(feed, symbol)
  if (key === undefined && at.isImport) {
    return fault('MALFORMED', 'symbol: got nothing, wanted a name: an import may not send feed-wide windows')
  }
  if (key !== undefined && at.view.symbol(key) === undefined) {
    return fault('UNKNOWN_SERIES', `symbol: got ${show(symbol)}, which ${feed} does not list`)
  }
  if (!isResolution(resolution) || resolution === '30' || !at.definition.resolutions.includes(resolution)) {
    return fault('UNKNOWN_SERIES', `resolution: got ${show(resolution)}, which ${feed} does not store`)
  }
  const latest = at.feedNow === undefined ? barTimeMax : at.feedNow + closeToleranceSeconds
  const end = feedSeconds(Math.min(to, latest))
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || from >= end) {
    return fault('MALFORMED', `from, to: got ${from}, ${to}, wanted from below to, and in the past`)
  }
  if (from < windowFromMin || to < windowEndMin) {
    const wanted = `from ${windowFromMin} on and to after 1970 (${windowEndMin})`
    return fault('MALFORMED', `from, to: got ${from}, ${to}, a window of 1970, wanted ${wanted}`)
  }
  const span = onGrid(resolution, { from: feedSeconds(from), to: end })
  return { window: { feed, symbol: key, resolution, ...span }, end }
}

/** The fault of a window that would be a separate one more than its series or its feed may have. */
export function tooManyWindows(
  { feed, symbol, resolution, from, to }: Window,
  of: 'ofSeries' | 'ofFeed',
): BarFault {
  const series = `${symbol ?? feed} has ${separateWindowsMax} separate windows of resolution ${resolution}`
  const whole = `the symbols of ${feed} have ${feedWindowsMax} separate windows beyond the first of each series`
  return fault(
    'TOO_MANY_WINDOWS',
    `from, to: got ${from}, ${to}, wanted a window that touches a stored one of ${symbol ?? feed} at ${resolution}: ` +
      `${of === 'ofSeries' ? series : whole}, the maximum`,
  )
}
