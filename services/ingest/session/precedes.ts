import type { Window } from '../../core/bars/window.ts'
import type { ReceivedSeries } from '../../wire/decode-bars.ts'

/** Whether what was received must be committed before this window, which came after it, may be kept. */
export type Precedes = (window: Window) => boolean

export const precedesAll: Precedes = () => true

/** The whole feed's window of a minute speaks for its own times only: history of others is not waited for. */
export const historyPrecedes =
  (series: readonly ReceivedSeries[]): Precedes =>
  ({ symbol, resolution, from, to }) =>
    symbol !== undefined ||
    series.some(
      ({ bars, resolution: r }) =>
        r === resolution && typeof bars !== 'string' && bars.time.some((time) => time >= from && time < to),
    )

/** Windows of the whole feed stay in their order, or a minute would be complete before the one before it. */
export const windowPrecedes =
  ({ symbol }: Window): Precedes =>
  (later) =>
    symbol === undefined || later.symbol !== undefined
