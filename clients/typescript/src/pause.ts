const [leastMs, mostMs] = [500, 30_000]

/** A random time from 0.5 s up to a limit, which doubles with each failure from 1 to 30 s. */
export const jitterMs = (failures: number): number =>
  leastMs + Math.random() * (Math.min(mostMs, 1_000 * 2 ** failures) - leastMs)

/** Resolves after the time, or when the signal aborts. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
  })
