import { dateText, parseDate } from '../../core/clocks/calendar.ts'
import { serviceReader } from '../../core/fair-queue.ts'
import { counterNames, type DailyCounters, type Day, greaterCounters } from '../../core/keys/usage.ts'
import type { UsageDays } from '../../ports/usage-days.ts'
import { writeDeadlineMs } from '../write-queue/submission.ts'
import { Fields } from './pg/fields.ts'
import type { RegistryDeps } from './registry.ts'
import { microsOf, secondsOf, timeMax, timeMin } from './times.ts'
import { RowEncoder } from './write/rows.ts'

type UsageDayDeps = Pick<RegistryDeps, 'records' | 'table' | 'pool' | 'writer' | 'sender'>

export function questdbUsageDays({ table, records, pool, writer, sender }: UsageDayDeps): UsageDays {
  const sql =
    `SELECT ts::long, ${counterNames.join(', ')} FROM '${table}' ` +
    'WHERE key = $1 AND ts >= $2::long::timestamp AND ts <= $3::long::timestamp'
  return {
    async add(days) {
      const encoder = new RowEncoder(sender)
      for (const { keyId, day, counters } of days) {
        const seconds = secondsOfDay(day)
        encoder.add(table, (row) => {
          row.symbol('key', keyId)
          for (const name of counterNames) row.intColumn(name, counters[name])
          row.at(seconds * 1_000_000, 'us')
        })
      }
      await writer.write(encoder.pieces(), { lane: 'backfill', deadlineMs: writeDeadlineMs })
    },
    async of(keyId, first, last) {
      records.refuse(table)
      const found = new Map<Day, DailyCounters>()
      const range = [first, last].map((day) =>
        microsOf(Math.min(timeMax, Math.max(timeMin, secondsOfDay(day)))),
      )
      await pool.read(
        { sql, parameterSets: [[keyId, ...range]] },
        () => {
          found.clear()
          return (view, start) => {
            const fields = new Fields(view, start)
            const day = dateText(secondsOf(fields.long()))
            const counters = Object.fromEntries(
              counterNames.map((name) => [name, fields.long()]),
            ) as DailyCounters
            const before = found.get(day)
            found.set(day, before === undefined ? counters : greaterCounters(before, counters))
          }
        },
        { reader: serviceReader(keyId) },
      )
      return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
    },
  }
}

function secondsOfDay(day: Day): number {
  const seconds = parseDate(day)
  if (seconds === undefined) throw new RangeError(`A day of usage is "${day}"; it must be YYYY-MM-DD.`)
  return seconds
}
