import { expect, test } from 'vitest'
import { WrongServer } from '../../../core/failure.ts'
import { silentLog } from '../../../platform/log/log.ts'
import { createMetrics } from '../../../platform/metrics.ts'
import { factsOf, serverJudge } from './server-facts.ts'

const info = (version: string, policy = 'noeviction'): string =>
  [
    '# Server',
    `redis_version:${version}`,
    'run_id:abc',
    '# Memory',
    `maxmemory_policy:${policy}`,
    'role:master',
    '',
  ].join('\r\n')
const judge = () => serverJudge(silentLog, createMetrics({ ofProcess: false }))

test.each(['6.2.14', '5.0.3', '2.8.24'])(
  'Redis %s is too old, and the answer names what is wanted',
  (version) => {
    const message = `Redis ${version} is too old: install 7 or a newer one.`
    expect(() => judge()(factsOf(info(version)))).toThrow(new WrongServer(message))
  },
)

test.each(['7.0.15', '7.2.4', '8.0.0', '10.1.2'])('Redis %s is new enough', (version) => {
  expect(() => judge()(factsOf(info(version)))).not.toThrow()
})

test('a server that evicts keys is rejected at the start, and only logged after a failover', async () => {
  const loose = factsOf(info('7.2.4', 'allkeys-lru'))
  expect(() => judge()(loose)).toThrow(WrongServer)
  const metrics = createMetrics({ ofProcess: false })
  const later = serverJudge(silentLog, metrics)
  later(factsOf(info('7.2.4')))
  expect(() => later(loose)).not.toThrow()
  expect(await metrics.total('fxd_redis_noeviction', {})).toBe(0)
})
