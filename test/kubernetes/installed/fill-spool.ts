import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeRecord } from '../../../services/collector/spool/record.ts'
import { batch } from '../../support/fixtures/spool-fixture.ts'

/** A number that no file of a short run reaches. The next run appends to a file with the next number. */
const file = '0000009000.spool'
const minuteSeconds = 60

/** Adds unacknowledged batches of one bar each to a spool, as an earlier run leaves them. They have `bytes` or more. */
export function fillSpool(folder: string, symbol: string, firstTime: number, bytes: number): void {
  const records: Uint8Array[] = []
  for (let length = 0; length < bytes; length += records.at(-1)?.length ?? 0) {
    const series = batch(firstTime + records.length * minuteSeconds, symbol)
    records.push(encodeRecord({ kind: 'live', utcMs: Date.now(), series }))
  }
  writeFileSync(join(folder, file), Buffer.concat(records))
}
