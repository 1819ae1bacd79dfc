import { mergeBars } from '../../core/bars/revision.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { Semaphore } from '../../platform/semaphore.ts'
import type { PreparedBars } from '../series/prepared-bars.ts'
import type { Kept } from '../spool/spool.ts'
import { backfillMessagesMax, type Outbox } from './outbox.ts'
import { messageBarsMax, type Packed, packBars } from './pack-bars.ts'
import type { Refusals } from './refusals.ts'
import type { SessionDeps } from './session-deps.ts'

/** Maximum unacknowledged bars of the backfill lane; ingest may process them before a live bar, in a few milliseconds. */
const backfillBarsMax = 4_000

export interface BackfillSenderDeps extends Pick<SessionDeps, 'client' | 'clock' | 'signal'> {
  readonly outbox: Outbox
  readonly refusals: Refusals
  /** Resolves when no live bars of the resolution are in flight. */
  readonly idle: (resolution: Resolution) => Promise<void>
}

/** The backfill lane of one session: waits while live bars of its resolution are in flight or ingest has requested a pause. */
export class BackfillSender {
  readonly #deps: BackfillSenderDeps
  readonly #capacity: Semaphore
  #pausedUntilMs = 0

  constructor(deps: BackfillSenderDeps) {
    this.#deps = deps
    this.#capacity = new Semaphore(backfillBarsMax, deps.signal)
    deps.client.onSlow = (pauseMs) => {
      this.#pausedUntilMs = deps.clock.monotonicMs() + pauseMs
    }
  }

  /** Resolves once all bars were sent; the inner promises resolve when they are stored. */
  send(list: readonly PreparedBars[]): Promise<Promise<void>[]> {
    return this.#send(packBars(list, messageBarsMax))
  }

  async #send(
    batches: Iterable<Packed<PreparedBars> & { readonly kept?: Kept | undefined }>,
  ): Promise<Promise<void>[]> {
    const { outbox, refusals } = this.#deps
    const answers: Promise<void>[] = []
    for (const batch of batches) {
      // A small message counts as more bars, so that the number of messages is bounded, too.
      const weight = Math.max(batch.count, backfillBarsMax / backfillMessagesMax)
      const leave = (): void => this.#capacity.leave(weight)
      await this.#capacity.enter(weight)
      try {
        await this.#clearToSend(batch.resolution)
      } catch (cause) {
        leave()
        throw cause
      }
      const answer = outbox
        .backfill(batch, batch.kept)
        .finally(leave)
        .then(({ refused }) => {
          for (const { series, bar } of refusals.note(batch, refused))
            series.unclosed = mergeBars(series.unclosed, bar)
        })
      answer.catch(() => undefined)
      answers.push(answer)
    }
    return answers
  }

  /** Resolves when no live bars of the resolution are in flight and no requested pause is running. */
  async #clearToSend(resolution: Resolution): Promise<void> {
    const { clock, signal, idle } = this.#deps
    await idle(resolution)
    const pauseMs = this.#pausedUntilMs - clock.monotonicMs()
    if (pauseMs > 0) await clock.sleep(pauseMs, signal)
  }

  /** Sends corrections when they happen, after spooling them. Resolves once all are stored. */
  async store(list: readonly PreparedBars[]): Promise<void> {
    const { outbox } = this.#deps
    const batches = [...packBars(list, messageBarsMax)].map((batch) => ({
      ...batch,
      kept: outbox.keep(batch),
    }))
    await Promise.all(await this.#send(batches))
  }
}
