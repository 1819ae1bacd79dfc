import { serviceReader } from '../../core/fair-queue.ts'
import type { UsageDays } from '../../ports/usage-days.ts'
import type { FileWriter } from './threads/file-writer.ts'
import type { Readers } from './threads/readers.ts'

/** Uses the table of the limits' own counters, which is pruned every day and already contains them. */
export function embeddedUsageDays(writer: FileWriter, readers: Readers): UsageDays {
  return {
    async add(days) {
      if (days.length === 0) return
      await writer.call('addUsage', days, 'backfill')
    },
    async of(keyId, first, last) {
      const rows = await readers.call('usage', { keyId, first, last }, serviceReader(keyId))
      return new Map(rows.map(({ day, counters }) => [day, counters]))
    },
  }
}
