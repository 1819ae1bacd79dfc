import { handleLimit } from '../platform/handle-watch.ts'
import { opsConnectionsMax } from '../platform/health.ts'
import type { ProcessContext } from '../platform/process-context.ts'

/** Files, stores, collectors and threads of one process; generous. */
const otherHandles = 500

/** Warns when this process may not open as many handles as its ports take connections. */
export function warnOfFewHandles({ log }: Pick<ProcessContext, 'log'>, connectionsMax: number): void {
  const limit = handleLimit()
  const needed = connectionsMax + opsConnectionsMax + otherHandles
  if (limit >= needed) return
  log.warn(
    { limit, needed },
    'low limit of file handles: connections will be closed before the ports reach their maxima; raise it (ulimit -n)',
  )
}
