import { isGuarded, nextCloses, noticeMs } from '../core/drain.ts'
import type { Cancel, Clock } from '../ports/clock.ts'

/** Pause after all sockets were closed; sockets that are closing already cannot be closed again. */
const goneAfterMs = 100

interface DrainedSockets {
  readonly open: number
  /** Closes `count` of them with 1012. */
  close(count: number): void
}

interface Running {
  endsAtMs: number
  refusesAtMs: number
  /** When all remaining sockets were closed; infinite before that. */
  closedAtMs: number
  cancel: Cancel
  readonly done: Promise<void>
  readonly finish: () => void
}

/** Closes the sockets of a shard a few at a time. A drain can be cancelled, unless the process is ending. */
export class Draining {
  readonly #clock: Clock
  readonly #sockets: DrainedSockets
  readonly #onForced: (count: number) => void
  #forced = 0
  #running: Running | undefined
  #isEnding = false

  /** `onForced` receives how many sockets were closed in the guard seconds, because the drain ended there. */
  constructor(clock: Clock, sockets: DrainedSockets, onForced: (count: number) => void) {
    this.#clock = clock
    this.#sockets = sockets
    this.#onForced = onForced
  }

  /** Stays true when no socket is left, until the drain is cancelled. */
  get isOn(): boolean {
    return this.#running !== undefined
  }

  get refusesNewcomers(): boolean {
    return this.#running !== undefined && this.#clock.monotonicMs() >= this.#running.refusesAtMs
  }

  /** Sockets closed in the guard seconds by all drains. */
  get forced(): number {
    return this.#forced
  }

  /** Milliseconds until the end of the drain; 0 after the end, or without a drain. */
  get leftMs(): number {
    return this.#running ? Math.max(0, this.#running.endsAtMs - this.#clock.monotonicMs()) : 0
  }

  /**
   * Closes all sockets within this many milliseconds; 0 closes them immediately. Resolves when none is left, or
   * when the drain is cancelled. Of two calls the earlier end applies.
   */
  start(withinMs: number): Promise<void> {
    const now = this.#clock.monotonicMs()
    const ends = { endsAtMs: now + withinMs, refusesAtMs: now + Math.min(noticeMs, withinMs) }
    if (!this.#running) {
      const { promise: done, resolve: finish } = Promise.withResolvers<void>()
      this.#running = { ...ends, closedAtMs: Number.POSITIVE_INFINITY, cancel: () => undefined, done, finish }
    } else if (ends.endsAtMs < this.#running.endsAtMs) {
      this.#running.endsAtMs = ends.endsAtMs
      this.#running.refusesAtMs = Math.min(ends.refusesAtMs, this.#running.refusesAtMs)
    }
    this.#proceed(this.#running)
    return this.#running.done
  }

  /** Like `start`, for a process that is ending: `cancel` cannot cancel it. */
  startForEnd(withinMs: number): Promise<void> {
    this.#isEnding = true
    return this.start(withinMs)
  }

  /** Accepts new sockets again and keeps the open ones. Returns `false` and changes nothing if the process is ending. */
  cancel(): boolean {
    if (this.#isEnding) return false
    this.stop()
    return true
  }

  stop(): void {
    this.#running?.cancel()
    this.#running?.finish()
    this.#running = undefined
  }

  /** Must be called when a connection leaves. */
  left(): void {
    if (this.#running && this.#sockets.open === 0) this.#proceed(this.#running)
  }

  #proceed(running: Running): void {
    running.cancel()
    const now = this.#clock.monotonicMs()
    const { open } = this.#sockets
    const isShort = running.refusesAtMs >= running.endsAtMs
    if (now < running.refusesAtMs && (open === 0 || !isShort)) {
      running.cancel = this.#clock.after(running.refusesAtMs - now, () => this.#proceed(running))
      return
    }
    if (open === 0) return running.finish()
    const { waitMs, count } = nextCloses({ open, utc: this.#clock.utcMs(), leftMs: running.endsAtMs - now })
    running.cancel = this.#clock.after(Math.max(waitMs, now >= running.closedAtMs ? goneAfterMs : 0), () =>
      this.#close(running, count),
    )
  }

  #close(running: Running, due: number): void {
    const isOver = this.#clock.monotonicMs() >= running.endsAtMs
    const guarded = isGuarded(this.#clock.utcMs())
    if (!guarded || isOver) {
      const count = isOver ? this.#sockets.open : due
      if (guarded) {
        this.#forced += count
        this.#onForced(count)
      }
      this.#sockets.close(count)
      if (isOver) running.closedAtMs = this.#clock.monotonicMs()
    }
    this.#proceed(running)
  }
}
