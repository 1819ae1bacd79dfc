import { expect, test } from 'vitest'
import { silentLog } from '../platform/log/log.ts'
import { createMetrics } from '../platform/metrics.ts'
import type { ServerQueries } from './questdb/exec.ts'
import type { QuestdbOptions } from './questdb/options.ts'
import { serverJudge as judgeOfQuestdb } from './questdb/server/judge.ts'
import { serverJudge as judgeOfRedis } from './redis/link/server-facts.ts'

const server = { version: '7.2.0', role: 'master', run: '1' }

const seriesOf = async (metrics: ReturnType<typeof createMetrics>): Promise<readonly string[]> =>
  (await metrics.render()).text.split('\n').filter((line) => line.startsWith('fxd_'))

test('a store that has not answered yet has no series that says whether it is safe', async () => {
  const metrics = createMetrics({ ofProcess: false })
  judgeOfQuestdb({ log: silentLog, metrics } as QuestdbOptions, {} as ServerQueries)
  const judge = judgeOfRedis(silentLog, metrics)
  expect(await seriesOf(metrics)).toEqual([])
  judge({ ...server, policy: 'noeviction' })
  expect(await seriesOf(metrics)).toEqual(['fxd_redis_noeviction 1'])
  judge({ ...server, policy: 'allkeys-lru' })
  expect(await seriesOf(metrics)).toEqual(['fxd_redis_noeviction 0'])
})
