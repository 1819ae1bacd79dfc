/**
 * Compares `format: "rows"` with single frames: a whole feed of 1,622 symbols closes in one burst. The stream runs in this
 * process, its clients in another one. The formats take turns, so that both have the same machine.
 * Run: bin/node test/bench/rows.ts [sockets = 1 [bursts = 100]]
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { feedSeconds } from '../../services/core/clocks/feed-clock.ts'
import { compoundKey } from '../../services/core/feeds/compound-key.ts'
import type { LiveBar } from '../../services/ports/bus.ts'
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

async function open(format?: 'rows') {
  const stream = await startBenchStream(symbols)
  const url = `ws://127.0.0.1:${stream.port}${stream.path}`
  const order: RowsOrder = {
    url,
    sockets,
    feed: zero,
    ...(format && { format }),
    bars: sockets * symbols.length,
  }
  const clients = fork(fileURLToPath(new URL('./support/rows-client.ts', import.meta.url)))
  clients.send(order)
  await once(clients, 'message')
  const figures = { shardUs: [] as number[], clientUs: [] as number[], bytes: [] as number[] }
  return {
    figures,
    async burst(minute: number): Promise<void> {
      const bars = minuteOf(minute)
      const reported = once(clients, 'message') as Promise<[RowsReport]>
      const cpu = process.cpuUsage()
      stream.burst(bars)
      const [report] = await reported
      const { user, system } = process.cpuUsage(cpu)
      if (minute < warmUps) return
      figures.shardUs.push(user + system)
      figures.clientUs.push(report.cpuUs)
      figures.bytes.push(report.bytes)
    },
    async close(): Promise<void> {
      clients.kill()
      await stream.close()
    },
  }
}

const single = await open()
const rows = await open('rows')
for (let minute = 0; minute < warmUps + bursts; minute++) {
  await single.burst(minute)
  await rows.burst(minute)
}
await Promise.all([single.close(), rows.close()])

const bars = sockets * symbols.length
const median = (values: readonly number[]): number => quantile(values, 0.5)
const line = (what: string, name: 'shardUs' | 'clientUs' | 'bytes', unit: string, digits: number) => {
  const [a, b] = [median(single.figures[name]) / bars, median(rows.figures[name]) / bars]
  return [what, `${a.toFixed(digits)} ${unit}`, `${b.toFixed(digits)} ${unit}`, (b / a).toFixed(2)]
}
console.log(
  `${machine()}; ${sockets} sockets × ${count(symbols.length)} symbols, medians of ${bursts} bursts`,
)
printTable(
  ['for each bar', 'single frames', 'rows', 'ratio'],
  [
    line('CPU of the shard', 'shardUs', 'µs', 2),
    line('CPU of a client that parses', 'clientUs', 'µs', 2),
    line('bytes', 'bytes', 'B', 1),
  ],
)
