import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { formatPost } from '../../test/support/clients/format-post.ts'
import { metricOf } from '../../test/support/clients/metric-of.ts'
import { newKey } from '../../test/support/clients/new-key.ts'
import { TerminalPoster } from '../../test/support/clients/terminal-poster.ts'
import { fxd } from '../../test/support/fixtures/cli-fixture.ts'
import { temporaryFolder } from '../../test/support/fixtures/temporary-folder.ts'
import { wrongClock } from '../../test/support/fixtures/virtual-clock.ts'
import { feedManifest } from '../../test/support/samples/feed-manifest.ts'
import { PostingTerminal, terminalHello } from '../../test/support/samples/posting-terminal.ts'
import { parseConfig } from '../platform/config.ts'
import { terminalTokenDigest } from '../platform/credentials/terminal-token.ts'
import { silentLog } from '../platform/log/log.ts'
import { systemClock } from '../platform/system-clock.ts'
import type { Clock } from '../ports/clock.ts'
import { startAll } from './all.ts'

const symbol = 'BROKERA:ZERO:EURUSD.z'
const token = `fxt_${'0123456789abcdef'.repeat(2)}`
const patience = { timeout: 20_000, interval: 50 }
const minute = 60

async function open(source: object, more: Readonly<Record<string, string>> = {}, clock: Clock = systemClock) {
  const home = temporaryFolder()
  const feeds = join(home, 'feeds')
  const define = (of: object): void =>
    writeFileSync(join(feeds, 'zero.yaml'), JSON.stringify(feedManifest({ source: of, depth: { 1: '1d' } })))
  mkdirSync(feeds)
  mkdirSync(join(home, 'data'), { mode: 0o700 })
  define(source)
  writeFileSync(join(home, 'data', 'terminal-tokens'), `BROKERA:ZERO ${terminalTokenDigest(token)}\n`)
  const environment = {
    FXD_FEEDS: feeds,
    FXD_DATA_DIR: join(home, 'data'),
    FXD_HTTP_ADDR: '127.0.0.1:0',
    FXD_GRPC_ADDR: '127.0.0.1:0',
    FXD_OPS_ADDR: '127.0.0.1:0',
    FXD_TERMINAL_ADDR: '127.0.0.1:0',
    ...more,
  }
  const service = await startAll(parseConfig(environment), { log: silentLog, clock })
  onTestFinished(() => service.stop())
  return { service, environment, define }
}

test('bars that a terminal posts are in history, and a bar that closes arrives at a socket', async () => {
  const clock = wrongClock(systemClock)
  // The minute ends soon, whenever the test begins.
  clock.aheadMs = 60_000 - (clock.utcMs() % 60_000) + 52_000
  const now = (): number => Math.floor(clock.utcMs() / 1_000)
  const started = now()
  const { service, environment } = await open({ type: 'Terminal' }, {}, clock)
  const key = await newKey(
    { ...environment, FXD_GRPC_ADDR: `127.0.0.1:${service.grpcPort}` },
    '--plan pro --feeds BROKERA:ZERO',
  )
  const terminal = new PostingTerminal(new TerminalPoster(`127.0.0.1:${service.terminalPort}`, token), now)
  await expect.poll(() => terminal.begin().then(Boolean, () => false), patience).toBe(true)

  const history = async (): Promise<{ t?: number[]; c?: number[] }> => {
    await terminal.turn()
    const query = `symbol=${symbol}&resolution=1&countback=1500`
    const url = `http://127.0.0.1:${service.httpPort}/v1/history?${query}`
    const answer = await fetch(url, { headers: { 'X-API-Key': key } })
    return (await answer.json()) as { t?: number[]; c?: number[] }
  }
  await expect.poll(async () => (await history()).t?.length ?? 0, patience).toBeGreaterThan(1_400)
  const socket = new WebSocket(`ws://127.0.0.1:${service.httpPort}/v1/stream?api_key=${key}`)
  onTestFinished(() => socket.terminate())
  const frames: { readonly type: string; readonly bar?: object }[] = []
  socket.on('message', (data: Buffer) => frames.push(JSON.parse(String(data)) as { type: string }))
  await once(socket, 'open')
  socket.send(JSON.stringify({ action: 'subscribe', symbols: [symbol] }))
  const pushed = async (): Promise<object | undefined> => {
    await terminal.turn()
    return frames.find(({ type }) => type === 'bar')?.bar
  }
  await expect.poll(pushed, { ...patience, timeout: 90_000 }).toBeDefined()
  const { time } = (await pushed()) as { time: number }
  const { open: opened, high, low, close, volume } = terminal.bar(time)
  const bar = {
    time,
    open: Number(opened),
    high: Number(high),
    low: Number(low),
    close: Number(close),
    volume,
  }
  expect(await pushed()).toEqual(bar)
  expect(time).toBeGreaterThanOrEqual(started - minute)
  const { t = [], c = [] } = await history()
  expect(c[t.indexOf(time)]).toBe(bar.close)
}, 150_000)

test('without a feed of a terminal nothing listens, and a feed that becomes one is served after a reload', async () => {
  const { service, define } = await open({ type: 'Push' })
  expect(service.terminalPort).toBeUndefined()
  define({ type: 'Terminal' })
  await service.reload()
  const terminal = new PostingTerminal(
    new TerminalPoster(`127.0.0.1:${service.terminalPort}`, token),
    () => 0,
  )
  await expect.poll(() => terminal.begin().then(Boolean, () => false), patience).toBe(true)
})

