import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import { clockReadingId, knownOffset, readingOfMeasure } from '../../core/registry/clock-history.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RegistryBody } from '../../ports/registry.ts'
import { type ClockRun, contradicts, followClock, measuredOffset } from './clock-measure.ts'
import type { FeedView } from './feed-registry.ts'
import type { FeedState } from './feed-state.ts'

/** Delay before a failed write is retried, with the next tick after it. */
const retryMs = 10_000

export interface MeasureDeps {
  readonly clock: Clock
  readonly log: Log
}

/** Measures a feed's clock by the ticks of one live session, and stores the result in the clock's history. */
export class MeasuredClock {
  readonly #deps: MeasureDeps
  readonly #state: FeedState
  #run: ClockRun | undefined
  #hasSamples = false
  #isWriting = false
  #notBeforeMs = 0

  constructor(deps: MeasureDeps, state: FeedState) {
    this.#deps = deps
    this.#state = state
  }

  /** A tick of a ClockSample. After the first one, the ticks of heartbeats are ignored. */
  sample(tick: FeedSeconds): void {
    if (!this.#hasSamples) this.#run = undefined
    this.#hasSamples = true
    this.#take(tick)
  }

  heartbeat(tick: FeedSeconds): void {
    if (!this.#hasSamples) this.#take(tick)
  }

  /** Clears the contradicting tick: an ended session could never resolve it. */
  end(): void {
    this.#state.contradictingTick = undefined
  }

  #take(tick: FeedSeconds): void {
    const { view, definition } = this.#state.registry.current()
    if (definition.clock.mode !== 'Measured' || !hasTimelyTicks({ view, definition })) return
    const sample = { utc: this.#deps.clock.utcMs(), tick }
    const before = this.#run
    this.#run = followClock(before, sample)
    if (this.#run === before || this.#run.count === 0) return
    const known = knownOffset(definition, view)
    this.#state.contradictingTick = known !== undefined && contradicts(known, sample) ? tick : undefined
    const measured = measuredOffset(this.#run)
    if (measured !== undefined) this.#store(measured)
  }

  #store(offsetSeconds: number): void {
    const { clock, log } = this.#deps
    const { registry } = this.#state
    const rows = (view: RegistryView): readonly RegistryBody[] => {
      const definition = view.feed(this.#state.key)
      const history = view.clocksOf(this.#state.key)
      const body = definition && readingOfMeasure(definition, history, offsetSeconds, clock.utcMs())
      return body === undefined ? [] : [{ kind: 'clock', id: clockReadingId(body), body }]
    }
    const isDue = !this.#isWriting && clock.monotonicMs() >= this.#notBeforeMs
    if (!isDue || rows(registry.current().view).length === 0) return
    this.#isWriting = true
    registry
      .change((view) => ({ rows: rows(view), result: undefined }))
      .then(() => {
        this.end()
        log.info({ offsetSeconds }, 'feed clock measured')
      })
      .catch((cause: unknown) => {
        this.#notBeforeMs = clock.monotonicMs() + retryMs
        log.warn({ err: cause }, 'failed to store the measured clock; retrying on a later tick')
      })
      .finally(() => {
        this.#isWriting = false
      })
  }
}

/** Whether a symbol has quotes without delay. From delayed quotes only, the clock would seem late by the delay. */
const hasTimelyTicks = ({ view, definition }: FeedView): boolean =>
  view.symbolsOf(definition.key).some(({ delaySeconds }) => delaySeconds === 0)
