import { mayPass } from './error.ts'
import type { Rest } from './rest.ts'
import type { Logger, Usage } from './types.ts'

const slotMs = 5_000

/**
 * Finds out why an upgrade was refused, since a WebSocket hides the status. Returns how long to wait at least,
 * in milliseconds. Throws what does not pass, such as a refused key.
 */
export async function refusal(rest: Rest, logger: Logger, signal: AbortSignal): Promise<number> {
  try {
    const { limits, current } = await rest.get<Usage>('usage', { days: 1 }, signal)
    if (current.ws_connections_in_use < limits.ws_connections) return 0
    logger.warn?.('TOO_MANY_CONNECTIONS: all connections of the key are in use; retrying', {
      limits,
      current,
    })
    return slotMs
  } catch (cause) {
    if (!mayPass(cause)) throw cause
    return (cause.retryAfter ?? 0) * 1_000
  }
}
