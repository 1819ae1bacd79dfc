import { ask, rate } from './http.ts'
import { issueKey } from './keys.ts'

let watcher: string | undefined
/** When the service's running minute ends, by its own word. */
const minuteEnd = async (): Promise<number> => {
  watcher ??= (await issueKey()).key
  return rate(await ask('/v1/status', { key: watcher }), 'X-RateLimit-Reset-Minute')
}

/**
 * A burst fills a window only when it stays inside one. Runs `body`, which makes its own key, again
 * when it failed and the service's minute turned meanwhile.
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
