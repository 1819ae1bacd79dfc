import { utcMs } from '../../../services/core/clocks/feed-clock.ts'
import { type Log, silentLog } from '../../../services/platform/log/log.ts'
import type { Cancel, Clock } from '../../../services/ports/clock.ts'
import type { Chance } from './chance.ts'

/** Virtual time of one run. Everything that happens is an event on it; events run one by one in a fixed order. */
export interface Timeline {
  readonly nowMs: number
  /** Number of events that have run. */
  readonly events: number
  at(delayMs: number, run: () => void): Cancel
  /** Runs all events up to this time. After each event, waits for the promises that it resolved. */
  runUntil(ms: number): Promise<void>
}

interface Event {
  readonly at: number
  readonly order: number
  run: (() => void) | undefined
}

const isBefore = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.order < b.order)

/** Resolves on the next turn of Node's event loop: after all pending promises and ticks. */
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

export function createTimeline(): Timeline {
  const heap: Event[] = []
  let nowMs = 0
  let orders = 0
  let events = 0

  const push = (event: Event): void => {
    let i = heap.push(event) - 1
    while (i > 0) {
      const parent = (i - 1) >> 1
      if (!isBefore(event, heap[parent] as Event)) break
      heap[i] = heap[parent] as Event
      i = parent
    }
    heap[i] = event
  }
  const pop = (): Event | undefined => {
    const first = heap[0]
    const last = heap.pop()
    if (!first || !last || heap.length === 0) return first
    let i = 0
    for (;;) {
      let child = 2 * i + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child++
      if (!isBefore(heap[child] as Event, last)) break
      heap[i] = heap[child] as Event
      i = child
    }
    heap[i] = last
    return first
  }

  return {
    get nowMs() {
      return nowMs
    },
    get events() {
      return events
    },
    at(delayMs, run) {
      const event: Event = { at: nowMs + Math.max(0, delayMs), order: orders++, run }
      push(event)
      return () => {
        event.run = undefined
      }
    },
    async runUntil(ms) {
      await settled()
      while (heap[0] && heap[0].at <= ms) {
        const event = pop() as Event
        if (!event.run) continue
        nowMs = event.at
        events += 1
        event.run()
        await settled()
      }
      nowMs = ms
    },
  }
}

/** One process, from its start to its end. After its end no timer of it fires and no answer reaches it. */
export interface SimProcess {
  readonly name: string
  readonly alive: boolean
  readonly clock: Clock
  readonly log: Log
  /** Ends the process as `kill -9` does. */
  end(): void
}

export function createProcess(
  name: string,
  timeline: Timeline,
  chance: Chance,
  startUtcMs: number,
  log: Log = silentLog,
): SimProcess {
  let alive = true
  const at = (delayMs: number, run: () => void): Cancel => timeline.at(delayMs, () => alive && run())
  const clock: Clock = {
    utcMs: () => utcMs(startUtcMs + Math.floor(timeline.nowMs)),
    monotonicMs: () => timeline.nowMs,
    after: at,
    every(periodMs, run) {
      let cancel: Cancel = () => undefined
      const arm = (): void => {
        cancel = at(Math.max(1, periodMs), () => {
          arm()
          run()
        })
      }
      arm()
      return () => cancel()
    },
    soon: (run) => void at(0, run),
    sleep: (delayMs, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const cancel = at(delayMs, resolve)
        signal?.addEventListener('abort', () => {
          cancel()
          resolve()
        })
      }),
    random: () => chance.next(),
    randomHex(bytes) {
      let hex = ''
      while (hex.length < bytes * 2) hex += chance.int(256).toString(16).padStart(2, '0')
      return hex
    },
  }
  return {
    name,
    clock,
    log: log.child({ of: name }),
    get alive() {
      return alive
    },
    end: () => {
      alive = false
    },
  }
}
