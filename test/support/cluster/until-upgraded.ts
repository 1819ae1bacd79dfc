import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'

/** 25 s in which shards could take slots again, and a machine that is busy. */
const patienceMs = 90_000

/**
 * Resolves once sockets are let in: to the shards a new Redis is one that lost its slots, so for its first
 * seconds they answer upgrades with 503.
 */
export async function untilUpgraded(httpPort: number, key: string): Promise<void> {
  for (const end = Date.now() + patienceMs; ; await pause(250)) {
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
    if (Date.now() > end) throw new Error(`no socket was let in: ${refusal.message}`)
  }
}
