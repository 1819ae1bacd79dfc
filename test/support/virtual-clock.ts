import { createHash } from 'node:crypto'
import { utcMs } from '../../services/core/feed-clock.ts'
import type { Cancel, Clock } from '../../services/ports/clock.ts'

export interface VirtualClock extends Clock {
  /** Moves time on, running every timer that falls due in its order, with real I/O turns between them. */
  advance(ms: number): Promise<void>
  /** Time goes by while the process stands still: what fell due runs late, at the next `advance`. */
  standStill(ms: number): void
  /** Timers now armed. */
  readonly pending: number
}

interface Timer {
  readonly id: number
  at: number
  readonly everyMs: number | undefined
  readonly run: () => void
}

const ioTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** A clock that stands still until a test advances it; randomness comes from the seed. */
export function createVirtualClock(options: { start?: number; seed?: number } = {}): VirtualClock {
  const start = options.start ?? Date.UTC(2026, 0, 5, 12)
  let elapsed = 0
  let nextId = 1
  let draws = 0
  const timers = new Map<number, Timer>()
  const draw = (): Buffer =>
    createHash('sha256')
      .update(`${options.seed ?? 1}:${draws++}`)
      .digest()

  const arm = (delayMs: number, everyMs: number | undefined, run: () => void): Cancel => {
    const id = nextId++
    timers.set(id, { id, at: elapsed + Math.max(0, delayMs), everyMs, run })
    return () => void timers.delete(id)
  }
  const due = (until: number): Timer | undefined => {
    let first: Timer | undefined
    for (const timer of timers.values()) {
      if (
        timer.at <= until &&
        (!first || timer.at < first.at || (timer.at === first.at && timer.id < first.id))
      )
        first = timer
    }
    return first
  }

  return {
    utcMs: () => utcMs(start + Math.floor(elapsed)),
    monotonicMs: () => elapsed,
    after: (delayMs, run) => arm(delayMs, undefined, run),
    every: (periodMs, run) => arm(periodMs, Math.max(1, periodMs), run),
    soon: (run) => void setImmediate(run),
    sleep: (delayMs, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const cancel = arm(delayMs, undefined, resolve)
        signal?.addEventListener('abort', () => {
          cancel()
          resolve()
        })
      }),
    random: () => draw().readUInt32BE(0) / 2 ** 32,
    randomHex(bytes) {
      let hex = ''
      while (hex.length < bytes * 2) hex += draw().toString('hex')
      return hex.slice(0, bytes * 2)
    },
    async advance(ms) {
      const until = elapsed + ms
      await ioTurn()
      for (let timer = due(until); timer; timer = due(until)) {
        elapsed = Math.max(elapsed, timer.at)
        if (timer.everyMs === undefined) timers.delete(timer.id)
        else timer.at = elapsed + timer.everyMs
        timer.run()
        await ioTurn()
      }
      elapsed = until
      await ioTurn()
    },
    standStill(ms) {
      elapsed += ms
    },
    get pending() {
      return timers.size
    },
  }
}
