import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bitcoinMinutes, dailyText, exportText, fold, googleDays } from './bars.ts'
import { run } from './command.ts'
import type { Target } from './target.ts'
import { until } from './until.ts'

const exported = (name: string): string => fileURLToPath(new URL(`../../data/${name}`, import.meta.url))

/** What an import ends with that left out derived bars which began before the file. */
const partly = 65

/** The real exports, each by the way a user has: imports for most, followed files for the terminal feed. */
const imports = [
  [
    exported('BTCUSD_M1_201311.csv'),
    ['--feed', 'BROKERA:ZERO', '--symbol', 'BTCUSD', '--resolution', '1'],
    ['--derive', '5,10,15,60,120,240,1D,1W,1M'],
    partly,
  ],
  [
    exported('EURUSD_H1_2017.csv'),
    ['--feed', 'BROKERA:ZERO', '--symbol', 'EURUSD', '--resolution', '60'],
    [],
    0,
  ],
  [
    exported('GOOGL_D1.csv'),
    ['--feed', 'BROKERB:LIVE', '--symbol', 'GOOGL_CFD.US', '--resolution', '1D'],
    [],
    0,
  ],
] as const

/** The terminal's clock stands about eleven years back: what lies after it is not yet there. */
const lastGoogleDay = Date.UTC(2015, 9, 1) / 1000

const lay = (target: Target, folder: string, file: string, text: string): void => {
  const path = join(target.input, folder, file)
  mkdirSync(join(target.input, folder), { recursive: true })
  const draft = join(target.input, `${folder}-${file}.draft`)
  writeFileSync(draft, text)
  renameSync(draft, path)
}

const feed = 'BROKERC:TADIL'
/** The followed files are read when the service gets to them: waits until what they hold is there. */
const awaitFollowed = async (target: Target, wanted: Readonly<Record<string, number>>): Promise<void> => {
  const limits = ['--plan', 'enterprise', '--rpm', '100000', '--rpd', '100000', '--ws-connections', '1']
  const made = await run(target.issuer, ['create', ...limits, '--ws-symbols', '1', '--feeds', feed, '--json'])
  if (made.code !== 0) throw new Error(`no key was issued (${made.code}): ${made.stderr}`)
  const { key } = JSON.parse(made.stdout) as { key: string }
  for (const [series, count] of Object.entries(wanted)) {
    await until(`${count} bars of ${series}`, async () => {
      const url = `${target.url}/v1/history?symbol=${feed}:${series}&countback=10000`
      const answer = await fetch(url, { headers: { 'X-API-Key': key } })
      return ((await answer.json()) as { meta?: { bar_count: number } }).meta?.bar_count === count
    })
  }
}

/** The importer's word for a store that is away, or too busy for now: the file again does the rest. */
const tryAgain = 69
const triesMax = 3

const importOne = async (importer: string, args: readonly string[], wanted: number): Promise<void> => {
  for (let tries = 1; ; tries++) {
    const { code, stdout, stderr } = await run(importer, args, 120_000)
    if (code === wanted) return
    if (code !== tryAgain || tries === triesMax)
      throw new Error(`an import failed (${code}): ${stdout}${stderr}`)
  }
}

/** Repeatable: the same bars again change nothing. */
export const seed = async (target: Target): Promise<void> => {
  const hours = fold(bitcoinMinutes(), 3600)
  const days = googleDays().filter((day) => day.time < lastGoogleDay)
  lay(target, 'brokerc-tadil', 'BTCUSD_H1.csv', exportText(hours))
  lay(target, 'brokerc-tadil', 'GOOGL_D1.csv', dailyText(days))
  await Promise.all(
    imports.map(([file, series, more, code]) =>
      importOne(target.importer, [file, ...series, ...more, '--json'], code),
    ),
  )
  await awaitFollowed(target, {
    'BTCUSD&resolution=60': hours.length,
    'GOOGL&resolution=1D': days.length,
  })
}
