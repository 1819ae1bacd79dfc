import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { dial, startHttpServer as start } from '../../../test/support/fixtures/http-server.ts'

/** A handler whose answers wait for `answer`, in the order of the requests. */
const holding = () => {
  const waiting: (() => void)[] = []
  const handle: RequestListener = ({ url }, response) => void waiting.push(() => response.end(url))
  return { waiting, handle }
}
const pipelined = (count: number): string =>
  Array.from({ length: count }, (_, n) => `GET /${n} HTTP/1.1\r\nHost: x\r\n\r\n`).join('')

test('eight pipelined requests are handled concurrently and answered in order', async () => {
  const { waiting, handle } = holding()
  const { port } = await start({ handle })
  const socket = await dial(port)
  socket.write(pipelined(8))
  await expect.poll(() => waiting.length).toBe(8)
  for (const answer of waiting.reverse()) answer()
  let text = ''
  socket.on('data', (part) => (text += String(part)))
  await expect.poll(() => text.match(/\r\n\r\n\/\d/g)?.length).toBe(8)
  expect([...text.matchAll(/\r\n\r\n\/(\d)/g)].map(([, n]) => Number(n))).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  socket.destroy()
})

test('any number of pipelined requests is answered while at most eight are under way', async () => {
  const { port } = await start({ handle: (_request, response) => void response.end('hello') })
  const socket = await dial(port)
  let answers = 0
  socket.on('data', (part) => (answers += String(part).split('hello').length - 1))
  for (let rounds = 1; rounds <= 20; rounds += 1) {
    socket.write(pipelined(8))
    await expect.poll(() => answers).toBe(8 * rounds)
  }
  socket.destroy()
})

test('an upgrade behind an unanswered request is handled as a plain request and answered in order', async () => {
  const { waiting, handle } = holding()
  const upgrade = { path: '/stream', listener: (_: unknown, socket: Duplex) => void socket.write('upgraded') }
  const { port } = await start({ handle, upgrade })
  const socket = await dial(port)
  const asksUpgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n'
  socket.write(`${pipelined(1)}GET /stream HTTP/1.1\r\nHost: x\r\n${asksUpgrade}\r\n`)
  await expect.poll(() => waiting.length).toBe(2)
  for (const answer of waiting.reverse()) answer()
  let text = ''
  socket.on('data', (part) => (text += String(part)))
  await expect.poll(() => text).toMatch(/\r\n\r\n\/0.*\r\n\r\n\/stream/s)
  expect(text).not.toContain('upgraded')
  socket.destroy()
})

