import type { Clock } from '../ports/clock.ts'

export class Late extends Error {}

/**
 * Resolves with the result of `work`, or rejects with `Late` when it takes longer; `giveUp` then frees its
 * resources. `what` is the subject of the error. After a stall of this process, timers run before the answers
 * that already arrived. So the timeout waits two more turns of the event loop for these answers.
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
