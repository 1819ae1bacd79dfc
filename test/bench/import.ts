import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../acceptance/client/command.ts'
import { printingUsage, usageIn } from '../support/processes/process-usage.ts'
import { type RunningService, startService } from '../support/processes/service-process.ts'
import { feedManifest } from '../support/samples/feed-manifest.ts'
import { writeRepeated } from '../support/samples/repeated-export.ts'

/**
 * Measures `fxd import` as a process against `fxd all` as another:
 * `bin/node test/bench/import.ts [bars [runs]]`. The rate is that of the whole command, including its start.
 */
const barsWanted = Number(process.argv[2] ?? 1_000_000)
const runs = Number(process.argv[3] ?? 3)
const derived = '5,10,15,60,120,240,1D,1W,1M'

const manifest = feedManifest({ resolutions: ['1', ...derived.split(',')], symbols: { list: [] } })

interface Measured {
  readonly perSecond: number
  readonly commandMs: number
  readonly serviceMs: number
  readonly peakMib: number
}

async function serviceCpuMs({ target }: RunningService): Promise<number> {
  const text = await (await fetch(`${target.ops}/metrics`)).text()
  return 1_000 * Number(/^fxd_process_cpu_seconds_total (\S+)/m.exec(text)?.[1])
}

async function importOnce(
  service: RunningService,
  path: string,
  symbol: string,
  more: string[],
): Promise<Measured> {
  const before = await serviceCpuMs(service)
  const begun = performance.now()
  const args = [path, '--feed', 'BROKERA:ZERO', '--symbol', symbol, '--resolution', '1', '--json', ...more]
  const { code, stdout, stderr } = await run(service.target.importer, args, 600_000)
  const seconds = (performance.now() - begun) / 1_000
  // Exit code 65: weeks and months that began before the file are left out.
  if (code !== (more.length > 0 ? 65 : 0)) throw new Error(`the import ended with ${code}: ${stderr}`)
  const { accepted, unchanged } = JSON.parse(stdout) as { accepted: number; unchanged: number }
  const cost = usageIn(stderr)
  return {
    perSecond: (accepted + unchanged) / seconds,
    commandMs: cost.cpuMs,
    serviceMs: (await serviceCpuMs(service)) - before,
    peakMib: cost.peakMib,
  }
}

function report(what: string, all: readonly Measured[], bars: number): void {
  const median = (field: keyof Measured): number =>
    all.map((each) => each[field]).sort((a, b) => a - b)[Math.floor(all.length / 2)] as number
  const perMillion = (ms: number): string => `${((ms / bars) * 1_000).toFixed(2)} s`
  console.log(
    `${what.padEnd(34)}${Math.round(median('perSecond')).toLocaleString('en').padStart(9)} bars/s` +
      `   CPU per million: command ${perMillion(median('commandMs'))}, service ${perMillion(median('serviceMs'))}` +
      `   command at most ${Math.round(median('peakMib'))} MiB`,
  )
}

const home = mkdtempSync(join(tmpdir(), 'fxd-bench-import-'))
try {
  mkdirSync(join(home, 'feeds'))
  writeFileSync(join(home, 'feeds', 'brokera-zero.yaml'), JSON.stringify(manifest))
  const [ascending, descending] = [join(home, 'ascending.csv'), join(home, 'descending.csv')]
  const { bars } = writeRepeated(ascending, barsWanted)
  writeRepeated(descending, barsWanted, (weeks) => weeks.toReversed())
  const service = await startService(home)
  // For the commands from here on, not for the service.
  Object.assign(process.env, printingUsage)
  const measure = async (what: string, path: string, name: string, more: string[] = []): Promise<void> => {
    const all: Measured[] = []
    for (let i = 0; i < runs; i++) all.push(await importOnce(service, path, `${name}${i}`, more))
    report(what, all, bars)
  }
  console.log(`${bars.toLocaleString('en')} real minutes, median of ${runs} runs`)
  await measure('into an empty series', ascending, 'S')
  await measure('the identical file again', ascending, 'S')
  await measure('newest week first, identical', descending, 'S')
  await measure('empty, nine resolutions derived', ascending, 'D', ['--derive', derived])
  await service.stop()
} finally {
  rmSync(home, { recursive: true, force: true })
}
