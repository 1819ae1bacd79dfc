import type { Clock } from '../ports/clock.ts'

/** Why something was given up: it took too long. */
export class Late extends Error {}

/**
 * Resolves with the result of `work`, or rejects with `Late` when it takes longer; `giveUp` then frees its
 * resources. After a stall of this process, answers that already arrived are read before the timeout counts:
 * timers run before them.
 */
export function within<T>(
  clock: Clock,
  deadlineMs: number,
  what: string,
  work: Promise<T>,
  giveUp: () => void = () => undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let isHeard = false
    const end = (): void => {
      if (isHeard) return
      reject(new Late(`${what} took longer than ${deadlineMs} ms`))
      giveUp()
    }
    const cancel = clock.after(deadlineMs, () => clock.soon(() => clock.soon(end)))
    work.then(resolve, reject).finally(() => {
      isHeard = true
      cancel()
    })
  })
}
