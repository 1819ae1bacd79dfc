import type { Clock } from '../ports/clock.ts'

/** Passed on by whoever gave something up because of its time. */
export class Late extends Error {}

/**
 * What `work` gives, or `Late` when it takes longer; `giveUp` then frees what it holds. Answers that already
 * wait while this process stood still are heard first: the timer runs before them.
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
