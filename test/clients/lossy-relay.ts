import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'

/** A relay of WebSockets to the service that loses bars on request, and then names them as the service does. */
export async function openLossyRelay(target: string) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  let isLosing = false
  const lost: unknown[] = []
  server.on('connection', (client, request) => {
    const upstream = new WebSocket(`${target}${request.url}`)
    const waiting: string[] = []
    client.on('message', (data) => {
      if (upstream.readyState === WebSocket.OPEN) upstream.send(String(data))
      else waiting.push(String(data))
    })
    upstream.on('open', () => waiting.forEach((text) => upstream.send(text)))
    upstream.on('message', (data) => {
      const text = String(data)
      const { type, bars } = JSON.parse(text) as { type: string; bars?: unknown[] }
      if (isLosing && type === 'bars') lost.push(...(bars ?? []))
      else client.send(text)
    })
    upstream.on('error', () => client.terminate())
    upstream.on('close', () => client.terminate())
    client.on('close', () => upstream.terminate())
  })
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Rows of bars that no client got. */
    lost,
    lose: () => void (isLosing = true),
    nameGap(symbol: string, after: number): void {
      isLosing = false
      const frame = JSON.stringify({ type: 'error', code: 'GAP', message: '', gaps: [{ symbol, after }] })
      for (const client of server.clients) client.send(frame)
    },
    close(): void {
      for (const client of server.clients) client.terminate()
      server.close()
    },
  }
}
