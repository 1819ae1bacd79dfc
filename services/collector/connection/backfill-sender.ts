import type { Log } from '../../platform/log/log.ts'
import { Semaphore } from '../../platform/semaphore.ts'
import type { Clock } from '../../ports/clock.ts'
import { recordStored } from '../series/holes.ts'
import type { PreparedBars } from '../series/prepared-bars.ts'
import type { Kept } from '../spool/spool.ts'
import type { Outbox } from './outbox.ts'
import { type Packed, packBars } from './pack-bars.ts'
import type { Answer, SessionClient } from './session-client.ts'

/** Bars of the backfill lane sent and not yet acknowledged: what ingest may have to work off before a live bar, a few milliseconds' worth. */
const backfillBarsMax = 4_000
/** In small messages, so that ingest turns to a live one soon. */
const messageBarsMax = 1_000
/** Messages of the backfill lane likewise: below what ingest holds before it asks for a pause, or reads no more. */
export const backfillMessagesMax = 8

export interface BackfillSenderDeps {
  readonly client: SessionClient
  readonly outbox: Outbox
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
  /** Resolves when nothing live is under way. */
  readonly idle: () => Promise<void>
}

/** The backfill lane of one session: yields to the live lane, and to ingest where it asks for a pause. */
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

  /** Resolves once all of it was sent, with what will be known when it is stored. */
  send(list: readonly PreparedBars[]): Promise<Promise<void>[]> {
    return this.#send(packBars(list, messageBarsMax))
  }

  async #send(
    batches: Iterable<Packed<PreparedBars> & { readonly kept?: Kept | undefined }>,
  ): Promise<Promise<void>[]> {
    const { outbox } = this.#deps
    const answers: Promise<void>[] = []
    // Else sessions that all end soon would fill the spool with history, and live bars would leave it.
    await outbox.drained
    for (const batch of batches) {
      const { parts, count, kept } = batch
      const leave = await this.#enter(count)
      try {
        await this.#clearToSend()
      } catch (cause) {
        leave()
        throw cause
      }
      const answer = outbox
        .backfill(batch, kept)
        .finally(leave)
        .then((answered) => {
          recordStored(parts, answered.refused)
          this.#logRefused(parts[0]?.item, answered)
        })
      answer.catch(() => undefined)
      answers.push(answer)
    }
    return answers
  }

  /** Resolves when there is room for a message of so many bars, with what leaves it. */
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

  /** Nothing live is under way, and ingest asks for no pause. */
  async #clearToSend(): Promise<void> {
    const { clock, signal, idle } = this.#deps
    await idle()
    const pauseMs = this.#pausedUntilMs - clock.monotonicMs()
    if (pauseMs > 0) await clock.sleep(pauseMs, signal)
  }

  /** Corrections as they happen: kept first. Resolves once all of it is stored. */
  async store(list: readonly PreparedBars[]): Promise<void> {
    const { outbox } = this.#deps
    const batches = [...packBars(list, messageBarsMax)].map((batch) => ({
      ...batch,
      kept: outbox.keep(batch),
    }))
    await Promise.all(await this.#send(batches))
  }

  #logRefused(item: PreparedBars | undefined, { refused }: Answer): void {
    const first = refused[0]
    if (!first) return
    const bars = refused.reduce((sum, { count }) => sum + count, 0)
    const { symbol, resolution } = item ?? {}
    this.#deps.log.warn({ symbol, resolution, bars, why: first.message }, 'bars were refused')
  }
}
