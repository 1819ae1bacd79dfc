import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { dial, readAll } from '../../../../../test/support/fixtures/http-server.ts'
import {
  helloText,
  openEndpoint,
  postText,
  terminalToken,
} from '../../../../../test/support/fixtures/terminal-fixture.ts'
import { createVirtualClock } from '../../../../../test/support/fixtures/virtual-clock.ts'

const head = (length: string): string =>
  `POST /v1/terminal HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${terminalToken}\r\n${length}\r\n\r\n`
const mib = 1_048_576

describe('a body', () => {
  test('of 1 MiB is taken, and of one byte more it is TOO_LARGE', async () => {
    const { post, greet } = await openEndpoint()
    const session = await greet()
    const start = postText(session, 1)
    const line = (length: number): string => `${'symbol\tX\t5\t\t'.padEnd(length - 1, 'x')}\n`
    const count = Math.floor((mib - start.length) / 500) - 1
    const text = start + line(500).repeat(count)
    const left = mib - text.length
    const full = text + line(Math.ceil(left / 2)) + line(Math.floor(left / 2))
    expect(full).toHaveLength(mib)
    expect((await post(full)).status).toBe(200)
    expect(await post(`${full}x`)).toMatchObject({
      status: 413,
      text: 'error\tTOO_LARGE\tThe body has more than 1048576 bytes, the maximum; post less.\n',
    })
  })

  test('of 10 MiB of noise is refused before it is read, and its connection can be used again', async () => {
    const { endpoint, feed } = await openEndpoint()
    const socket = await dial(endpoint.port)
    onTestFinished(() => void socket.destroy())
    socket.write(head(`Content-Length: ${10 * mib}`))
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(String(answer)).toMatch(/^HTTP\/1\.1 413 .*error\tTOO_LARGE\t/s)
    socket.write(Buffer.alloc(10 * mib, 0xfe))
    socket.write(head(`Content-Length: ${Buffer.byteLength(helloText())}`) + helloText())
    const [next] = (await once(socket, 'data')) as [Buffer]
    expect(String(next)).toMatch(/^HTTP\/1\.1 200 /)
    expect(feed.begun).toHaveLength(1)
  })

  test('in chunks above 1 MiB is TOO_LARGE', async () => {
    const { endpoint } = await openEndpoint()
    const socket = await dial(endpoint.port)
    const answer = readAll(socket)
    socket.write(head('Transfer-Encoding: chunked'))
    const chunk = Buffer.alloc(64 * 1_024, 0x20)
    for (let n = 0; n <= 16; n++)
      socket.write(
        Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]),
      )
    expect(await answer).toMatch(/^HTTP\/1\.1 413 .*error\tTOO_LARGE\t/s)
  })

  test('that is not UTF-8 is BAD_POST', async () => {
    const { post } = await openEndpoint()
    expect(await post(new Uint8Array([0x66, 0x78, 0x64, 0xff, 0x0a]))).toMatchObject({
      status: 400,
      text: expect.stringContaining('error\tBAD_POST\tThe body is not UTF-8') as string,
    })
  })

  test('that does not arrive within 10 s is refused with a sentence, and its connection is closed', async () => {
    const clock = createVirtualClock()
    const { endpoint, greet } = await openEndpoint({ clock })
    const socket = await dial(endpoint.port)
    socket.write(`${head('Content-Length: 100')}fxd\t1`)
    const answer = readAll(socket)
    await expect.poll(() => clock.pending).toBeGreaterThan(1)
    await clock.advance(9_999)
    expect(await greet()).toBeGreaterThan(0)
    await clock.advance(1)
    expect(await answer).toMatch(/^HTTP\/1\.1 408 .*error\tSLOW_BODY\tThe body did not arrive within 10 s/s)
  })

  test('is the ninth of its feed that arrives at once: it is BUSY, and the others are answered', async () => {
    const { endpoint, post } = await openEndpoint()
    const sockets: Socket[] = []
    const text = helloText()
    for (let n = 0; n < 8; n++) {
      const socket = await dial(endpoint.port)
      sockets.push(socket)
      socket.write(`${head(`Content-Length: ${text.length}\r\nConnection: close`)}${text.slice(0, 10)}`)
    }
    await expect.poll(async () => (await post(text)).text).toContain('BUSY\t8 posts of this feed arrive now')
    const answers = sockets.map(readAll)
    for (const socket of sockets) socket.write(text.slice(10))
    for (const answer of answers) expect(await answer).toMatch(/^HTTP\/1\.1 (200|409) /)
    expect((await post(text)).status).toBe(200)
  })
})

