import type { Cancel, Clock } from '../../ports/clock.ts'
import type { Log } from '../log/log.ts'
import { exitCodes } from './exit.ts'

/** Maximum time for the stop of one part; then the process continues without it. */
export const stopTimeoutMs = 5_000

export interface Part<T> {
  readonly name: string
  readonly start: () => T | Promise<T>
  readonly stop: (started: T) => unknown
  readonly stopTimeoutMs?: number
}

export interface Lifecycle {
  /** Starts one part; when it fails, earlier parts are stopped again and the failure is passed on. */
  start<T>(part: Part<T>): Promise<T>
  /** Stops every part in the reverse order of their start, each within its time. May be called twice. */
  stop(): Promise<void>
}

export function createLifecycle(clock: Clock, log: Log): Lifecycle {
  const parts: { name: string; timeoutMs: number; stop: () => unknown }[] = []
  let stopping: Promise<void> | undefined

  const stopAll = async (): Promise<void> => {
    for (let part = parts.pop(); part; part = parts.pop()) {
      const { name, timeoutMs, stop } = part
      const begun = clock.monotonicMs()
      const done = new AbortController()
      // `sleep` keeps the process alive, as timers with a callback do not: all parts are stopped before the process ends.
      const late = clock.sleep(timeoutMs, done.signal).then(() => 'late' as const)
      const stopped = (async () => stop())().then(
        () => 'stopped' as const,
        (cause: unknown) => {
          log.warn({ err: cause, part: name }, 'a part failed to stop; continuing')
          return 'failed' as const
        },
      )
      const outcome = await Promise.race([stopped, late])
      done.abort()
      if (outcome === 'late') log.warn({ part: name, timeoutMs }, 'stopping a part timed out; continuing')
      else log.debug({ part: name, outcome, ms: Math.round(clock.monotonicMs() - begun) }, 'stopped a part')
    }
  }
  const stop = (): Promise<void> => (stopping ??= stopAll())

  return {
    async start(part) {
      try {
        if (stopping) throw new Error(`${part.name} is not started: the process is ending`)
        const started = await part.start()
        if (stopping) {
          await part.stop(started)
          throw new Error(`${part.name} is stopped again: the process is ending`)
        }
        parts.push({
          name: part.name,
          timeoutMs: part.stopTimeoutMs ?? stopTimeoutMs,
          stop: () => part.stop(started),
        })
        return started
      } catch (cause) {
        await stop()
        throw cause
      }
    },
    stop,
  }
}

const endingSignals = { SIGINT: 2, SIGTERM: 15 } as const

export interface SignalSource {
  on(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP', listen: () => void): unknown
  exit(code: number): void
  kill(): void
}

/** Maximum milliseconds from the signal to the end, the drain not counted; then the process is killed. */
export const endTimeoutMs = 20_000

/** A wrapper such as npm passes Ctrl-C of the terminal on, so that one press arrives twice. */
const samePressMs = 500

interface SignalActions {
  readonly stop: () => Promise<void>
  /** How long `stop` drains, unless `skipDrain` is called; absent: it does not drain. */
  readonly drainMs?: number
  /** Makes a stop under way skip its drain; absent: a stop never drains. */
  readonly skipDrain?: () => void
  readonly reload?: () => void
}

/** SIGTERM drains; Ctrl-C or a second signal skips the drain, one more exits. A process that does not end in time is killed. */
export function runUntilSignal(actions: SignalActions, source: SignalSource, clock: Clock): Promise<number> {
  return new Promise((resolve, reject) => {
    let endingSince: number | undefined
    let isDrainSkipped = actions.skipDrain === undefined
    let cancelDeadline: Cancel = () => undefined
    const setDeadline = (drainMs: number): void => {
      cancelDeadline()
      cancelDeadline = clock.after(drainMs + endTimeoutMs, () => source.kill())
    }
    const skipDrain = (): void => {
      isDrainSkipped = true
      setDeadline(0)
      actions.skipDrain?.()
    }
    for (const [signal, number] of Object.entries(endingSignals)) {
      source.on(signal as keyof typeof endingSignals, () => {
        const now = clock.monotonicMs()
        if (endingSince === undefined) {
          endingSince = now
          setDeadline(actions.drainMs ?? 0)
          if (signal === 'SIGINT') skipDrain()
          actions.stop().then(() => resolve(exitCodes.ok), reject)
        } else if (now - endingSince >= samePressMs) {
          endingSince = now
          if (isDrainSkipped) source.exit(128 + number)
          else skipDrain()
        }
      })
    }
    if (actions.reload) source.on('SIGHUP', actions.reload)
  })
}
