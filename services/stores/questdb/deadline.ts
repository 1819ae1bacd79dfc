import type { Clock } from '../../ports/clock.ts'

/** Passed on by whoever gave something up because of its time. */
class Late extends Error {}

/** What `work` gives, or `Late` when it takes longer; `giveUp` then frees what it holds. */
export function within<T>(
  clock: Clock,
  deadlineMs: number,
  what: string,
  work: Promise<T>,
  giveUp: () => void = () => undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(deadlineMs, () => {
      reject(new Late(`${what} took longer than ${deadlineMs} ms`))
      giveUp()
    })
    work.then(resolve, reject).finally(cancel)
  })
}
