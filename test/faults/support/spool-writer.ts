/**
 * Writes to a spool until it is killed: `bin/node test/faults/support/spool-writer.ts <folder> <first>`.
 * Prints `kept <n>` once batch n is on the disk, and `gone <n>` before it removes the batch as acknowledged.
 */
import { writeSync } from 'node:fs'
import { openDiskFolder } from '../../../services/collector/spool/disk-folder.ts'
import { openSpool } from '../../../services/collector/spool/spool.ts'
import { barsOf } from '../../../services/core/bars/bar.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { silentLog } from '../../../services/platform/log/log.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { encodeSeriesBars } from '../../../services/wire/encode-bars.ts'
import { spoolBounds } from '../../support/fixtures/spool-bounds.ts'

const [path = '', first = '1'] = process.argv.slice(2)
const inFlightMax = 40
const batchesAtOnce = 3

// Synchronous, so that a line is written before the next step even if this process is killed.
const print = (line: string): void => void writeSync(1, `${line}\n`)

const folder = await openDiskFolder(path)
const spool = await openSpool({
  folder,
  clock: systemClock,
  log: silentLog,
  ...spoolBounds,
  bytesMax: 1_048_576,
})
const inFlight: { readonly id: number; readonly number: number }[] = []
for (let number = Number(first); ; ) {
  const group = Array.from({ length: batchesAtOnce }, () => {
    const time = feedSeconds(60 * number)
    const bars = barsOf([{ time, open: 1, high: 1, low: 1, close: 1, volume: 1, revision: number }])
    const series = { symbol: 'EURUSD', resolution: '1' as const, first: time, last: time, count: 1 }
    const encoded = encodeSeriesBars({ ...series, scale: 5 }, bars)
    return { ...spool.append('live', [{ ...series, encoded }]), number: number++ }
  })
  for (const each of group) {
    await each.kept
    print(`kept ${each.number}`)
    inFlight.push(each)
  }
  const acked = inFlight.splice(
    0,
    number % 7 === 0 ? inFlight.length : Math.max(0, inFlight.length - inFlightMax),
  )
  for (const each of acked) {
    print(`gone ${each.number}`)
    spool.remove(each.id)
  }
}
