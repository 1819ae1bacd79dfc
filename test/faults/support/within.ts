import { setTimeout as pause } from 'node:timers/promises'

/** Resolves once it holds; rejects after so long. */
export async function within(
  deadlineMs: number,
  what: string,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  const begun = performance.now()
  while (!(await holds())) {
    if (performance.now() - begun > deadlineMs) throw new Error(`waited ${deadlineMs} ms for ${what}`)
    await pause(50)
  }
}