test('more than 5,000 bars in all groups of a post are TOO_LARGE', async () => {
  const { post, greet, feed } = await openEndpoint()
  const session = await greet()
  const group = (name: string, count: number): string[] => [
    `bars\t${name}\t1\t${count}`,
    ...Array.from({ length: count }, (_, i) => `${60 * (i + 1)}\t1.5\t1.5\t1.5\t1.5\t1`),
  ]
  expect(await post(postText(session, 1, ...group('A', 2_500), ...group('B', 2_501)))).toMatchObject({
    status: 413,
    text: 'error\tTOO_LARGE\tline 2503: the post has 5001 bars, at most 5000 are taken; post less.\n',
  })
  expect(feed.taken).toEqual([])
  expect((await post(postText(session, 1, ...group('A', 2_500), ...group('B', 2_500)))).status).toBe(200)
})

test('the 26th post of a session in a second is TOO_MANY with Retry-After, and a second later it is taken', async () => {
  const clock = createVirtualClock()
  const { post, greet, metrics } = await openEndpoint({ clock })
  const session = await greet()
  for (let n = 1; n <= 25; n++) expect((await post(postText(session, n))).status).toBe(200)
  const refused = await post(postText(session, 26))
  expect(refused).toMatchObject({
    status: 429,
    text: expect.stringContaining('TOO_MANY\tMore than 25 posts') as string,
  })
  expect(refused.headers.get('retry-after')).toBe('1')
  await clock.advance(1_000)
  expect((await post(postText(session, 26))).status).toBe(200)
  expect(await metrics.total('fxd_terminal_posts_total', { result: 'TOO_MANY' })).toBe(1)
  expect(await metrics.total('fxd_terminal_posts_total', { result: 'taken' })).toBe(27)
})

test('posts every 45 ms are all taken, also when a busy collector reads the first three at once', async () => {
  const clock = createVirtualClock()
  const { post, greet } = await openEndpoint({ clock })
  const session = await greet()
  const statuses: number[] = []
  for (let n = 1; n <= 50; n++) {
    statuses.push((await post(postText(session, n))).status)
    if (n >= 3) await clock.advance(45)
  }
  expect(statuses).toEqual(statuses.map(() => 200))
})

test('posts that are no posts count as hellos: a flood of noise is TOO_MANY, and the session goes on', async () => {
  const clock = createVirtualClock()
  const { post, greet } = await openEndpoint({ clock })
  const session = await greet()
  const codes: number[] = []
  for (let n = 0; n < 30; n++) codes.push((await post('noise')).status)
  expect(codes.filter((code) => code === 400)).toHaveLength(24)
  expect(codes.at(-1)).toBe(429)
  expect((await post(postText(session, 1))).status).toBe(200)
})

test('with 1,000 idle connections open a terminal is served', async () => {
  const { endpoint, greet, metrics, post } = await openEndpoint()
  const session = await greet()
  const sockets: Socket[] = []
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })
  for (let n = 0; n < 1_200; n++)
    sockets.push(connect(endpoint.port, '127.0.0.1').on('error', () => undefined))
  await expect.poll(async () => (await metrics.render()).text).toContain('fxd_terminal_connections 1000')
  for (let n = 1; n <= 10; n++) expect((await post(postText(session, n))).status).toBe(200)
})

test('a stop lets the post under way finish, and refuses the next one as NOT_TAKEN or by the closed port', async () => {
  const { post, greet, feed, endpoint } = await openEndpoint()
  const session = await greet()
  const held = feed.hold()
  const first = post(postText(session, 1))
  await held.reached
  const closed = endpoint.close(5_000)
  const second = await post(postText(session, 2)).catch(() => undefined)
  expect(second?.status ?? 503).toBe(503)
  held.release()
  expect((await first).status).toBe(200)
  await closed
})
