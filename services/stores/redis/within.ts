import type { Clock } from '../../ports/clock.ts'

/** Passed on by whoever gave something up because of its time. */
export class Late extends Error {}

/**
 * What `work` gives, or `Late` when it takes longer. Answers that already wait while this process stood
 * still are heard first: the timer runs before them.
 */
export function within<T>(clock: Clock, deadlineMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(new Late(`no answer within ${deadlineMs} ms`))
    const cancel = clock.after(deadlineMs, () => clock.soon(() => clock.soon(giveUp)))
    work.then(resolve, reject).finally(cancel)
  })
}
