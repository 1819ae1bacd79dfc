import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bitcoinMinutes, dailyText, exportText, fold, googleDays } from './bars.ts'
import { run } from './command.ts'
import type { Target } from './target.ts'
import { until } from './until.ts'

const exported = (name: string): string => fileURLToPath(new URL(`../../data/${name}`, import.meta.url))

/** Exit code of an import that left out derived bars which began before the file. */
const partly = 65

/** The real exports that are imported; those of the terminal feed are followed files. */
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

/** The clock of the terminal is about eleven years behind: later bars do not exist yet. */
const lastGoogleDay = Date.UTC(2015, 9, 1) / 1000

const writeFollowed = (target: Target, folder: string, file: string, text: string): void => {
  const path = join(target.input, folder, file)
  mkdirSync(join(target.input, folder), { recursive: true })
  const draft = join(target.input, `${folder}-${file}.draft`)
  writeFileSync(draft, text)
  renameSync(draft, path)
}

const feed = 'BROKERC:TADIL'
/** Waits until the service has read the followed files and history has all of their bars. */
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

/** Exit code of an import whose store was unavailable or busy; importing the file again completes it. */
const unavailable = 69
const triesMax = 3

const importOne = async (importer: string, args: readonly string[], wanted: number): Promise<void> => {
  for (let tries = 1; ; tries++) {
    const { code, stdout, stderr } = await run(importer, args, 120_000)
    if (code === wanted) return
    if (code !== unavailable || tries === triesMax)
      throw new Error(`an import failed (${code}): ${stdout}${stderr}`)
  }
}

/** Imports and writes all test data; repeating it changes nothing. */
export const seed = async (target: Target): Promise<void> => {
  const hours = fold(bitcoinMinutes(), 3600)
  const days = googleDays().filter((day) => day.time < lastGoogleDay)
  writeFollowed(target, 'brokerc-tadil', 'BTCUSD_H1.csv', exportText(hours))
  writeFollowed(target, 'brokerc-tadil', 'GOOGL_D1.csv', dailyText(days))
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
