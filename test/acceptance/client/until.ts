import { setTimeout as pause } from 'node:timers/promises'

/**
 * Calls `probe` every 50 ms until it returns something other than undefined or false, and returns that.
 * Rejects after the deadline, naming `wanted` and the last result or error.
 */
export const until = async <T>(
  wanted: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  deadlineMs = 20_000,
): Promise<T> => {
  const end = Date.now() + deadlineMs
  let last: unknown
  do {
    try {
      const seen = await probe()
      if (seen !== undefined && seen !== false) return seen
      last = seen
    } catch (error) {
      last = error
    }
    await pause(50)
  } while (Date.now() < end)
  throw new Error(`${wanted}: not within ${deadlineMs} ms; last seen: ${String(last)}`)
}
