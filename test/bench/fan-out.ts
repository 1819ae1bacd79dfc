/**
 * Measures the burst at the end of a minute: all symbols close at once, and every socket gets its 200 of 500.
 * Compares our stream in one run with `ws.send(JSON.stringify(bar))` per bar and socket.
 * Run: bin/node test/bench/fan-out.ts [sockets …]
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { availableParallelism, cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type WebSocket, WebSocketServer } from 'ws'
import { feedSeconds } from '../../services/core/clocks/feed-clock.ts'
import { compoundKey } from '../../services/core/feeds/compound-key.ts'
import type { LiveBar } from '../../services/ports/bus.ts'
import { zero } from '../support/fixtures/stream-fixture.ts'
import { startBenchStream } from './support/bench-stream.ts'
import type { BurstReport, ClientOrder } from './support/fan-out-client.ts'

const symbolCount = 500
const perSocket = 200
const burstCount = { ours: 25, naive: 15 }
const warmUps = 3

const symbols = Array.from({ length: symbolCount }, (_, n) =>
  compoundKey(zero, `T${String(n).padStart(4, '0')}_CFD.US`),
)

/** Two decimals without a trailing zero. */
const cents = Array.from({ length: 89 }, (_, n) => n + 11).filter((n) => n % 10 !== 0)
const price = (n: number): number => Number(`187.${cents[n % cents.length]}`)

/** Bars whose texts have the same length, so that the number of bytes gives the number of messages. */
const minuteOf = (minute: number): LiveBar[] =>
  symbols.map((symbol, n) => ({
    symbol,
    resolution: '1',
    bar: {
      time: feedSeconds(1_767_600_000 + minute * 60),
      open: price(n + minute),
      high: 188.11,
      low: 186.11,
      close: price(n * 7 + minute),
      volume: 100 + ((n + minute) % 900),
      revision: 1,
    },
  }))

const messageOf = ({ symbol, bar }: LiveBar): string => {
  const { time, open, high, low, close, volume } = bar
  return JSON.stringify({ type: 'bar', symbol, bar: { time, open, high, low, close, volume } })
}
const frameHeaderBytes = 4
const messageBytes = frameHeaderBytes + messageOf(minuteOf(0)[0] as LiveBar).length

interface Contender {
  readonly name: string
  readonly port: number
  readonly path: string
  burst(bars: readonly LiveBar[]): void
  close(): Promise<void>
}

async function ours(): Promise<Contender> {
  return { name: 'fxd stream', ...(await startBenchStream(symbols)) }
}

/** The simple solution: a set of sockets per symbol, and one `send` per bar and socket. */
async function naive(): Promise<Contender> {
  const subscribers = new Map<string, Set<WebSocket>>()
  const server = createServer()
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket) => {
    socket.on('message', (data) => {
      const { symbols: wanted } = JSON.parse(String(data)) as { symbols: string[] }
      for (const symbol of wanted) {
        const set = subscribers.get(symbol) ?? new Set()
        subscribers.set(symbol, set.add(socket))
      }
      socket.send(JSON.stringify({ type: 'subscribed', symbols: wanted, rejected: [] }))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    name: 'ws.send(JSON.stringify)',
    port: (server.address() as AddressInfo).port,
    path: '/',
    burst(bars) {
      for (const live of bars)
        for (const socket of subscribers.get(live.symbol) ?? []) socket.send(messageOf(live))
    },
    async close() {
      for (const socket of sockets.clients) socket.terminate()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Whether server and clients are pinned to one core each. */
const pinned = availableParallelism() > 1 && pin(process.pid, 0)
function pin(pid: number, core: number): boolean {
  try {
    execFileSync('taskset', ['-acp', String(core), String(pid)], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

async function startClients(order: ClientOrder): Promise<ChildProcess> {
  const file = fileURLToPath(new URL('./support/fan-out-client.ts', import.meta.url))
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  if (pinned && child.pid !== undefined) pin(child.pid, 1)
  child.send(order)
  await once(child, 'message')
  return child
}

const collectGarbage = ((): (() => void) => {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
})()

interface Figures {
  readonly last: number[]
  readonly p50: number[]
  readonly p99: number[]
  readonly cpu: number[]
}

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6

async function burst(
  contender: Contender,
  child: ChildProcess,
  minute: number,
  messages: number,
  into: Figures,
) {
  const bars = minuteOf(minute)
  const reported = once(child, 'message') as Promise<[BurstReport]>
  const cpu = process.cpuUsage()
  const start = nowMs()
  contender.burst(bars)
  const [report] = await reported
  const { user, system } = process.cpuUsage(cpu)
  into.last.push(report.last - start)
  into.p50.push(report.p50 - start)
  into.p99.push(report.p99 - start)
  into.cpu.push((user + system) / messages)
  // Idle, as between minutes.
  await new Promise((resolve) => setTimeout(resolve, 100))
}

const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * q)] ?? Number.NaN
const shown = (value: number, digits = 1): string => value.toFixed(digits).padStart(9)

async function measure(open: () => Promise<Contender>, sockets: number, bursts: number): Promise<void> {
  const contender = await open()
  collectGarbage()
  const before = process.memoryUsage()
  const { port, path } = contender
  const child = await startClients({ port, path, sockets, perSocket, symbols, messageBytes })
  collectGarbage()
  const after = process.memoryUsage()
  const messages = sockets * perSocket
  const figures: Figures = { last: [], p50: [], p99: [], cpu: [] }
  const warm: Figures = { last: [], p50: [], p99: [], cpu: [] }
  for (let i = 0; i < warmUps; i++) await burst(contender, child, i, messages, warm)
  for (let i = 0; i < bursts; i++) await burst(contender, child, warmUps + i, messages, figures)
  child.kill()
  await contender.close()
  const heap = (after.heapUsed + after.external - before.heapUsed - before.external) / sockets / 1000
  console.log(
    `${String(sockets).padStart(7)}  ${contender.name.padEnd(24)}${shown(quantile(figures.last, 0.5))}` +
      `${shown(quantile(figures.last, 0))}${shown(quantile(figures.p50, 0.5))}${shown(quantile(figures.p99, 0.5))}` +
      `${shown(quantile(figures.cpu, 0.5), 3)}${shown(heap)}`,
  )
}

const wanted = process.argv.slice(2).map(Number)
console.log(
  `Node ${process.version}, ${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, ` +
    `${pinned ? 'server and clients on a core each' : 'not pinned'}; ${perSocket} of ${symbolCount} symbols a socket, ` +
    `medians of ${burstCount.ours} and ${burstCount.naive} bursts; times in ms from the arrival of the bars`,
)
console.log(
  'sockets  how                     last byte      min      p50      p99  CPU s/M  heap kB a socket',
)
for (const sockets of wanted.length > 0 ? wanted : [500, 1_000]) {
  await measure(ours, sockets, burstCount.ours)
  await measure(naive, sockets, burstCount.naive)
}
