import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { python } from '../../interop/foreign-process.ts'
import { openTcpProxy } from '../../support/clients/tcp-proxy.ts'
import { killWithParent } from '../../support/processes/kill-with-parent.ts'
import { startQuestdb } from '../../support/questdb/server.ts'
import { FxdProcess } from '../support/fxd-process.ts'
import { feed, manifestOf, minuteSeconds } from '../support/market.ts'
import { within } from '../support/within.ts'

const at = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const deadlineMs = 60_000
const historyMinutes = 4_500
const symbols = ['EURUSD', 'GBPUSD'] as const

/** Python runs this file at its start. It sets the clock ahead by the nanoseconds in the file `clock-step`. */
const steppedClock = `
import os, time
real, path = time.time_ns, os.path.join(os.path.dirname(__file__), 'clock-step')
time.time_ns = lambda: real() + (int(open(path).read()) if os.path.exists(path) else 0)
`

interface History {
  readonly t?: readonly number[]
  readonly c?: readonly number[]
}

/** The CSV file of the example, in a folder with the stubs and the token of docs/collectors.md. */
class ExampleFolder {
  readonly folder = mkdtempSync(join(tmpdir(), 'fxd-collector-example-'))
  readonly bars = join(this.folder, 'bars.csv')
  readonly first: number
  #minutes = 0

  /** The first bar opens `minutesAgo` minutes before now. */
  constructor(token: string, minutesAgo = 6_000) {
    this.first = (Math.floor(Date.now() / 60_000) - minutesAgo) * minuteSeconds
    onTestFinished(() => rmSync(this.folder, { recursive: true }))
    writeFileSync(join(this.folder, 'token'), `${token}\n`)
    writeFileSync(this.bars, '')
    writeFileSync(join(this.folder, 'sitecustomize.py'), steppedClock)
    const out = [`--python_out=${this.folder}`, `--grpc_python_out=${this.folder}`]
    const proto = at('proto/fxd/v1/collector.proto')
    execFileSync(python(), ['-m', 'grpc_tools.protoc', `-I${at('proto')}`, ...out, proto])
  }

