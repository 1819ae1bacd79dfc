import type { Bar } from '../../../services/core/bars/bar.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import type { Shown } from '../checks/check-history.ts'
import { feed, type Market } from './market.ts'

interface HistoryBody {
  readonly s: string
  readonly t?: readonly number[]
  readonly o?: readonly number[]
  readonly h?: readonly number[]
  readonly l?: readonly number[]
  readonly c?: readonly number[]
  readonly v?: readonly number[]
}

/** Reads all bars of every symbol from REST. */
export async function readHistory(
  fxd: { get(path: string): Promise<{ readonly status: number; readonly body: unknown }> },
  market: Market,
  resolution: '1' | '30',
): Promise<Shown> {
  const shown = new Map<string, readonly Bar[]>()
  const range = `from=${market.historyBegin - 86_400}&to=${Math.floor(Date.now() / 1_000)}`
  for (const symbol of market.symbols) {
    const path = `/v1/history?symbol=${feed}:${symbol}&resolution=${resolution}&${range}`
    const { status, body } = await fxd.get(path)
    const { s, t = [], o = [], h = [], l = [], c = [], v = [] } = body as HistoryBody
    if (status !== 200 || (s !== 'ok' && s !== 'no_data'))
      throw new Error(`history answered ${status}: ${JSON.stringify(body)}`)
    const bars = t.map((time, i): Bar => {
      const at = (column: readonly number[]): number => column[i] ?? Number.NaN
      return {
        time: feedSeconds(time),
        open: at(o),
        high: at(h),
        low: at(l),
        close: at(c),
        volume: at(v),
      }
    })
    if (bars.length > 0) shown.set(symbol, bars)
  }
  return shown
}
