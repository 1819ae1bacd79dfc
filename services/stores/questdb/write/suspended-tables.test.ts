import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import { silentLog } from '../../../platform/log/log.ts'
import { createMetrics } from '../../../platform/metrics.ts'
import type { Administration } from '../exec.ts'
import { SuspendedTables } from './suspended-tables.ts'

const resume = "ALTER TABLE 't' RESUME WAL"

/** A server whose list of suspended tables has this row for `t`. */
function fixture(row: readonly unknown[] | undefined) {
  const clock = createVirtualClock()
  const logged: string[] = []
  const admin: Pick<Administration, 'exec'> = {
    async exec(sql) {
      logged.push(sql)
      return row === undefined ? [] : [row]
    },
  }
  const options = { clock, log: silentLog, metrics: createMetrics({ ofProcess: false }) }
  const tables = new SuspendedTables(options, admin)
  return {
    resumes: () => logged.filter((sql) => sql === resume).length,
    /** Reports the suspended tables every second. */
    async pass(seconds: number, suspended: readonly string[] = ['t']) {
      for (let i = 0; i < seconds; i++) {
        tables.seen(new Set(suspended))
        await clock.advance(1_000)
      }
    },
  }
}

test('a table that the server suspended is resumed every 30 s, and not at once', async () => {
  const { pass, resumes } = fixture(['', 'bulk update failed and will be rolled back'])
  await pass(29)
  expect(resumes()).toBe(0)
  await pass(2)
  expect(resumes()).toBe(1)
  await pass(30)
  expect(resumes()).toBe(2)
})

test.each([
  ['somebody suspended it, which gives no reason', ['', '']],
  ['it is no longer suspended', undefined],
])('a table is not resumed when %s', async (_why, row) => {
  const { pass, resumes } = fixture(row)
  await pass(100)
  expect(resumes()).toBe(0)
})

test('accepting rows restarts the 30 s resume timer of a table', async () => {
  const { pass, resumes } = fixture(['DISK FULL', 'no space left'])
  await pass(20)
  await pass(1, [])
  await pass(20)
  expect(resumes()).toBe(0)
})
