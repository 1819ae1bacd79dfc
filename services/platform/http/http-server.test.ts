import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import type { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import {
  bodyOf,
  dial,
  readAll,
  startHttpServer as start,
} from '../../../test/support/fixtures/http-server.ts'
import { Fatal } from '../process/exit.ts'
import { httpTimings } from './http-server.ts'

const impatient = { ...httpTimings, headersTimeoutMs: 40, requestTimeoutMs: 40, checkEveryMs: 10 }

test("slow clients are closed after seconds, not after the minutes of Node's defaults", () => {
  expect(httpTimings.headersTimeoutMs + httpTimings.checkEveryMs).toBeLessThanOrEqual(15_000)
  expect(httpTimings.requestTimeoutMs + httpTimings.checkEveryMs).toBeLessThanOrEqual(20_000)
})

test('a header that never ends is answered 408 with the error body, then the connection is closed', async () => {
  const { port } = await start({ timings: impatient })
  const socket = await dial(port)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ')
  const answer = await readAll(socket)
  expect(answer).toMatch(/^HTTP\/1\.1 408 /)
  expect(bodyOf(answer)).toEqual({
    error: { code: 'BAD_REQUEST', message: 'The request did not arrive in time.' },
  })
})

test('a connection that sends nothing is closed', async () => {
  const { port } = await start({ timings: impatient })
  expect(await readAll(await dial(port))).toMatch(/^(HTTP\/1\.1 408 |$)/)
})

test('a connection whose body never ends is closed', async () => {
  const { port } = await start({ timings: impatient, handle: () => undefined })
  const socket = await dial(port)
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc')
  expect(await readAll(socket)).not.toMatch(/^HTTP\/1\.1 2/)
})

test('an answer is sent although preparing it takes longer than the timeout of a stalled client', async () => {
  const { port } = await start({
    timings: { ...httpTimings, stalledMs: 200 },
    handle: (_request, response) => void setTimeout(() => response.end('at last'), 500),
  })
  const socket = await dial(port)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  expect(await readAll(socket)).toContain('at last')
})

test('a client that stops reading its answer is closed', async () => {
  const server = await start({
    timings: { ...httpTimings, stalledMs: 50 },
    handle: (_request, response) => void response.end(Buffer.alloc(50_000_000)),
  })
  const socket = await dial(server.port)
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await expect.poll(() => server.connections(), { timeout: 5_000 }).toBe(0)
  socket.destroy()
})

test.each([
  ['no HTTP at all', '\x16\x03\x01 hello\r\n\r\n', 400],
  ['a broken request line', 'GET /v1/config?api_key=fxd_00 HTTP/9.9\r\n\r\n', 400],
  ['headers above 16 KiB', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
])('%s is answered with the error body, which any page may read', async (_name, bytes, status) => {
  const { port } = await start()
  const socket = await dial(port)
  socket.write(bytes)
  const answer = await readAll(socket)
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  expect(answer).not.toContain('fxd_00')
  expect(answer).toContain('Access-Control-Allow-Origin: *\r\n')
  expect(bodyOf(answer)).toMatchObject({ error: { code: 'BAD_REQUEST' } })
})

test('invalid bytes after a request never change its answer', async () => {
  let answering: (() => void) | undefined
  const { port } = await start({
    handle: (_request, response) => {
      response.write('half ')
      answering?.()
    },
  })
  const socket = await dial(port)
  const begun = new Promise<void>((resolve) => {
    answering = resolve
  })
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await begun
  socket.write('\x00\x00\r\n\r\n')
  expect(await readAll(socket)).not.toContain('400')
})

test('a busy port fails with an error that names the variable to set', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const failure = await start({ address: { host: '127.0.0.1', port } }).catch((error: unknown) => error)
  other.close()
  expect(failure).toBeInstanceOf(Fatal)
  expect((failure as Fatal).exit).toBe('system')
  expect((failure as Fatal).message).toMatch(`127.0.0.1:${port} is in use`)
  expect((failure as Fatal).message).toMatch('set FXD_HTTP_ADDR')
})

test('closing lets a request under way finish and asks its client to disconnect', async () => {
  let finish: (() => void) | undefined
  const server = await start({
    handle: (_request, response) => {
      finish = () => response.end('finished')
    },
  })
  const answered = new Promise<IncomingMessage>((resolve) => {
    get({ port: server.port, host: '127.0.0.1' }, resolve)
  })
  await expect.poll(() => finish).toBeDefined()
  const closed = server.close(5_000)
  finish?.()
  const response = await answered
  const parts = await response.toArray()
  expect(String(parts.join(''))).toBe('finished')
  expect(response.headers.connection).toBe('close')
  await closed
})

test('closing does not wait for idle connections', async () => {
  const server = await start()
  const socket = await dial(server.port)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'data')
  await server.close(60_000)
  await expect.poll(() => server.connections()).toBe(0)
  socket.destroy()
})

test('requests that are still open after the grace period are closed', async () => {
  let handled = 0
  const server = await start({ handle: () => void (handled += 1) })
  const socket = await dial(server.port)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await expect.poll(() => handled).toBe(1)
  await server.close(10)
  expect(await readAll(socket)).toBe('')
})

