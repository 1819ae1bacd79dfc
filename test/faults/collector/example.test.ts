import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { python } from '../../interop/foreign-process.ts'
import { openTcpProxy } from '../../support/clients/tcp-proxy.ts'
import { endWithUs } from '../../support/processes/end-with-us.ts'
import { FxdProcess } from '../support/fxd-process.ts'
import { feed, manifestOf, minuteSeconds } from '../support/market.ts'
import { within } from '../support/within.ts'

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const deadlineMs = 60_000
const historyMinutes = 4_500
const symbols = ['EURUSD', 'GBPUSD'] as const

interface History {
  readonly t?: readonly number[]
  readonly c?: readonly number[]
}

/** The CSV file of the example, in a folder with the stubs and the token that docs/collectors.md makes. */
class Workplace {
  readonly folder = mkdtempSync(join(tmpdir(), 'fxd-collector-example-'))
  readonly bars = join(this.folder, 'bars.csv')
  readonly first: number
  #minutes = 0

  /** The first bar opened so many minutes ago. */
  constructor(token: string, minutesAgo = 6_000) {
    this.first = (Math.floor(Date.now() / 60_000) - minutesAgo) * minuteSeconds
    onTestFinished(() => rmSync(this.folder, { recursive: true }))
    writeFileSync(join(this.folder, 'token'), `${token}\n`)
    writeFileSync(this.bars, '')
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
        text += `${symbol},${this.timeOf(this.#minutes)},1.1,1.3,1.05,${this.closeOf(this.#minutes)},${this.#minutes}\n`
    appendFileSync(this.bars, text)
  }

  timeOf = (minute: number): number => this.first + minute * minuteSeconds
  closeOf = (minute: number): number => Number((1.1 + (minute % 10_000) / 100_000).toFixed(5))

