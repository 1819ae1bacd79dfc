import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import {
  type HttpServer,
  type HttpServerDeps,
  openHttpServer,
} from '../../services/platform/http/http-server.ts'
import { systemClock } from '../../services/platform/system-clock.ts'

/** Our HTTP server on a free port, answering `hello`; closed when the test has ended. */
export async function startHttpServer(options: Partial<HttpServerDeps> = {}): Promise<HttpServer> {
  const server = await openHttpServer(
    {
      address: { host: '127.0.0.1', port: 0 },
      variable: 'FXD_HTTP_ADDR',
      handle: (_request, response) => void response.end('hello'),
      ...options,
    },
    systemClock,
  )
  onTestFinished(() => server.close(0))
  return server
}

export async function dial(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

/** Everything the server sends until it ends the connection. */
export async function readAll(socket: Socket): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of socket) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}

export const bodyOf = (answer: string): unknown => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))
