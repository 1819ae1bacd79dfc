import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../ports/clock.ts'

/** Interval at which files are read; a replaced file is used after at most this. */
export const reloadMs = 10_000

/** A value of files that may be replaced while the process runs. */
export interface Watched<T> {
  readonly value: T
  onChange(listener: (value: T) => void): void
  close(): void
}

/** Reads the value now, and periodically from then on. Throws only if the first reading fails. */
export function watch<T>(
  read: () => T,
  clock: Clock,
  { replaced, failed }: { readonly replaced: () => void; readonly failed: (cause: unknown) => void },
): Watched<T> {
  let value = read()
  const listeners: ((value: T) => void)[] = []
  const close = clock.every(reloadMs, () => {
    try {
      const now = read()
      if (isDeepStrictEqual(now, value)) return
      value = now
      replaced()
      for (const listen of listeners) listen(now)
    } catch (cause) {
      failed(cause)
    }
  })
  return {
    get value() {
      return value
    },
    onChange: (listener) => void listeners.push(listener),
    close,
  }
}