test.each([
  ['request', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['odd Expect', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: much\r\n\r\n'],
])('a ninth %s under way is not handled, closes its connection and is counted once', async (_name, ninth) => {
  const { waiting, handle } = holding()
  const cuts: string[] = []
  const server = await start({ handle, cut: (reason) => cuts.push(reason) })
  const other = await dial(server.port)
  other.write(pipelined(8))
  const socket = await dial(server.port)
  socket.on('error', () => undefined)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write(pipelined(8))
  // A request whose start waits for a later turn would be dropped at the close.
  await expect.poll(() => waiting.length).toBe(16)
  socket.write(ninth.repeat(2_000))
  socket.resume()
  await closed
  expect(waiting).toHaveLength(16)
  expect(cuts).toEqual(['pipelined'])
  expect(server.connections()).toBe(1)
  expect(other.destroyed).toBe(false)
  other.destroy()
})

describe('a new connection at the maximum', () => {
  /** A server whose answers to `/held` wait for `answer`, and which accepts upgrades of `/stream`. */
  const startSmall = async (connectionsMax: number) => {
    const seen = { cuts: [] as string[], dropped: 0 }
    const held: (() => void)[] = []
    const server = await start({
      connectionsMax,
      handle: ({ url }, response) => {
        if (url === '/held') held.push(() => response.end('late'))
        else response.end('hello')
      },
      upgrade: { path: '/stream', listener: (_request, socket) => void socket.write('upgraded') },
      cut: (reason) => seen.cuts.push(reason),
      dropped: () => (seen.dropped += 1),
    })
    return { server, seen, held }
  }
  const dialQuiet = async (port: number): Promise<Socket> => {
    const socket = await dial(port)
    onTestFinished(() => void socket.destroy())
    return socket.on('error', () => undefined).resume()
  }
  const answered = async (socket: Socket, path = '/'): Promise<string> => {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    return String(await once(socket, 'data'))
  }
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n'

  test('replaces the one that is idle longest since its last request', async () => {
    const { server, seen } = await startSmall(3)
    const [first, second, third] = [
      await dialQuiet(server.port),
      await dialQuiet(server.port),
      await dialQuiet(server.port),
    ]
    for (const socket of [second, third, first]) await answered(socket)
    const closed = once(second, 'close')
    expect(await answered(await dialQuiet(server.port))).toContain('hello')
    await closed
    expect(seen).toEqual({ cuts: ['idle'], dropped: 0 })
    expect(server.connections()).toBe(3)
    for (const socket of [third, first]) expect(await answered(socket)).toContain('hello')
  })

  test('replaces no upgraded one and none with a request under way: without an idle one it is dropped', async () => {
    const { server, seen, held } = await startSmall(2)
    const upgraded = await dialQuiet(server.port)
    upgraded.write(`GET /stream HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n`)
    expect(String(await once(upgraded, 'data'))).toBe('upgraded')
    const busy = await dialQuiet(server.port)
    const late = answered(busy, '/held')
    await expect.poll(() => held.length).toBe(1)
    const newcomer = await dialQuiet(server.port)
    await once(newcomer, 'close')
    expect(seen).toEqual({ cuts: [], dropped: 1 })
    held[0]?.()
    expect(await late).toContain('late')
    expect(await answered(await dialQuiet(server.port))).toContain('hello')
    expect(seen).toEqual({ cuts: ['idle'], dropped: 1 })
    expect(upgraded.destroyed).toBe(false)
  })

  test('is served although one client holds the maximum of idle connections and opens more', async () => {
    const { server, seen } = await startSmall(20)
    const held = await Promise.all(Array.from({ length: 20 }, () => dialQuiet(server.port)))
    for (const socket of held) await answered(socket)
    for (let count = 0; count < 30; count += 1) {
      await dialQuiet(server.port)
      expect(await answered(await dialQuiet(server.port))).toContain('hello')
      expect(server.connections()).toBe(20)
    }
    expect(seen).toEqual({ cuts: Array(60).fill('idle'), dropped: 0 })
  })
})

describe('answers that clients do not read', () => {
  const answerBytes = 1_000_000
  const start64 = async () => {
    const cuts: string[] = []
    const server = await start({
      handle: (_request, response) => void response.end(Buffer.alloc(answerBytes)),
      unreadBytesMax: 64_000_000,
      cut: (reason) => cuts.push(reason),
    })
    return { server, cuts }
  }
  /** Sends eight requests and reads nothing. */
  const silent = async (port: number): Promise<Socket> => {
    const socket = await dial(port)
    socket.on('error', () => undefined)
    socket.pause()
    socket.write(pipelined(8))
    return socket
  }

  const readSome = (socket: Socket, bytes: number): Promise<void> =>
    new Promise((resolve) => {
      let left = bytes
      const take = (part: Buffer): void => {
        left -= part.length
        if (left <= 0) done()
      }
      const done = (): void => {
        socket.off('data', take).off('close', done).pause()
        resolve()
      }
      if (socket.destroyed) done()
      else socket.on('data', take).once('close', done).resume()
    })

  test('share one limit over all connections: at it, connections that read nothing are closed', async () => {
    const { server, cuts } = await start64()
    const sockets: Socket[] = []
    for (let n = 0; n < 30; n += 1) {
      sockets.push(await silent(server.port))
      expect(server.unreadBytes()).toBeLessThanOrEqual(64_000_000)
    }
    await expect.poll(() => cuts.length).toBeGreaterThan(10)
    expect(new Set(cuts)).toEqual(new Set(['unread']))
    expect(server.unreadBytes()).toBeGreaterThan(30_000_000)
    for (const socket of sockets) socket.destroy()
    await expect.poll(() => server.unreadBytes()).toBe(0)
  })

  test('a client that keeps reading is not closed, although answers always wait for it', async () => {
    const { server, cuts } = await start64()
    const reading = await dial(server.port)
    reading.on('error', () => undefined)
    reading.pause()
    reading.write(pipelined(8))
    await expect.poll(() => server.unreadBytes()).toBeGreaterThan(0)
    const sockets: Socket[] = []
    for (let rounds = 0; rounds < 20; rounds += 1) {
      sockets.push(await silent(server.port))
      await readSome(reading, 2 * answerBytes)
      reading.write(pipelined(2))
    }
    // How many depends on what the system keeps for each connection.
    await expect.poll(() => cuts.length).toBeGreaterThan(0)
    expect(reading.destroyed).toBe(false)
    for (const socket of [...sockets, reading]) socket.destroy()
  })

  test('count only until the client has read them', async () => {
    const { server } = await start64()
    for (let n = 0; n < 3; n += 1) {
      const response = await fetch(`http://127.0.0.1:${server.port}/`)
      expect((await response.arrayBuffer()).byteLength).toBe(answerBytes)
    }
    expect(server.unreadBytes()).toBe(0)
  })
})