test('a terminal of another account is refused, after a restart of its collector too, until a person accepts it', async () => {
  const { service, environment, define } = await open({ type: 'Terminal' })
  const cli = (line: string) => fxd(line, { ...environment, FXD_GRPC_ADDR: `127.0.0.1:${service.grpcPort}` })
  const shown = async (): Promise<string> => (await cli('feeds terminal BROKERA:ZERO')).out
  const begin = (account: string): Promise<string> =>
    new PostingTerminal(new TerminalPoster(`127.0.0.1:${service.terminalPort}`, token), () => 0)
      .begin({ account })
      .then(
        () => 'begun',
        (cause: Error) => cause.message.split('\t').slice(0, 2).join(' '),
      )
  const [live, demo] = ['0123456789abcdef', 'fedcba9876543210']
  await expect.poll(() => begin(live), patience).toBe('begun')
  await expect.poll(shown, patience).toBe(`BROKERA:ZERO accepts Broker Ltd / Broker-Live / ${live} only.\n`)
  expect(await begin(demo)).toBe('403 error OTHER_ACCOUNT')
  define({ type: 'Push' })
  await service.reload()
  define({ type: 'Terminal' })
  await service.reload()
  await expect.poll(() => begin(demo), patience).toBe('403 error OTHER_ACCOUNT')
  expect((await cli('feeds terminal BROKERA:ZERO --accept')).out).toBe(
    `BROKERA:ZERO accepts the next terminal that posts. Before, it accepted Broker Ltd / Broker-Live / ${live}: stop that one first.\n`,
  )
  await expect.poll(() => begin(demo), patience).toBe('begun')
  await expect.poll(shown, patience).toContain(demo)
  expect(await begin(live)).toBe('403 error OTHER_ACCOUNT')
}, 90_000)

test('bad posts each get a sentence while 1,000 connections of strangers stay open, and no bar of the terminal is lost', async () => {
  const now = (): number => Math.floor(Date.now() / 1_000)
  const { service, environment } = await open({ type: 'Terminal' })
  const { terminalPort: port = 0 } = service
  const key = await newKey(
    { ...environment, FXD_GRPC_ADDR: `127.0.0.1:${service.grpcPort}` },
    '--plan pro --feeds BROKERA:ZERO',
  )
  const strangers = Array.from({ length: 1_000 }, (_, n) => strange(port, n))
  onTestFinished(() => {
    for (const socket of strangers) socket.destroy()
  })
  await expect.poll(() => metricOf(service.opsPort, 'fxd_terminal_connections'), patience).toBe(1_000)
  const poster = new TerminalPoster(`127.0.0.1:${port}`, token)
  const terminal = new PostingTerminal(poster, now)
  await expect.poll(() => terminal.begin().then(Boolean, () => false), patience).toBe(true)
  const post = async (body: string | Uint8Array, of = token): Promise<string> => {
    const headers = { authorization: `Bearer ${of}` }
    const answer = await fetch(`http://127.0.0.1:${port}/v1/terminal`, { method: 'POST', headers, body })
    return `${answer.status} ${await answer.text()}`
  }
  const noise = randomBytes(10 * 1_048_576)
  expect(await post(noise)).toMatch(/^413 error\tTOO_LARGE\tThe body has more than 1048576 bytes/)
  expect(await post(noise, `fxt_${'f'.repeat(32)}`)).toMatch(
    /^401 error\tTOKEN_INVALID\tThe token is missing/,
  )
  expect(await post(noise.subarray(0, 1_000))).toMatch(/^400 error\tBAD_POST\tThe body is not UTF-8/)
  expect(await post('fxd\t2\t0\t0\n')).toMatch(/^403 error\tOTHER_VERSION\tThe protocol version is "2"/)
  const hello = formatPost({
    session: 0,
    sequence: 0,
    lines: [{ line: 'hello', hello: { ...terminalHello, account: 'fedcba9876543210' } }],
  })
  expect(await post(hello)).toMatch(/^403 error\tOTHER_ACCOUNT\tThis feed takes bars of Broker Ltd/)
  const badBar = `fxd\t1\t${poster.session}\t1\nbars\tEURUSD.z\t1\t1\n60\t1,1\t1\t1\t1\t1\n`
  expect(await post(badBar)).toMatch(/^400 error\tBAD_POST\t.*"1,1"/)
  expect(await post('fxd\t1\t7\t1\nconnected\t1\n')).toMatch(/^410 error\tNO_SESSION\t/)
  const history = async (): Promise<number> => {
    await terminal.turn()
    const url = `http://127.0.0.1:${service.httpPort}/v1/history?symbol=${symbol}&resolution=1&countback=1500`
    const answer = await fetch(url, { headers: { 'X-API-Key': key } })
    const { t = [], c = [] } = (await answer.json()) as { t?: number[]; c?: number[] }
    expect(c).toEqual(t.map((time) => Number(terminal.bar(time).close)))
    return t.length
  }
  await expect.poll(history, patience).toBeGreaterThan(1_400)
  const another = new TerminalPoster(`127.0.0.1:${port}`, token)
  expect((await another.begin(0, terminalHello)).length).toBeGreaterThan(0)
}, 90_000)

/** A connection that says nothing, one with a head that does not end, or one whose body does not arrive. */
function strange(port: number, n: number): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  const head = 'POST /v1/terminal HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer fxt_0\r\n'
  socket.write(['', head, `${head}Content-Length: 1000\r\n\r\nfxd`][n % 3] ?? '')
  return socket.resume()
}

test('FXD_TERMINAL_ADDR in use is an error that names the variable', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  await expect(open({ type: 'Terminal' }, { FXD_TERMINAL_ADDR: `127.0.0.1:${port}` })).rejects.toThrow(
    /is in use.*set FXD_TERMINAL_ADDR/,
  )
})
