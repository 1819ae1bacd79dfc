import { mergeBars } from '../../core/bars/revision.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import type { PreparedBars } from '../series/bar-router.ts'
import type { Kept } from '../spool/spool.ts'
import type { Outbox } from './outbox.ts'
import { type Packed, packBars } from './pack-bars.ts'
import type { Refusals } from './refusals.ts'
import type { Answer } from './session-client.ts'
import type { SessionDeps } from './session-deps.ts'

export interface BackfillSenderDeps extends Pick<SessionDeps, 'client' | 'clock' | 'signal'> {
  readonly outbox: Outbox
  readonly refusals: Refusals
  /** Resolves when no live bars of the resolution are in flight. */
  readonly idle: (resolution: Resolution) => Promise<void>
}

/** The backfill lane of one session: waits while live bars of its resolution are in flight or ingest has requested a pause. */
export class BackfillSender {
  readonly #deps: BackfillSenderDeps
  #pausedUntilMs = 0

  constructor(deps: BackfillSenderDeps) {
    this.#deps = deps
    deps.client.onSlow = (pauseMs) => {
      this.#pausedUntilMs = deps.clock.monotonicMs() + pauseMs
    }
  }

  /** Resolves once all bars were sent; the inner promises resolve when they are stored. */
  send(list: readonly PreparedBars[], answered?: (answer: Answer) => void): Promise<Promise<void>[]> {
    return this.#send(packBars(list), answered)
  }

  async #send(
    batches: Iterable<Packed<PreparedBars> & { readonly kept?: Kept | undefined }>,
    answered?: (answer: Answer) => void,
  ): Promise<Promise<void>[]> {
    const { outbox, refusals } = this.#deps
    const answers: Promise<void>[] = []
    for (const batch of batches) {
      const { resolution, count } = batch
      const leave = await outbox.room.enter(resolution, count, () => this.#clearToSend(resolution))
      const answer = outbox
        .backfill(batch, batch.kept)
        .finally(leave)
        .then((given) => {
          answered?.(given)
          for (const { series, bar } of refusals.note(batch.parts, given.refused))
            series.unclosed = mergeBars(series.unclosed, bar)
        })
      answer.catch(() => undefined)
      answers.push(answer)
    }
    return answers
  }

  async #clearToSend(resolution: Resolution): Promise<void> {
    const { clock, signal, idle } = this.#deps
    await idle(resolution)
    const pauseMs = this.#pausedUntilMs - clock.monotonicMs()
    if (pauseMs > 0) await clock.sleep(pauseMs, signal)
  }

  /** Sends corrections when they happen, after spooling them. Resolves once all are stored. */
  async store(list: readonly PreparedBars[]): Promise<void> {
    const { outbox } = this.#deps
    const batches = [...packBars(list)].map((batch) => ({ ...batch, kept: outbox.keep(batch) }))
    await Promise.all(await this.#send(batches))
  }
}
