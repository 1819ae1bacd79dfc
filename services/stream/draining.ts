import { isGuarded, nextCloses, noticeMs } from '../core/drain.ts'
import type { Cancel, Clock } from '../ports/clock.ts'

/** Some are on their way out already and cannot be closed once more. */
const goneAfterMs = 100

export interface DrainedSockets {
  readonly open: number
  /** Closes so many of them with 1012. */
  close(count: number): void
}

interface Running {
  endsAtMs: number
  refusesAtMs: number
  /** When all that were left were closed. */
  closedAtMs: number
  cancel: Cancel
  readonly done: Promise<void>
  readonly finish: () => void
}

/** Empties a shard a few sockets at a time. A drain may be cancelled, but not that of a process that ends. */
export class Draining {
  readonly #clock: Clock
  readonly #sockets: DrainedSockets
  readonly #onForced: (count: number) => void
  #forced = 0
  #running: Running | undefined
  #isLast = false

  /** `onForced` is told how many were closed in the guard, because no other time was left. */
  constructor(clock: Clock, sockets: DrainedSockets, onForced: (count: number) => void) {
    this.#clock = clock
    this.#sockets = sockets
    this.#onForced = onForced
  }

  /** Also once it is empty: until it is called off. */
  get isOn(): boolean {
    return this.#running !== undefined
  }

  get refusesNewcomers(): boolean {
    return this.#running !== undefined && this.#clock.monotonicMs() >= this.#running.refusesAtMs
  }

  /** Closed in the guard, over all drains. */
  get forced(): number {
    return this.#forced
  }

  /** 0 when the time is over, or there is no drain. */
  get leftMs(): number {
    return this.#running ? Math.max(0, this.#running.endsAtMs - this.#clock.monotonicMs()) : 0
  }

  /**
   * Closes all sockets within so many milliseconds, all at once for 0; resolves when none is left or it
   * is called off. Of two calls the earlier end counts, so that a repeat changes nothing.
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

  /** The same for a process that ends: `callOff` cannot cancel it. */
  startLast(withinMs: number): Promise<void> {
    this.#isLast = true
    return this.start(withinMs)
  }

  /** Accepts new sockets again and keeps the open ones. Gives `false` when the process ends: then nothing changes. */
  callOff(): boolean {
    if (this.#isLast) return false
    this.stop()
    return true
  }

  stop(): void {
    this.#running?.cancel()
    this.#running?.finish()
    this.#running = undefined
  }

  /** A socket has gone by itself. */
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
    const { waitMs, count } = nextCloses({
      open,
      utc: this.#clock.utcMs(),
      leftMs: running.endsAtMs - now,
    })
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
