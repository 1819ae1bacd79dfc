import type { Span } from '../../core/bars/window.ts'
import { Backoff } from '../../platform/backoff.ts'
import { Semaphore } from '../../platform/semaphore.ts'
import type { CollectedSeries } from '../series/collected-series.ts'
import { NotLoadedYet, type SourceAnswer, SourceFault, sourceReadsMax } from '../source.ts'
import type { CollectionDeps } from './collection-deps.ts'

type SourceReaderDeps = Pick<CollectionDeps, 'source' | 'clock' | 'log' | 'signal'>

/** Reads spans from the source, a few at a time, and retries until it has answered. */
export class SourceReader {
  readonly #deps: SourceReaderDeps
  readonly #semaphore: Semaphore

  constructor(deps: SourceReaderDeps) {
    this.#deps = deps
    this.#semaphore = new Semaphore(sourceReadsMax, deps.signal)
  }

  /**
   * Resolves once the source has answered, the session has ended or the series was removed. `attempted` is
   * called after each failed attempt; the next attempt begins at the start of the span.
   */
  async read(
    series: CollectedSeries,
    span: Span,
    take: (answer: SourceAnswer) => Promise<void>,
    attempted: () => void = () => undefined,
  ): Promise<void> {
    const { source, log, clock, signal } = this.#deps
    const isOver = (): boolean => signal.aborted || series.isGone
    const pauses = new Backoff(clock)
    let lastError = ''
    for (; !isOver(); attempted(), await clock.sleep(pauses.nextMs(), signal)) {
      await this.#semaphore.enter(1)
      series.forgetWaiting(span)
      try {
        for await (const answer of source.read(series, span, signal)) {
          if (isOver()) return
          await take(answer)
        }
        return
      } catch (cause) {
        if (isOver()) return
        const { raw, resolution } = series
        if (cause instanceof NotLoadedYet)
          log.debug({ raw, resolution }, 'history not loaded by the terminal yet; retrying')
        else if (!(cause instanceof SourceFault))
          log.warn({ err: cause, raw, resolution }, 'failed to read the source; retrying')
        else if (cause.message !== lastError)
          log.warn({ raw, resolution, why: cause.message }, 'failed to read the source; retrying')
        lastError = cause instanceof Error ? cause.message : ''
      } finally {
        this.#semaphore.leave(1)
      }
    }
  }
}