  /** What history must show of each symbol. */
  get wanted(): Required<History> {
    const minutes = Array.from({ length: this.#minutes }, (_, minute) => minute)
    return { t: minutes.map(this.timeOf), c: minutes.map(this.closeOf) }
  }
}

interface Example {
  readonly child: ChildProcess
  readonly said: () => string
}

/** A process whose output is kept; killed when the test has ended. */
function start(program: string, args: readonly string[], env: Readonly<Record<string, string>>): Example {
  const child = spawn(program, args, { env: { ...process.env, ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  endWithUs(child)
  let said = ''
  for (const output of [child.stdout, child.stderr])
    output.on('data', (piece: Buffer) => (said += piece.toString()))
  return { child, said: () => said }
}

function startCollector({ folder, bars }: Workplace, addresses: string): Example {
  const digits = symbols.map((symbol) => `${symbol}=5`).join(',')
  const args = [at('docs/examples/collector.py'), addresses, feed, join(folder, 'token'), digits, bars]
  return start(python(), args, { PYTHONPATH: folder })
}

/** The example client of docs/api.md. */
function startClient(url: string, key: string): Example {
  const names = symbols.map((symbol) => `${feed}:${symbol}`)
  return start(process.execPath, [at('docs/examples/follow.mjs'), url, ...names], { KEY: key })
}

/** Open times of the bars of a symbol that the client took, in its order. */
const takenBy = ({ said }: Example, symbol: string): number[] =>
  said()
    .split('\n')
    .filter((line) => line.startsWith(`{"symbol":"${feed}:${symbol}"`) && line.endsWith('}'))
    .map((line) => (JSON.parse(line) as { time: number }).time)

const historyOf = async (fxd: FxdProcess, symbol: string): Promise<History> =>
  (await fxd.get(`/v1/history?symbol=${feed}:${symbol}&resolution=1&countback=10000`)).body as History

/** Expects that history of both symbols becomes what the file says. */
async function expectStored(fxd: FxdProcess, workplace: Workplace, said: () => string): Promise<void> {
  const { t, c } = workplace.wanted
  for (const symbol of symbols) {
    let last: History = {}
    const isThere = async () => (last = await historyOf(fxd, symbol)).t?.length === t.length
    await within(deadlineMs, `${t.length} bars of ${symbol}`, isThere).catch((cause: unknown) => {
      throw new Error(`${symbol} has ${last.t?.length} bars; the example said:\n${said().slice(-2_000)}`, {
        cause,
      })
    })
    expect(last).toMatchObject({ t, c })
  }
}

test('the example collector of docs/collectors.md brings its history and live bars, and a killed connection and a killed ingest lose none', async () => {
  const fxd = await FxdProcess.start({ manifests: [manifestOf(symbols)] })
  await fxd.takeKey()
  const [host = '', port] = fxd.grpc.split(':')
  const proxy = await openTcpProxy({ host, port: Number(port) })
  onTestFinished(() => proxy.close())
  const workplace = new Workplace(fxd.token)
  workplace.append(historyMinutes)
  // No server listens at the first address: the collector takes the next one.
  const { child, said } = startCollector(workplace, `${host}:1,${host}:${proxy.port}`)
  await expectStored(fxd, workplace, said)
  expect(said().split('session lost')).toHaveLength(2)

  // Acks are lost with their connection: the bars go out again.
  proxy.set({ down: { kind: 'swallow' } })
  const before = await fxd.metric('fxd_ingest_bars_total')
  workplace.append(3)
  await within(
    deadlineMs,
    'bars without an Ack',
    async () => (await fxd.metric('fxd_ingest_bars_total')) > before,
  )
  proxy.set({})
  proxy.reset()
  workplace.append(3)
  await expectStored(fxd, workplace, said)

  // Bars are lost on their way.
  proxy.set({ up: { kind: 'hold', from: symbols[0] } })
  workplace.append(100)
  await proxy.held()
  proxy.set({})
  proxy.reset()
  await expectStored(fxd, workplace, said)

  workplace.append(200)
  await fxd.kill()
  workplace.append(5)
  await fxd.start()
  await expectStored(fxd, workplace, said)
  for (const symbol of symbols) {
    const wanted = [{ from: workplace.first, to: workplace.wanted.t.at(-1) }]
    const path = `/v1/coverage?symbol=${feed}:${symbol}`
    await expect
      .poll(async () => (await fxd.get(path)).body, { timeout: deadlineMs })
      .toMatchObject({ coverage: wanted })
  }
  expect(child.exitCode).toBeNull()
  expect(said()).not.toContain('rejected')
}, 300_000)

test('a second example collector stands by and takes over when the first one is killed', async () => {
  const fxd = await FxdProcess.start({ manifests: [manifestOf(symbols)] })
  await fxd.takeKey()
  const workplace = new Workplace(fxd.token)
  workplace.append(10)
  const first = startCollector(workplace, fxd.grpc)
  await expectStored(fxd, workplace, first.said)
  const second = startCollector(workplace, fxd.grpc)
  await expect.poll(second.said, { timeout: deadlineMs }).toContain('stands by')
  first.child.kill('SIGKILL')
  workplace.append(10)
  await expectStored(fxd, workplace, second.said)
}, 180_000)

/** A client that took the live bars of 20 minutes, behind a proxy; the first of them opened so many minutes ago. */
async function followed(minutesAgo: number) {
  const fxd = await FxdProcess.start({ manifests: [manifestOf(symbols)] })
  await fxd.takeKey()
  const workplace = new Workplace(fxd.token, minutesAgo)
  workplace.append(5)
  const collector = startCollector(workplace, fxd.grpc)
  await expectStored(fxd, workplace, collector.said)
  await expect.poll(collector.said, { timeout: deadlineMs }).toContain('following live bars')
  const { hostname: host, port } = new URL(fxd.url)
  const proxy = await openTcpProxy({ host, port: Number(port) })
  onTestFinished(() => proxy.close())
  const client = startClient(`http://${host}:${proxy.port}`, fxd.key)
  await expect.poll(client.said, { timeout: deadlineMs }).toContain('subscribed')
  const expectTaken = async (): Promise<void> => {
    const live = workplace.wanted.t.slice(5)
    for (const symbol of symbols)
      await expect.poll(() => takenBy(client, symbol), { timeout: deadlineMs }).toEqual(live)
  }
  workplace.append(20)
  await expectTaken()
  return { fxd, workplace, collector, proxy, expectTaken }
}

test('the example client of docs/api.md takes each bar once and in order across a killed fxd', async () => {
  const { fxd, workplace, expectTaken } = await followed(900)
  await fxd.kill()
  workplace.append(20)
  await fxd.start()
  await expectTaken()
  workplace.append(1)
  await expectTaken()
  expect(workplace.wanted.t).toHaveLength(46)
}, 180_000)

test('the example client of docs/api.md reads from history what lies before the reach of `since`', async () => {
  const { fxd, workplace, collector, proxy, expectTaken } = await followed(6_000)
  proxy.set({ connections: 'refuse' })
  proxy.reset()
  workplace.append(20)
  await expectStored(fxd, workplace, collector.said)
  proxy.set({})
  await expectTaken()
  expect(workplace.wanted.t).toHaveLength(45)
}, 180_000)
