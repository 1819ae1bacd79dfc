import { mergeBars } from '../../core/bars/revision.ts'
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
  /** Resolves when no live bars are in flight. */
  readonly idle: () => Promise<void>
}

/** The backfill lane of one session: waits while live bars are in flight or ingest has requested a pause. */
export class BackfillSender {
  readonly #deps: BackfillSenderDeps
  readonly #bars: Semaphore
  readonly #messages: Semaphore
  #pausedUntilMs = 0

  constructor(deps: BackfillSenderDeps) {
    this.#deps = deps
    this.#bars = new Semaphore(backfillBarsMax, deps.signal)
    this.#messages = new Semaphore(backfillMessagesMax, deps.signal)
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
      const leave = await this.#enter(batch.count)
      try {
        await this.#clearToSend()
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

  /** Waits for capacity for a message of `count` bars. Returns the function that frees it. */
  async #enter(count: number): Promise<() => void> {
    await this.#messages.enter(1)
    try {
      await this.#bars.enter(count)
    } catch (cause) {
      this.#messages.leave(1)
      throw cause
    }
    return () => {
      this.#bars.leave(count)
      this.#messages.leave(1)
    }
  }

  /** Resolves when no live bars are in flight and no requested pause is running. */
  async #clearToSend(): Promise<void> {
    const { clock, signal, idle } = this.#deps
    await idle()
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
