import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { parseConfig } from '../config.ts'
import { silentLog } from '../log/log.ts'
import { runProcess } from './process-context.ts'

test('the metrics of every process name its version', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  const overrides = { clock: createVirtualClock(), log: silentLog }
  const { metrics, lifecycle } = await runProcess(parseConfig({}), overrides, async (context) => context)
  const { text } = await metrics.render()
  await lifecycle.stop()
  expect(text).toContain(`fxd_build_info{version="${version}"} 1`)
})
