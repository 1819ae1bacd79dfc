import { Fatal } from '../platform/exit.ts'
import type { Log } from '../platform/log/log.ts'

/** Reads manifests again, one time after the other; when they are invalid it says so and the old ones stay. */
export function createReload(path: string, apply: () => Promise<unknown>, log: Log): () => Promise<void> {
  const reload = async (): Promise<void> => {
    try {
      await apply()
      log.info({ feeds: path }, 'the Feed manifests were read again')
    } catch (cause) {
      const reason = cause instanceof Fatal ? cause.message : cause
      log.error({ err: reason }, 'the Feed manifests were not applied; the old ones stay')
    }
  }
  let reloading: Promise<void> = Promise.resolve()
  return () => {
    // One after another, so that the files as they were last are what stays.
    reloading = reloading.then(reload)
    return reloading
  }
}
