import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bitcoinMinutes, dailyText, exportText, fold, googleDays } from './bars.ts'
import { run } from './command.ts'
import type { Target } from './target.ts'

const exported = (name: string): string => fileURLToPath(new URL(`../../data/${name}`, import.meta.url))

/** The real exports, each by the way a user has: imports for most, followed files for the terminal feed. */
const imports = [
  [
    exported('BTCUSD_M1_201311.csv'),
    ['--feed', 'BROKERA:ZERO', '--symbol', 'BTCUSD', '--resolution', '1'],
    ['--derive', '5,10,15,60,120,240,1D,1W,1M'],
  ],
  [
    exported('EURUSD_H1_2017.csv'),
    ['--feed', 'BROKERA:ZERO', '--symbol', 'EURUSD', '--resolution', '60'],
    [],
  ],
  [
    exported('GOOGL_D1.csv'),
    ['--feed', 'BROKERB:LIVE', '--symbol', 'GOOGL_CFD.US', '--resolution', '1D'],
    [],
  ],
] as const

/** The terminal's clock stands about eleven years back: what lies after it is not yet there. */
const lastGoogleDay = Date.UTC(2015, 9, 1) / 1000

const lay = (target: Target, folder: string, file: string, text: string): void => {
  const path = join(target.input, folder, file)
  mkdirSync(join(target.input, folder), { recursive: true })
  writeFileSync(`${path}.part`, text)
  renameSync(`${path}.part`, path)
}

/** Repeatable: the same bars again change nothing. */
export const seed = async (target: Target): Promise<void> => {
  lay(target, 'brokerc-tadil', 'BTCUSD_H1.csv', exportText(fold(bitcoinMinutes(), 3600)))
  lay(
    target,
    'brokerc-tadil',
    'GOOGL_D1.csv',
    dailyText(googleDays().filter((day) => day.time < lastGoogleDay)),
  )
  const outcomes = await Promise.all(
    imports.map(([file, series, more]) =>
      run(target.importer, [file, ...series, ...more, '--json'], 120_000),
    ),
  )
  for (const { code, stdout, stderr } of outcomes) {
    if (code !== 0) throw new Error(`an import failed (${code}): ${stdout}${stderr}`)
  }
}
