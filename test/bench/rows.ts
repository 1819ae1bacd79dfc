/**
 * Compares `format: "rows"` with single frames: a whole feed of 1,622 symbols closes in one burst. The stream runs in this
 * process, its clients in others: one in Node, one in Python. Formats and clients take turns, so that all have the same machine.
 * Run: bin/node test/bench/rows.ts [sockets = 1 [bursts = 100]]
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { feedSeconds } from '../../services/core/clocks/feed-clock.ts'
import { compoundKey } from '../../services/core/feeds/compound-key.ts'
import type { LiveBar } from '../../services/ports/bus.ts'
import { ForeignProcess, python } from '../interop/foreign-process.ts'
import { zero } from '../support/fixtures/stream-fixture.ts'
import { startBenchStream } from './support/bench-stream.ts'
import { count, machine, printTable, quantile } from './support/figures.ts'
import type { RowsOrder, RowsReport } from './support/rows-client.ts'

const sockets = Number(process.argv[2] ?? 1)
const bursts = Number(process.argv[3] ?? 100)
const warmUps = 20
const symbols = Array.from({ length: 1_622 }, (_, n) =>
  compoundKey(zero, `T${String(n).padStart(4, '0')}_CFD.US`),
)

/** Bars of one burst over all sockets. */
const bars = sockets * symbols.length

const minuteOf = (minute: number): LiveBar[] =>
  symbols.map((symbol, n) => ({
    symbol,
    resolution: '1',
    bar: {
      time: feedSeconds(1_767_600_000 + minute * 60),
      open: 187 + ((n + minute) % 89) / 100,
      high: 188.11,
      low: 186.11,
      close: 187 + ((n * 7 + minute) % 89) / 100,
      volume: 100 + ((n + minute) % 900),
      revision: 1,
    },
  }))

interface Client {
  /** Resolves with the next message of the client. */
  next(): Promise<RowsReport>
  end(): void
}

async function inNode(order: RowsOrder): Promise<Client> {
  const child = fork(fileURLToPath(new URL('./support/rows-client.ts', import.meta.url)))
  child.send(order)
  await once(child, 'message')
  const next = async (): Promise<RowsReport> => ((await once(child, 'message')) as [RowsReport])[0]
  return { next, end: () => void child.kill() }
}

async function inPython(order: RowsOrder): Promise<Client> {
  const script = '../bench/support/rows_client.py'
  const program = new ForeignProcess(python('requirements-client.txt'), script, [JSON.stringify(order)])
  await program.next('the sockets to be open', ({ ready }) => ready === true)
  const next = async (): Promise<RowsReport> =>
    (await program.next('a burst', ({ cpuUs }) => cpuUs !== undefined)) as unknown as RowsReport
  return { next, end: () => program.kill() }
}

async function open(start: (order: RowsOrder) => Promise<Client>, format?: 'rows') {
  const stream = await startBenchStream(symbols)
  const url = `ws://127.0.0.1:${stream.port}${stream.path}`
  const client = await start({ url, sockets, feed: zero, ...(format && { format }), bars })
  const figures = { shardUs: [] as number[], clientUs: [] as number[], bytes: [] as number[] }
  return {
    figures,
    async burst(minute: number): Promise<void> {
      const closed = minuteOf(minute)
      const reported = client.next()
      const cpu = process.cpuUsage()
      stream.burst(closed)
      const report = await reported
      const { user, system } = process.cpuUsage(cpu)
      if (minute < warmUps) return
      figures.shardUs.push(user + system)
      figures.clientUs.push(report.cpuUs)
      figures.bytes.push(report.bytes)
    },
    async close(): Promise<void> {
      client.end()
      await stream.close()
    },
  }
}

const node = { single: await open(inNode), rows: await open(inNode, 'rows') }
const inPythonFormats = { single: await open(inPython), rows: await open(inPython, 'rows') }
const all = [node.single, node.rows, inPythonFormats.single, inPythonFormats.rows]
for (let minute = 0; minute < warmUps + bursts; minute++) for (const each of all) await each.burst(minute)
await Promise.all(all.map((each) => each.close()))

const median = (values: readonly number[]): number => quantile(values, 0.5)
type Name = 'shardUs' | 'clientUs' | 'bytes'
const line = (
  what: string,
  { single, rows }: typeof node,
  name: Name,
  goal: { text: string; most: number },
) => {
  const [a, b] = [median(single.figures[name]) / bars, median(rows.figures[name]) / bars]
  const unit = name === 'bytes' ? 'B' : 'µs'
  const verdict = b / a <= goal.most ? 'met' : 'missed'
  return [what, `${a.toFixed(2)} ${unit}`, `${b.toFixed(2)} ${unit}`, (b / a).toFixed(2), goal.text, verdict]
}
const less = { text: 'less than 1', most: 1 - Number.EPSILON }
console.log(
  `${machine()}; ${sockets} sockets × ${count(symbols.length)} symbols, medians of ${bursts} bursts`,
)
printTable(
  ['for each bar', 'single frames', 'rows', 'ratio', 'goal', ''],
  [
    line('CPU of the shard', node, 'shardUs', less),
    line('CPU of a client in Node that parses', node, 'clientUs', { text: '≤ 1/2', most: 1 / 2 }),
    line('the same in Python', inPythonFormats, 'clientUs', { text: '≤ 1/3', most: 1 / 3 }),
    line('bytes', node, 'bytes', less),
  ],
)
