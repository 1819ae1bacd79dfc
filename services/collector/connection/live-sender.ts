import { type Bars, barCount, sliceBars, timeAt } from '../../core/bars/bar.ts'
import { LimitedLog } from '../../platform/log/limited-log.ts'
import type { Log } from '../../platform/log/log.ts'
import { Semaphore } from '../../platform/semaphore.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RefusedBar__Output } from '../../wire/gen/fxd/v1/RefusedBar.ts'
import type { CollectedSeries } from '../series/collected-series.ts'
import { recordStored } from '../series/holes.ts'
import type { PreparedBars } from '../series/prepared-bars.ts'
import { refusedBySeries } from '../series/refused-bars.ts'
import type { Outbox } from './outbox.ts'
import { messageBarsMax, packBars } from './pack-bars.ts'
import { reasonOf } from './session-client.ts'
import type { WorkInFlight } from './work-in-flight.ts'

/** Maximum unacknowledged catch-up bars; further bars wait. */
const catchUpBarsMax = 20_000

export interface LiveSenderDeps {
  readonly outbox: Outbox
  readonly inFlight: WorkInFlight
  readonly log: Log
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Aborts with the session. */
  readonly signal: AbortSignal
  /** Called for a bar that ingest rejected as still forming. */
  readonly onForming: (series: CollectedSeries, bar: Bars) => void
}

/** The live lane of one session: sends bars at once and in order, and tracks those that are not yet stored. */
export class LiveSender {
  readonly #deps: LiveSenderDeps
  readonly #semaphore: Semaphore
  /** Limits the lines about a wrong clock of the feed, which concerns every bar. */
  readonly #ahead: LimitedLog

  constructor(deps: LiveSenderDeps) {
    this.#deps = deps
    this.#ahead = new LimitedLog(deps.log, deps.clock)
    this.#semaphore = new Semaphore(catchUpBarsMax, deps.signal)
  }

  /** Resolves when all bars sent so far are stored; rejects when the session ends before. */
  settled(): Promise<void> {
    return this.#deps.inFlight.settled()
  }

  /** Resolves when history may be sent: no live bars are in flight or left by an earlier session. */
  async idle(): Promise<void> {
    const { outbox, inFlight } = this.#deps
    await outbox.drained
    while (!inFlight.isEmpty) await inFlight.settled()
  }

  /** Sends once the bars are spooled, however many bars are in flight. */
  send(list: readonly PreparedBars[]): void {
    const { outbox, inFlight, log, onForming } = this.#deps
    for (const packed of packBars(list, messageBarsMax)) {
      const { parts, count } = packed
      const answered = outbox.live(packed).then(({ refused }) => {
        recordStored(parts, refused)
        const refusedOf = refusedBySeries(refused)
        parts.forEach((part, position) => noteAccepted(part, refusedOf(position)))
        for (const { series, index, count: bars, reason, message: why } of refused) {
          const part = parts[series]
          if (!part) continue
          const { symbol, resolution } = part.item
          if (reasonOf(reason) === 'NOT_CLOSED')
            onForming(part.item.series, sliceBars(part.bars, index, index + 1))
          else if (reasonOf(reason) === 'IN_THE_FUTURE')
            this.#ahead.write(
              'warn',
              { symbol, resolution, bars, why },
              "bars ahead of the feed's clock rejected by ingest; check spec.clock",
            )
          else log.warn({ symbol, resolution, bars, why }, 'bars rejected by ingest')
        }
      })
      inFlight.add(answered, count)
    }
  }

  /** Like `send`, but waits for capacity within `catchUpBarsMax`. */
  async sendThrottled(list: PreparedBars): Promise<void> {
    const weight = barCount(list.bars)
    await this.#semaphore.enter(weight)
    this.send([list])
    void this.settled()
      .catch(() => undefined)
      .then(() => this.#semaphore.leave(weight))
  }
}

/**
 * Notes the newest accepted bar of a series. Bars that ingest rejected as ahead of its clock do not count as sent. Otherwise
 * all minutes until their time would be corrections, which are not pushed.
 */
function noteAccepted(
  { item: { series }, bars }: { readonly item: PreparedBars; readonly bars: Bars },
  refused: readonly RefusedBar__Output[] | 'whole',
): void {
  if (refused === 'whole') return
  const isRefused = (at: number): boolean =>
    refused.some(({ index, count }) => at >= index && at < index + count)
  let newest = barCount(bars) - 1
  while (newest >= 0 && isRefused(newest)) newest--
  if (newest >= 0) series.acceptedUntil = Math.max(series.acceptedUntil, timeAt(bars, newest))
  if (refused.some(({ reason }) => reasonOf(reason) === 'IN_THE_FUTURE'))
    series.sentUntil = series.acceptedUntil
}
