import { expect, onTestFinished, test } from 'vitest'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import { Unavailable } from '../../../core/failure.ts'
import { silentLog } from '../../../platform/log/log.ts'
import { createMetrics } from '../../../platform/metrics.ts'
import { administration } from '../exec.ts'
import { TableRecords } from '../layout/table-records.ts'
import { TableNames } from '../layout/tables.ts'
import { PgPool } from '../pg/pool.ts'
import { Visibility, visibleDeadlineMs } from './visibility.ts'

/** A port without a listener. */
const nowhere = { host: '127.0.0.1', port: 1 }

function fixture() {
  const clock = createVirtualClock()
  const credentials = { user: 'admin', password: 'quest' }
  const metrics = createMetrics({ ofProcess: false })
  const options = { http: nowhere, pg: nowhere, credentials, prefix: 'fxd_', clock, log: silentLog, metrics }
  const pool = new PgPool(options, { connections: 1, waiting: 1 })
  const names = new TableNames('fxd_')
  const records = new TableRecords({ names, queries: administration(options), clock, log: silentLog })
  const visibility = new Visibility({ clock, names, pool, records })
  onTestFinished(() => {
    visibility.close()
    pool.close()
  })
  return { clock, visibility }
}

test('waiting for readable rows fails at the deadline while the server is unavailable', async () => {
  const { clock, visibility } = fixture()
  const waiting = visibility.wait(['fxd_registry']).then(
    () => 'readable',
    (cause: unknown) => (cause instanceof Unavailable ? String(cause.cause) : cause),
  )
  await clock.advance(visibleDeadlineMs - 1)
  expect(await Promise.race([waiting, Promise.resolve('waits')])).toBe('waits')
  await clock.advance(1)
  expect(await waiting).toContain('not readable within')
})

test('twenty concurrent checks for suspended tables share one query', async () => {
  const { visibility } = fixture()
  const asked = await Promise.allSettled(Array.from({ length: 20 }, () => visibility.check()))
  const causes = asked.map((each): unknown => (each.status === 'rejected' ? each.reason : 'answered'))
  expect(causes[0]).toBeInstanceOf(Unavailable)
  expect(new Set(causes).size).toBe(1)
})
