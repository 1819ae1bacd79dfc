import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { dial, startHttpServer as start } from '../../../test/support/fixtures/http-server.ts'

/** A handler whose answers wait until `answer` is called, in the order in which the requests came. */
const holding = () => {
  const waiting: (() => void)[] = []
  const handle: RequestListener = ({ url }, response) => void waiting.push(() => response.end(url))
  return { waiting, handle }
}
const pipelined = (count: number): string =>
  Array.from({ length: count }, (_, n) => `GET /${n} HTTP/1.1\r\nHost: x\r\n\r\n`).join('')

test('eight pipelined requests are handled at once and answered in their order', async () => {
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

test('pipelined requests go on for as long as at most eight are under way', async () => {
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

test.each([
  ['request', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['odd Expect', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: much\r\n\r\n'],
])(
  'a ninth %s under way closes its connection, is not handled, and is counted once',
  async (_name, ninth) => {
    const { waiting, handle } = holding()
    const cuts: string[] = []
    const server = await start({ handle, cut: (reason) => cuts.push(reason) })
    const other = await dial(server.port)
    other.write(pipelined(8))
    const socket = await dial(server.port)
    socket.on('error', () => undefined)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write(pipelined(8) + ninth.repeat(2_000))
    socket.resume()
    await closed
    expect(waiting).toHaveLength(16)
    expect(cuts).toEqual(['pipelined'])
    expect(server.connections()).toBe(1)
    expect(other.destroyed).toBe(false)
    other.destroy()
  },
)

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
  /** Asks eight times and reads nothing. */
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

  test('hold their bound on all connections together, and those that read nothing are closed', async () => {
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

  test('a client that goes on reading keeps its connection, although something always waits for it', async () => {
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
    expect(reading.destroyed).toBe(false)
    expect(cuts.length).toBeGreaterThan(5)
    for (const socket of [...sockets, reading]) socket.destroy()
  })

  test('what clients read holds nothing', async () => {
    const { server } = await start64()
    for (let n = 0; n < 3; n += 1) {
      const response = await fetch(`http://127.0.0.1:${server.port}/`)
      expect((await response.arrayBuffer()).byteLength).toBe(answerBytes)
    }
    expect(server.unreadBytes()).toBe(0)
  })
})
