import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import { silentLog } from '../../../platform/log/log.ts'
import { createMetrics } from '../../../platform/metrics.ts'
import type { Administration } from '../exec.ts'
import { exportMemoryMaps } from './memory-maps.ts'

test('a minute after the start the metrics have the partitions, their bytes, the memory maps they need and the limit', async () => {
  const admin: Administration = {
    exec: async (sql) => {
      if (sql.includes('SHOW PARAMETERS')) return [['cairo.commit.mode', 'sync']]
      if (sql.includes('all_tables()')) return [['a'], ['b']]
      return [
        ['a', 100, 4_096],
        ['b', 20, 1_000],
      ]
    },
    warnings: async () => [{ tag: 'OUT OF MMAP AREAS', warning: 'too low [current=65530, recommended=9]' }],
    ping: async () => undefined,
  }
  const [clock, metrics] = [createVirtualClock(), createMetrics({ ofProcess: false })]
  const stop = exportMemoryMaps({ clock, metrics, log: silentLog }, admin)
  await clock.advance(60_000)
  const { text } = await metrics.render()
  expect(text).toContain('fxd_questdb_partitions 120')
  expect(text).toContain('fxd_questdb_disk_bytes 5096')
  expect(text).toContain(`fxd_questdb_memory_maps_needed ${2 * 54 + 120 * 11}`)
  expect(text).toContain('fxd_questdb_memory_maps_limit 65530')
  stop()
})
