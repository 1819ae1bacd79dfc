import { setTimeout as pause } from 'node:timers/promises'

/** Resolves once `isTrue` returns true; rejects after `deadlineMs`, naming `what`. */
export async function within(
  deadlineMs: number,
  what: string,
  isTrue: () => boolean | Promise<boolean>,
): Promise<void> {
  const begun = performance.now()
  while (!(await isTrue())) {
    if (performance.now() - begun > deadlineMs) throw new Error(`waited ${deadlineMs} ms for ${what}`)
    await pause(50)
  }
}