test('only a WebSocket upgrade on its own path reaches the upgrade handler, others are plain requests', async () => {
  const seen: string[] = []
  const { port } = await start({
    upgrade: {
      path: '/socket',
      listener: (request, socket) => {
        seen.push(`${request.headers.upgrade} ${request.url}`)
        socket.end('HTTP/1.1 426 Upgrade Required\r\nConnection: close\r\n\r\n')
      },
    },
  })
  const ask = async (upgrade: string, target: string): Promise<string> => {
    const socket = await dial(port)
    const headers = `Host: x\r\nConnection: Upgrade, close\r\nUpgrade: ${upgrade}`
    socket.write(`GET ${target} HTTP/1.1\r\n${headers}\r\n\r\n`)
    return readAll(socket)
  }
  expect(await ask('h2c', '/socket')).toContain('hello')
  for (const target of ['/', '/socket/', '/Socket', '/?/socket', 'http://x/']) {
    expect(await ask('websocket', target)).toContain('hello')
  }
  expect(seen).toEqual([])
  expect(await ask('WebSocket', '/socket?x')).toContain('426')
  expect(await ask('websocket', 'http://x/socket')).toContain('426')
  expect(seen).toEqual(['WebSocket /socket?x', 'websocket http://x/socket'])
})

test.each([
  ['POST', 'Host: x', '200 OK'],
  ['OPTIONS', 'Host: x', '200 OK'],
  ['GET', 'X: no host', '400 Bad Request'],
  ['GET', 'Host: x\r\nHost: x', '400 Bad Request'],
  ['GET', 'Host: x y', '400 Bad Request'],
  ['GET', 'Host: x\r\nExpect: much', '417 Expectation Failed'],
])(
  'an upgrade request with %s and %j is answered like one without an upgrade',
  async (method, line, status) => {
    const listener = (_: unknown, socket: Duplex) => void socket.end('upgraded')
    const { port } = await start({ upgrade: { path: '/socket', listener } })
    const socket = await dial(port)
    const headers = 'Connection: Upgrade, close\r\nUpgrade: websocket'
    socket.write(`${method} /socket HTTP/1.1\r\n${line}\r\n${headers}\r\n\r\n`)
    expect(await readAll(socket)).toContain(`HTTP/1.1 ${status}`)
  },
)

test('clients that reset during their upgrade do not end the process', async () => {
  let decided = 0
  const server = await start({
    upgrade: {
      path: '/',
      listener: (_request, socket) => {
        socket.once('close', () => {
          decided += 1
        })
      },
    },
  })
  for (let i = 0; i < 20; i += 1) {
    const socket = await dial(server.port)
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    socket.resetAndDestroy()
  }
  await expect.poll(() => decided).toBeGreaterThan(0)
  await expect.poll(() => server.connections()).toBe(0)
})

test.each([
  ['no Host header', 'GET / HTTP/1.1\r\n\r\n', 400, /Host/],
  ['two Host headers', 'GET / HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n', 400, /more than one Host/],
  ['a Host header with a space', 'GET / HTTP/1.1\r\nHost: x y\r\n\r\n', 400, /Host header is invalid/],
  ['a Host header with a path', 'GET / HTTP/1.1\r\nHost: x/y\r\n\r\n', 400, /Host header is invalid/],
  ['a Host header with a user', 'GET / HTTP/1.0\r\nHost: a@x\r\n\r\n', 400, /Host header is invalid/],
  ['an odd Expect header', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: much\r\n\r\n', 417, /Expect/],
])('a request with %s gets the error body, which any page may read', async (_name, bytes, status, words) => {
  const { port } = await start()
  const socket = await dial(port)
  socket.write(bytes)
  const answer = await readAll(socket)
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  expect(answer).toContain('Access-Control-Allow-Origin: *\r\n')
  expect(bodyOf(answer)).toEqual({
    error: { code: 'BAD_REQUEST', message: expect.stringMatching(words) as string },
  })
})

test.each(['', 'x', 'x:8080', 'a-b_c.example:', '127.0.0.1:80', '[::1]:8080', '[fe80::1%25eth0]'])(
  'the Host header "%s" is valid',
  async (host) => {
    const { port } = await start()
    const socket = await dial(port)
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    expect(await readAll(socket)).toContain('hello')
  },
)

test('a client that ends its side after its requests gets all answers, and the connection is closed', async () => {
  const waiting: (() => void)[] = []
  const server = await start({
    handle: ({ url }, response) => void waiting.push(() => response.end(`answer to ${url}`)),
  })
  const socket = await dial(server.port)
  socket.end('GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n')
  await expect.poll(() => waiting.length).toBe(2)
  // The server has seen the end once it has read a later connection.
  const later = await dial(server.port)
  later.write('GET /3 HTTP/1.1\r\nHost: x\r\n\r\n')
  await expect.poll(() => waiting.length).toBe(3)
  later.destroy()
  for (const answer of waiting) answer()
  expect(await readAll(socket)).toMatch(/answer to \/1[\s\S]*answer to \/2$/)
  await expect.poll(() => server.connections()).toBe(0)
})

test('HTTP/1.0 without a Host header, and Expect: 100-continue, are handled normally', async () => {
  const { port } = await start()
  const old = await dial(port)
  old.write('GET / HTTP/1.0\r\n\r\n')
  expect(await readAll(old)).toContain('hello')
  const asking = await dial(port)
  asking.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-Continue\r\n\r\n')
  expect(await readAll(asking)).toMatch(/^HTTP\/1\.1 100 [\s\S]*hello/)
})
