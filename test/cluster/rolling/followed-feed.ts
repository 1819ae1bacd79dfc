import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Of the feed's only symbol. */
export const followedSymbol = 'BROKERB:FILES:GOLD'

/** A feed that a collector reads from a folder of exports. */
export const followed = (folder: string): string => `---
apiVersion: marketdata.fxd.dev/v1alpha1
kind: Feed
metadata: { name: brokerb-files }
spec:
  broker: BROKERB
  account: FILES
  clock: { mode: UTC }
  quoteBasis: Bid
  resolutions: ["1"]
  symbols: { list: [{ raw: GOLD, type: cfd, digits: 0 }] }
  source: { type: Mt5Csv, path: ${folder}, follow: true }
`

const header = '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\r\n'

/** Makes these minutes (their opens, UTC seconds) all that the folder holds. */
export function writeExport(folder: string, minutes: readonly number[]): void {
  writeFileSync(join(folder, 'GOLD_M1.csv'), header + minutes.map(line).join(''))
}

export function line(minute: number): string {
  const at = new Date(minute * 1_000).toISOString()
  const price = 1_000 + ((minute / 60) % 1_000)
  const prices = [price, price + 2, price - 2, price + 1].join('\t')
  return `${at.slice(0, 10).replaceAll('-', '.')}\t${at.slice(11, 19)}\t${prices}\t3\r\n`
}
