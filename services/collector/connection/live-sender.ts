import { type Bars, barCount, timeAt } from '../../core/bars/bar.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { Semaphore } from '../../platform/semaphore.ts'
import type { RefusedBar__Output } from '../../wire/gen/fxd/v1/RefusedBar.ts'
import type { PreparedBars } from '../series/bar-router.ts'
import type { CollectedSeries } from '../series/collected-series.ts'
import { refusedBySeries } from '../series/refused-bars.ts'
import type { Outbox } from './outbox.ts'
import { type Part, packBars } from './pack-bars.ts'
import type { Refusals } from './refusals.ts'
import { reasonOf } from './session-client.ts'
import type { SessionDeps } from './session-deps.ts'
import type { WorkInFlight } from './work-in-flight.ts'

/** Maximum unacknowledged catch-up bars; further bars wait. */
const catchUpBarsMax = 20_000

export interface LiveSenderDeps extends Pick<SessionDeps, 'signal'> {
  readonly outbox: Outbox
  readonly inFlight: WorkInFlight
  readonly refusals: Refusals
  /** Called for a bar that ingest rejected as still forming. */
  readonly onForming: (series: CollectedSeries, bar: Bars) => void
}

/** The live lane of one session: sends bars at once and in order, and tracks those that are not yet stored. */
export class LiveSender {
  readonly #deps: LiveSenderDeps
  readonly #semaphore: Semaphore

  constructor(deps: LiveSenderDeps) {
    this.#deps = deps
    this.#semaphore = new Semaphore(catchUpBarsMax, deps.signal)
  }

  /** Resolves when all bars of the resolution sent so far are stored; rejects when the session ends before. */
  settled(resolution: Resolution): Promise<void> {
    return this.#deps.inFlight.settled(resolution)
  }

  /** Resolves when history of the resolution may be sent: no live bars are in flight or left by an earlier session. */
  async idle(resolution: Resolution): Promise<void> {
    const { outbox, inFlight } = this.#deps
    await outbox.drained
    while (!inFlight.isEmpty(resolution)) await inFlight.settled(resolution)
  }

  /** Sends once the bars are spooled, however many bars are in flight. */
  send(list: readonly PreparedBars[]): void {
    const { outbox, inFlight, refusals, onForming } = this.#deps
    for (const packed of packBars(list)) {
      // The encoded message is not kept until the Ack.
      const { parts, resolution, count } = packed
      const answered = outbox.live(packed).then(({ refused }) => {
        const refusedOf = refusedBySeries(refused)
        parts.forEach((part, position) => noteAccepted(part, refusedOf(position)))
        for (const { series, bar } of refusals.note(parts, refused)) onForming(series, bar)
      })
      inFlight.add(resolution, count, answered)
    }
  }

  async sendThrottled(list: PreparedBars): Promise<void> {
    const weight = barCount(list.bars)
    await this.#semaphore.enter(weight)
    this.send([list])
    void this.settled(list.resolution)
      .catch(() => undefined)
      .then(() => this.#semaphore.leave(weight))
  }
}

/**
 * Notes the newest accepted bar of a series. Bars that ingest rejected as ahead of its clock do not count as sent. Otherwise
 * all minutes until their time would be corrections, which are not pushed.
 */
function noteAccepted(
  { item: { series }, bars }: Part<PreparedBars>,
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
