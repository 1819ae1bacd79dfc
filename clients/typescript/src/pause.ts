const [firstMs, mostMs] = [500, 30_000]

/** Full jitter: a random time up to a bound, which doubles with each failure from 0.5 to 30 s. */
export const jitterMs = (failures: number): number =>
  Math.random() * Math.min(mostMs, firstMs * 2 ** failures)

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
