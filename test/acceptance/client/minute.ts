import { ask, rate } from './http.ts'
import { issueKey } from './keys.ts'

let watcher: string | undefined
/** When the running minute of the service ends, in Unix seconds, as its header reports. */
const minuteEnd = async (): Promise<number> => {
  watcher ??= (await issueKey()).key
  return rate(await ask('/v1/status', { key: watcher }), 'X-RateLimit-Reset-Minute')
}

/**
 * Runs `body`, and runs it again if it failed while the minute of the service changed: a burst fills a window
 * only if it stays within one minute. `body` must issue its own key.
 */
export const withinOneMinute = async (body: () => Promise<void>): Promise<void> => {
  const before = await minuteEnd()
  try {
    await body()
  } catch (failure) {
    if ((await minuteEnd()) === before) throw failure
    await body()
  }
}
