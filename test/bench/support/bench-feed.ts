import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allocateBars, type Bars, barCount, sliceBars } from '../../../services/core/bars/bar.ts'
import { compoundKey, feedKey } from '../../../services/core/feeds/compound-key.ts'
import { silentLog } from '../../../services/platform/log/log.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { openEmbeddedStores } from '../../../services/stores/embedded/open.ts'
import { run } from '../../acceptance/client/command.ts'
import type { Target } from '../../acceptance/client/target.ts'
import type { RunningService } from '../../support/processes/service-process.ts'
import { feedManifest } from '../../support/samples/feed-manifest.ts'

/** The feed of a bench: a Push feed in UTC. */
export const feed = feedKey('BROKERA', 'ZERO')
export const keyOf = (name: string) => compoundKey(feed, name)
export const digits = 5

const barsPerWrite = 5_000
const writesAtOnce = 4

/** Makes a data folder for one service whose feed lists these symbols (at most 200); `spec` adds fields. */
export function makeBenchHome(names: readonly string[], spec: Readonly<Record<string, unknown>> = {}) {
  const list = names.map((raw) => ({ raw, type: 'forex', digits, session: '24x7' }))
  const manifest = feedManifest({ resolutions: ['1', '30'], symbols: { list }, ...spec })
  const home = mkdtempSync(join(tmpdir(), 'fxd-bench-'))
  mkdirSync(join(home, 'feeds'))
  writeFileSync(join(home, 'feeds', 'brokera-zero.yaml'), JSON.stringify(manifest))
  return { home, manifest, discard: () => rmSync(home, { recursive: true, force: true }) }
}

/** Issues a key with limits that no bench reaches. */
export async function issueBenchKey(
  { target }: { readonly target: Pick<Target, 'issuer'> },
  feeds: readonly string[] = [feed],
): Promise<string> {
  const limits = ['--rpm', '1000000', '--rpd', '10000000', '--ws-connections', '10000', '--ws-symbols', '500']
  const args = ['create', '--plan', 'enterprise', '--feeds', feeds.join(','), ...limits, '--json']
  const { code, stdout, stderr } = await run(target.issuer, args)
  if (code !== 0) throw new Error(`no key was issued (${code}): ${stderr}`)
  return (JSON.parse(stdout) as { key: string }).key
}

/** The value of a metric of the service, summed over its labels. */
export async function metricOf(
  { target }: { readonly target: Pick<Target, 'ops'> },
  name: string,
): Promise<number> {
  const text = await (await fetch(`${target.ops}/metrics`)).text()
  const lines = text
    .split('\n')
    .filter((line) => line.startsWith(name) && /^[ {]/.test(line.slice(name.length)))
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}

export const residentMb = async (service: RunningService): Promise<number> =>
  (await metricOf(service, 'fxd_process_resident_memory_bytes')) / 2 ** 20

/** A random walk of this many minutes without a gap, equal in each run. It ends before the current hour. */
export function walkMinutes(minutes: number): Bars {
  const bars = allocateBars(minutes)
  const end = Math.floor(Date.now() / 3_600_000) * 3_600
  let seed = 1
  const draw = (below: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  let points = 110_000
  for (let i = 0; i < minutes; i++) {
    const open = points
    points = Math.max(1_000, open + draw(41) - 20)
    bars.time[i] = end - (minutes - i) * 60
    bars.open[i] = open / 1e5
    bars.close[i] = points / 1e5
    bars.high[i] = (Math.max(open, points) + draw(15)) / 1e5
    bars.low[i] = (Math.min(open, points) - draw(15)) / 1e5
    bars.volume[i] = 1 + draw(500)
    bars.revision[i] = 1
  }
  return bars
}

/** Stores the same minutes for each symbol through the port of the store, before a service opens the folder. */
export async function storeMinutes(home: string, names: readonly string[], bars: Bars): Promise<void> {
  const stores = await openEmbeddedStores({ folder: join(home, 'data'), clock: systemClock, log: silentLog })
  const pieces = names.flatMap((name) =>
    Array.from({ length: Math.ceil(barCount(bars) / barsPerWrite) }, (_, i) => ({
      series: { feed, symbol: keyOf(name), resolution: '1' as const },
      start: i * barsPerWrite,
    })),
  )
  const work = pieces.values()
  const writer = async (): Promise<void> => {
    for (const { series, start } of work) {
      const end = Math.min(barCount(bars), start + barsPerWrite)
      await stores.bars.write([{ series, bars: sliceBars(bars, start, end) }], 'backfill')
    }
  }
  await Promise.all(Array.from({ length: writesAtOnce }, writer))
  await stores.close()
}
