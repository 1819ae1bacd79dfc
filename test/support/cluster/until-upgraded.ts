import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'

/** Maximum wait: the 25 s in which shards may take their slots again, and time for a busy machine. */
const upgradeTimeoutMs = 90_000

/**
 * Resolves once an upgrade is accepted. Shards treat a new Redis like one that lost its slots, so they first answer
 * upgrades with 503.
 */
export async function untilUpgraded(httpPort: number, key: string): Promise<void> {
  for (const end = Date.now() + upgradeTimeoutMs; ; await pause(250)) {
    const socket = new WebSocket(`ws://127.0.0.1:${httpPort}/v1/stream?api_key=${key}`)
    const refusal = await once(socket, 'open').then(
      () => undefined,
      (cause: Error) => cause,
    )
    if (refusal === undefined) {
      const closed = once(socket, 'close')
      socket.close()
      await closed
      return
    }
    if (Date.now() > end) throw new Error(`no upgrade was accepted: ${refusal.message}`)
  }
}
