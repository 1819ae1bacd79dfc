import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bar } from '../../../services/core/bars/bar.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { feedKey } from '../../../services/core/feeds/compound-key.ts'

export const followedFeed = feedKey('BROKERB', 'FILES')

/** The manifest of a feed that a collector reads from a folder of exports, one file per symbol. */
export const followed = (folder: string, symbols: readonly string[]): string => `---
apiVersion: marketdata.fxd.dev/v1alpha1
kind: Feed
metadata: { name: brokerb-files }
spec:
  broker: BROKERB
  account: FILES
  clock: { mode: UTC }
  quoteBasis: Bid
  resolutions: ["1"]
  symbols: { list: [${symbols.map((raw) => `{ raw: ${raw}, type: cfd, digits: 0 }`).join(', ')}] }
  source: { type: Mt5Csv, path: ${folder}, follow: true }
`

const header = '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\r\n'
const fileOf = (folder: string, symbol: string): string => join(folder, `${symbol}_M1.csv`)

/** Writes the export of a symbol with these minutes (open times in UTC seconds). */
export const writeExport = (folder: string, symbol: string, minutes: readonly number[]): void =>
  writeFileSync(fileOf(folder, symbol), header + minutes.map(line).join(''))

/** Appends a closed minute to the export of a symbol. */
export const appendExport = (folder: string, symbol: string, minute: number): void =>
  appendFileSync(fileOf(folder, symbol), line(minute))

/** The bar that the export has for a minute. */
export function exportedBar(minute: number): Bar {
  const price = 1_000 + ((minute / 60) % 1_000)
  const prices = { open: price, high: price + 2, low: price - 2, close: price + 1 }
  return { time: feedSeconds(minute), ...prices, volume: 3 }
}

function line(minute: number): string {
  const at = new Date(minute * 1_000).toISOString()
  const { open, high, low, close, volume } = exportedBar(minute)
  const numbers = [open, high, low, close, volume].join('\t')
  return `${at.slice(0, 10).replaceAll('-', '.')}\t${at.slice(11, 19)}\t${numbers}\r\n`
}
