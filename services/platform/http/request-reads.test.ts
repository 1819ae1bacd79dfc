import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { dial, startHttpServer } from '../../../test/support/fixtures/http-server.ts'
import type { HttpServer } from './http-server.ts'
import { readPerTurnMax } from './request-reads.ts'

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
const many = 5 * readPerTurnMax

/** Paths of the requests, in the order in which they were read. */
let paths: string[]
/** Maximum requests that were read in one turn of the event loop. */
let most: number
let server: HttpServer

beforeEach(async () => {
  paths = []
  most = 0
  let inTurn = 0
  const read = (message: unknown): void => {
    const { request } = message as { request: IncomingMessage }
    if (request.socket.localPort !== server.port) return
    if (inTurn === 0) setImmediate(() => (inTurn = 0))
    inTurn += 1
    most = Math.max(most, inTurn)
    paths.push(request.url ?? '')
  }
  server = await startHttpServer()
  subscribe('http.server.request.start', read)
  onTestFinished(() => void unsubscribe('http.server.request.start', read))
})

/** Resolves when all are accepted: the server accepts one in each turn. */
async function dialMany(): Promise<Socket[]> {
  const before = server.connections()
  const sockets = await Promise.all(Array.from({ length: many }, () => dial(server.port)))
  await expect.poll(() => server.connections()).toBe(before + many)
  return sockets
}

test('requests of many connections that arrive together are read in several turns, and all are answered', async () => {
  const sockets = await dialMany()
  const answers = sockets.map((socket) => once(socket, 'data'))
  for (const [n, socket] of sockets.entries()) socket.write(get(`/${n}`))
  await Promise.all(answers)
  expect(most).toBeLessThanOrEqual(readPerTurnMax)
  expect(new Set(paths).size).toBe(many)
  for (const socket of sockets) socket.destroy()
})

test('a connection that asked before is read before new ones whose requests arrived earlier', async () => {
  const known = await dial(server.port)
  known.write(get('/first'))
  await once(known, 'data')
  const sockets = await dialMany()
  const answers = [known, ...sockets].map((socket) => once(socket, 'data'))
  for (const socket of sockets) socket.write(get('/new'))
  known.write(get('/known'))
  await Promise.all(answers)
  expect(paths.indexOf('/known')).toBeLessThanOrEqual(2 * readPerTurnMax)
  for (const socket of [known, ...sockets]) socket.destroy()
})
