import { clockStepSecondsMax, type FeedSeconds, feedNow, feedSeconds } from '../../core/clocks/feed-clock.ts'
import { knownOffset } from '../../core/registry/clock-history.ts'
import type { ClockSample__Output } from '../../wire/gen/fxd/v1/ClockSample.ts'
import type { Heartbeat__Output } from '../../wire/gen/fxd/v1/Heartbeat.ts'
import type { IngestMetrics } from '../metrics.ts'
import type { FeedState } from './feed-state.ts'
import { type MeasureDeps, MeasuredClock } from './measured-clock.ts'
import { PinnedTerminal } from './pinned-terminal.ts'

export interface LivenessDeps extends MeasureDeps {
  readonly metrics: IngestMetrics
}

/** Processes the heartbeats and clock samples of one live session. */
export class Liveness {
  readonly #deps: LivenessDeps
  readonly #state: FeedState
  readonly #measured: MeasuredClock
  readonly #terminal: PinnedTerminal
  #isConnected = false

  constructor(deps: LivenessDeps, state: FeedState) {
    this.#deps = deps
    this.#state = state
    this.#measured = new MeasuredClock(deps, state)
    this.#terminal = new PinnedTerminal(deps, state)
  }

  /** Reports liveness while the terminal is connected, for feeds whose liveness is the heartbeat. */
  heartbeat(heartbeat: Heartbeat__Output): void {
    const { terminalConnected, newestTick } = heartbeat
    this.#deps.metrics.collector(this.#state.key, heartbeat)
    this.#noteSaid(heartbeat)
    const tick = timeOf(newestTick)
    if (tick !== undefined) {
      this.#measured.heartbeat(tick)
      this.#tick(tick)
    }
    this.#isConnected = terminalConnected
    this.#noteHeartbeat()
    this.#terminal.heartbeat(heartbeat.terminalIdentity)
  }

  #noteSaid(heartbeat: Heartbeat__Output): void {
    if (heartbeat.readjustmentsHeld && !this.#state.said?.readjustmentsHeld)
      this.#deps.metrics.alarm('readjusted')
    this.#state.said = heartbeat
  }

  /** Call it while ingest does not read the session: the connection's keepalive then counts as heartbeat and as bar. */
  unread(): void {
    this.#noteHeartbeat()
    if (this.#state.receivedAt !== undefined) this.#state.note({ receivedAt: this.#deps.clock.utcMs() })
  }

  #noteHeartbeat(): void {
    if (this.#isConnected && this.#state.registry.current().definition.liveness === 'heartbeat')
      this.#state.note({ heartbeatAt: this.#deps.clock.utcMs() })
  }

  clockSample({ newestTick }: ClockSample__Output): void {
    const tick = timeOf(newestTick)
    if (tick === undefined) return
    this.#measured.sample(tick)
    this.#tick(tick)
  }

  end(): void {
    this.#deps.metrics.collector(this.#state.key, undefined)
    this.#state.said = undefined
    this.#measured.end()
  }

  /**
   * A tick from the future would close bars that are still forming. So a known clock limits it; a measured clock
   * may have been put forward meanwhile and allows `clockStepSecondsMax` more.
   */
  #tick(newest: FeedSeconds): void {
    const { view, definition } = this.#state.registry.current()
    const now = feedNow(this.#deps.clock.utcMs(), knownOffset(definition, view), undefined)
    const ahead = definition.clock.mode === 'Measured' ? clockStepSecondsMax : 0
    const newestTick = now === undefined ? newest : feedSeconds(Math.min(newest, now + ahead))
    this.#state.tick(newestTick)
    this.#state.note({ newestTick })
  }
}

const timeOf = (tick: number | undefined): FeedSeconds | undefined =>
  tick !== undefined && Number.isSafeInteger(tick) && tick > 0 ? feedSeconds(tick) : undefined
