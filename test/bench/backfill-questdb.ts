/**
 * Measures how fast a collector fills QuestDB with simulated history, by this release and by the earlier one. Both
 * run as processes of a cluster, one after the other, in pairs; QuestDB commits with `sync`.
 * Run: bin/node test/bench/backfill-questdb.ts [pairs = 3]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../services/platform/system-clock.ts'
import { type Cluster, questdbOfCluster, startCluster } from '../support/cluster/cluster.ts'
import { earlierRelease } from '../support/processes/earlier-release.ts'
import { feedManifest } from '../support/samples/feed-manifest.ts'
import { cpuMs } from './minute/cpu-time.ts'
import { monotonicMs } from './minute/monotonic.ts'
import { metricOf } from './support/bench-feed.ts'
import { count, machine, printTable, quantile } from './support/figures.ts'

const [pairs = 3] = process.argv.slice(2).map(Number)
const symbols = 50
const depthDays = 365
const warmUpMs = 5_000
const measuredMs = 20_000
const releases = { earlier: earlierRelease(), this: fileURLToPath(new URL('../..', import.meta.url)) }
type Release = keyof typeof releases

interface Rate {
  readonly barsPerSecond: number
  /** Processor time per bar, by process, in microseconds. */
  readonly cpuUs: ReadonlyMap<string, number>
}

const list = Array.from({ length: symbols }, (_, n) => ({
  raw: `SYM${n}`,
  type: 'crypto',
  digits: 2,
  session: '24x7',
}))
const manifest = feedManifest({
  depth: { '1': `${depthDays}d` },
  symbols: { list },
  source: { type: 'Simulator' },
})

/** Bars that ingest accepted so far, and the processor time of each process, in milliseconds. */
async function sample({ pods, questdb, pod }: Cluster) {
  const bars = await metricOf(
    { target: { ops: `http://127.0.0.1:${pod('ingest-1').opsPort}` } },
    'fxd_ingest_bars_total',
  )
  const cpu = Object.fromEntries(pods.map(({ role, program }) => [role, cpuMs(program.pid)]))
  return { at: monotonicMs(), bars, cpu: { ...cpu, questdb: cpuMs(questdb.pid) } as Record<string, number> }
}

async function fill(release: Release, feeds: string): Promise<Rate> {
  const cluster = await startCluster({
    rest: 1,
    stream: 0,
    ingest: 1,
    feeds,
    questdb: questdbOfCluster,
    code: () => releases[release],
  })
  try {
    while ((await sample(cluster)).bars === 0) await systemClock.sleep(100)
    await systemClock.sleep(warmUpMs)
    const before = await sample(cluster)
    await systemClock.sleep(measuredMs)
    const after = await sample(cluster)
    const bars = after.bars - before.bars
    const cpuUs = new Map(
      Object.entries(after.cpu).map(([name, used]) => [
        name,
        ((used - (before.cpu[name] ?? 0)) * 1_000) / bars,
      ]),
    )
    return { barsPerSecond: (bars * 1_000) / (after.at - before.at), cpuUs }
  } finally {
    await cluster.stop()
  }
}

console.log(`${machine()}; ${symbols} symbols, one collector, ${measuredMs / 1_000} s each`)
const folder = mkdtempSync(join(tmpdir(), 'fxd-bench-'))
try {
  const feeds = join(folder, 'feeds.yaml')
  writeFileSync(feeds, JSON.stringify(manifest))
  const rates: Record<Release, Rate[]> = { earlier: [], this: [] }
  for (let pair = 0; pair < pairs; pair++)
    for (const release of ['earlier', 'this'] as const) rates[release].push(await fill(release, feeds))
  const median = (of: readonly Rate[], value: (rate: Rate) => number): number => quantile(of.map(value), 0.5)
  const names = ['collector', 'ingest', 'questdb']
  printTable(
    ['release', 'bars/s, median', 'each', ...names.map((name) => `CPU of ${name}`)],
    Object.entries(rates).map(([release, of]) => [
      release,
      count(median(of, ({ barsPerSecond }) => barsPerSecond)),
      of.map(({ barsPerSecond }) => count(barsPerSecond)).join(' '),
      ...names.map((name) => `${median(of, ({ cpuUs }) => cpuUs.get(name) ?? Number.NaN).toFixed(2)} us/bar`),
    ]),
  )
  const rateOf = (release: Release): number => median(rates[release], ({ barsPerSecond }) => barsPerSecond)
  console.log(`this / earlier: ${(rateOf('this') / rateOf('earlier')).toFixed(2)} (goal ≥ 1.5)`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
