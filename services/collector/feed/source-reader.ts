import type { Span } from '../../core/bars/window.ts'
import { Backoff } from '../../platform/backoff.ts'
import type { Log } from '../../platform/log/log.ts'
import { Semaphore } from '../../platform/semaphore.ts'
import type { Clock } from '../../ports/clock.ts'
import type { CollectedSeries } from '../series/collected-series.ts'
import {
  NotLoadedYet,
  type Source,
  type SourceAnswer,
  SourceFault,
  sourceReadsMax,
} from '../sources/source.ts'

export interface SourceReaderDeps {
  readonly source: Source
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
  readonly isOver: () => boolean
}

/** Asks the source for spans, a few at a time, again and again until it has answered. */
export class SourceReader {
  readonly #deps: SourceReaderDeps
  readonly #semaphore: Semaphore

  constructor(deps: SourceReaderDeps) {
    this.#deps = deps
    this.#semaphore = new Semaphore(sourceReadsMax, deps.signal)
  }

  /**
   * Resolves once the source has answered, or the session is over or the series gone. `attempted` is called after every
   * attempt that failed; the next one begins at the start of the span.
   */
  async read(
    series: CollectedSeries,
    span: Span,
    take: (answer: SourceAnswer) => Promise<void>,
    attempted: () => void = () => undefined,
  ): Promise<void> {
    const { source, log, clock, signal } = this.#deps
    const isOver = (): boolean => this.#deps.isOver() || series.isGone
    const pauses = new Backoff(clock)
    let lastError = ''
    for (; !isOver(); attempted(), await clock.sleep(pauses.nextMs(), signal)) {
      await this.#semaphore.enter(1)
      if (series.phase === 'queued') series.phase = 'reading'
      try {
        for await (const answer of source.read(series, span, signal)) {
          if (isOver()) return
          await take(answer)
        }
        return
      } catch (cause) {
        if (isOver()) return
        const { raw, resolution } = series
        if (cause instanceof NotLoadedYet) log.debug({ raw, resolution }, 'not loaded yet')
        else if (!(cause instanceof SourceFault))
          log.warn({ err: cause, raw, resolution }, 'the source could not be read; it is asked again')
        else if (cause.message !== lastError)
          log.warn({ raw, resolution }, `${cause.message}; it is read again`)
        lastError = cause instanceof Error ? cause.message : ''
      } finally {
        this.#semaphore.leave(1)
      }
    }
  }
}
