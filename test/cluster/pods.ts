import { inject } from 'vitest'
import { WebSocket } from 'ws'
import { type IssuedKey, issueKey, untilPodsKnow } from '../acceptance/client/keys.ts'
import { StreamSocket } from '../acceptance/client/socket.ts'
import type { Role } from '../support/cluster/cluster.ts'

/** Base URLs of all processes of a role, without the load balancer. */
export const basesOf = (role: Role): string[] =>
  inject('pods').flatMap((pod) => (pod.role === role ? [`http://127.0.0.1:${pod.port}`] : []))

const opened = new Set<WebSocket>()

/** Opens a socket on one shard; resolves with it, or with the status and code of the refusal. */
export function upgrade(
  base: string,
  key: string,
): Promise<StreamSocket | { readonly status: number; readonly code: string }> {
  return new Promise((resolve, reject) => {
    const raw = new WebSocket(`${base.replace('http', 'ws')}/v1/stream?api_key=${key}`, {
      perMessageDeflate: false,
    })
    opened.add(raw)
    const socket = new StreamSocket(raw)
    raw.once('open', () => resolve(socket))
    raw.once('unexpected-response', (_request, response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () => {
        const { error } = JSON.parse(String(Buffer.concat(parts))) as { error: { code: string } }
        resolve({ status: response.statusCode ?? 0, code: error.code })
      })
    })
    raw.once('error', reject)
  })
}

export const isOpen = (outcome: Awaited<ReturnType<typeof upgrade>>): outcome is StreamSocket =>
  outcome instanceof StreamSocket

/** Issues a key that all pods know. */
export async function issueForAllPods(options: Parameters<typeof issueKey>[0] = {}): Promise<IssuedKey> {
  const issued = await issueKey(options)
  await untilPodsKnow({ rest: basesOf('rest'), stream: basesOf('stream') })
  return issued
}

/** For `afterEach`: ends all sockets, so that their slots become free. */
export function cutAll(): void {
  for (const raw of opened) raw.terminate()
  opened.clear()
}