  /** Appends the next minutes of each symbol. */
  append(count: number): void {
    const last = this.#minutes + count
    let text = ''
    for (; this.#minutes < last; this.#minutes++)
      for (const symbol of symbols)
        text += `${symbol},${this.timeOf(this.#minutes)},1.1,1.3,-1.05,${this.closeOf(this.#minutes)},${this.#minutes}\n`
    appendFileSync(this.bars, text)
  }

  /** Sets the clock of the example forward. */
  stepClock(seconds: number): void {
    writeFileSync(join(this.folder, 'clock-step'), String(seconds * 1e9))
  }

  timeOf = (minute: number): number => this.first + minute * minuteSeconds
  closeOf = (minute: number): number => Number((1.1 + (minute % 10_000) / 100_000).toFixed(5))

  /** The history that each symbol must have. */
  get wanted(): Required<History> {
    const minutes = Array.from({ length: this.#minutes }, (_, minute) => minute)
    return { t: minutes.map(this.timeOf), c: minutes.map(this.closeOf) }
  }
}

interface Example {
  readonly child: ChildProcess
  readonly output: () => string
}

/** Starts a process and keeps its output; kills it when the test has ended. */
function start(program: string, args: readonly string[], env: Readonly<Record<string, string>>): Example {
  const child = spawn(program, args, { env: { ...process.env, ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  killWithParent(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece: Buffer) => (output += piece.toString()))
  return { child, output: () => output }
}

function startCollector({ folder, bars }: ExampleFolder, addresses: string): Example {
  const digits = symbols.map((symbol) => `${symbol}=5`).join(',')
  const args = [at('docs/examples/collector.py'), addresses, feed, join(folder, 'token'), digits, bars]
  return start(python(), args, { PYTHONPATH: folder })
}

/** Starts the example client of docs/api.md. */
function startClient(url: string, key: string): Example {
  const names = symbols.map((symbol) => `${feed}:${symbol}`)
  return start(process.execPath, [at('docs/examples/follow.mjs'), url, ...names], { KEY: key })
}

/** Open times of the bars of a symbol that the client printed, in its order. */
const printedBy = ({ output }: Example, symbol: string): number[] =>
  output()
    .split('\n')
    .filter((line) => line.startsWith(`{"symbol":"${feed}:${symbol}"`) && line.endsWith('}'))
    .map((line) => (JSON.parse(line) as { time: number }).time)

const historyOf = async (fxd: FxdProcess, symbol: string): Promise<History> =>
  (await fxd.get(`/v1/history?symbol=${feed}:${symbol}&resolution=1&countback=10000`)).body as History

/** Waits until the history of both symbols equals the file. */
async function expectStored(fxd: FxdProcess, files: ExampleFolder, output: () => string): Promise<void> {
  const { t, c } = files.wanted
  for (const symbol of symbols) {
    let last: History = {}
    const isThere = async () => (last = await historyOf(fxd, symbol)).t?.length === t.length
    await within(deadlineMs, `${t.length} bars of ${symbol}`, isThere).catch((cause: unknown) => {
      throw new Error(
        `${symbol} has ${last.t?.length} bars; output of the example:\n${output().slice(-2_000)}`,
        {
          cause,
        },
      )
    })
    expect(last).toMatchObject({ t, c })
  }
}

test('the example collector of docs/collectors.md delivers history and live bars, and loses none when a connection or ingest is killed', async () => {
  const fxd = await FxdProcess.start({ manifests: [manifestOf(symbols)] })
  await fxd.takeKey()
  const [host = '', port] = fxd.grpc.split(':')
  const proxy = await openTcpProxy({ host, port: Number(port) })
  onTestFinished(() => proxy.close())
  const files = new ExampleFolder(fxd.token)
  files.append(historyMinutes)
  // No server listens at the first address: the collector must use the next one.
  const { child, output } = startCollector(files, `${host}:1,${host}:${proxy.port}`)
  await expectStored(fxd, files, output)
  expect(output().split('session lost')).toHaveLength(2)

  // Acks are lost with their connection: the collector must send the bars again.
  proxy.set({ down: { kind: 'swallow' } })
  const before = await fxd.metric('fxd_ingest_bars_total')
  files.append(3)
  await within(
    deadlineMs,
    'bars without an Ack',
    async () => (await fxd.metric('fxd_ingest_bars_total')) > before,
  )
  proxy.set({})
  proxy.reset()
  files.append(3)
  await expectStored(fxd, files, output)

  // Bars are lost before they reach ingest.
  proxy.set({ up: { kind: 'hold', from: symbols[0] } })
  files.append(100)
  await proxy.held()
  proxy.set({})
  proxy.reset()
  await expectStored(fxd, files, output)

  files.append(200)
  await fxd.kill()
  files.append(5)
  await fxd.start()
  await expectStored(fxd, files, output)
  for (const symbol of symbols) {
    const wanted = [{ from: files.first, to: files.wanted.t.at(-1) }]
    const path = `/v1/coverage?symbol=${feed}:${symbol}`
    await expect
      .poll(async () => (await fxd.get(path)).body, { timeout: deadlineMs })
      .toMatchObject({ coverage: wanted })
  }
  expect(child.exitCode).toBeNull()
  expect(output()).not.toContain('rejected')
}, 300_000)

test('the example collector begins again after its end although ingest has all lines of its file', async () => {
  const fxd = await FxdProcess.start({ manifests: [manifestOf(symbols)] })
  await fxd.takeKey()
  const files = new ExampleFolder(fxd.token)
  files.append(10)
  const first = startCollector(files, fxd.grpc)
  for (const symbol of symbols)
    await expect
      .poll(async () => (await fxd.get(`/v1/coverage?symbol=${feed}:${symbol}`)).body, {
        timeout: deadlineMs,
      })
      .toMatchObject({ coverage: [{ from: files.first, to: files.wanted.t.at(-1) }] })
  first.child.kill('SIGKILL')
  const second = startCollector(files, fxd.grpc)
  await expect.poll(second.output, { timeout: deadlineMs }).toContain('following live bars')
  files.append(3)
  await expectStored(fxd, files, second.output)
}, 180_000)

test('the example collector loses no bar when its clock is set forward', async () => {
  const fxd = await FxdProcess.start({ manifests: [manifestOf(symbols)] })
  await fxd.takeKey()
  const files = new ExampleFolder(fxd.token)
  files.append(10)
  const { output } = startCollector(files, fxd.grpc)
  await expect.poll(output, { timeout: deadlineMs }).toContain('following live bars')
  files.stepClock(60)
  files.append(3)
  await expectStored(fxd, files, output)
  expect(output()).toContain('a clock was set')
  files.append(3)
  await expectStored(fxd, files, output)
}, 180_000)

test('the example collector goes on with live bars while QuestDB is away, and keeps its session', async () => {
  const server = await startQuestdb({ startsQuickly: true })
  onTestFinished(() => server.stop())
  const fxd = await FxdProcess.start({ ...server, prefix: 'example_', manifests: [manifestOf(symbols)] })
  await fxd.takeKey()
  const files = new ExampleFolder(fxd.token)
  files.append(10)
  const { output } = startCollector(files, fxd.grpc)
  await expectStored(fxd, files, output)
  await expect.poll(output, { timeout: deadlineMs }).toContain('following live bars')
  await server.kill()
  for (let pushed = symbols.length; pushed <= 20; pushed += symbols.length) {
    files.append(1)
    await expect.poll(() => fxd.metric('fxd_ingest_pushed_bars_total'), { timeout: deadlineMs }).toBe(pushed)
  }
  await server.start()
  await expectStored(fxd, files, output)
  expect(output()).not.toContain('session lost')
}, 300_000)

test('a second example collector is standby and takes over when the first one is killed', async () => {
  const fxd = await FxdProcess.start({ manifests: [manifestOf(symbols)] })
  await fxd.takeKey()
  const files = new ExampleFolder(fxd.token)
  files.append(10)
  const first = startCollector(files, fxd.grpc)
  await expectStored(fxd, files, first.output)
  const second = startCollector(files, fxd.grpc)
  await expect.poll(second.output, { timeout: deadlineMs }).toContain('stands by')
  first.child.kill('SIGKILL')
  files.append(10)
  await expectStored(fxd, files, second.output)
}, 180_000)

/** Starts everything, with a client behind a proxy that has printed 20 live minutes; the data begins `minutesAgo`. */
async function followed(minutesAgo: number) {
  const fxd = await FxdProcess.start({ manifests: [manifestOf(symbols)] })
  await fxd.takeKey()
  const files = new ExampleFolder(fxd.token, minutesAgo)
  files.append(5)
  const collector = startCollector(files, fxd.grpc)
  await expectStored(fxd, files, collector.output)
  await expect.poll(collector.output, { timeout: deadlineMs }).toContain('following live bars')
  const { hostname: host, port } = new URL(fxd.url)
  const proxy = await openTcpProxy({ host, port: Number(port) })
  onTestFinished(() => proxy.close())
  const client = startClient(`http://${host}:${proxy.port}`, fxd.key)
  await expect.poll(client.output, { timeout: deadlineMs }).toContain('subscribed')
  const expectPrinted = async (): Promise<void> => {
    const live = files.wanted.t.slice(5)
    for (const symbol of symbols)
      await expect.poll(() => printedBy(client, symbol), { timeout: deadlineMs }).toEqual(live)
  }
  files.append(20)
  await expectPrinted()
  return { fxd, files, collector, proxy, expectPrinted }
}

test('the example client of docs/api.md prints each bar once and in order although fxd is killed', async () => {
  const { fxd, files, expectPrinted } = await followed(900)
  await fxd.kill()
  files.append(20)
  await fxd.start()
  await expectPrinted()
  files.append(1)
  await expectPrinted()
  expect(files.wanted.t).toHaveLength(46)
}, 180_000)

test('the example client of docs/api.md reads bars that are too old for `since` from history', async () => {
  const { fxd, files, collector, proxy, expectPrinted } = await followed(6_000)
  proxy.set({ connections: 'refuse' })
  proxy.reset()
  files.append(20)
  await expectStored(fxd, files, collector.output)
  proxy.set({})
  await expectPrinted()
  expect(files.wanted.t).toHaveLength(45)
}, 180_000)

test('the example client of docs/api.md ends with the reason when its key is refused, and with its usage without one', async () => {
  const fxd = await FxdProcess.start({ manifests: [manifestOf(symbols)] })
  const ended = async (key: string) => {
    const { child, output } = startClient(fxd.url, key)
    const [code] = (await once(child, 'close')) as [number]
    return { code, output: output() }
  }
  expect(await ended('fxd_0123456789abcdef0123456789abcdef')).toEqual({
    code: 1,
    output: 'closed with 1006: The API key was not found.\n',
  })
  const { code, output } = await ended('')
  expect([code, output.slice(0, 11)]).toEqual([64, 'usage: KEY='])
})
