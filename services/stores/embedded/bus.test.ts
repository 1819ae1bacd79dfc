import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { feedKey } from '../../core/feeds/compound-key.ts'
import { silentLog } from '../../platform/log/log.ts'
import { embeddedBus } from './bus.ts'

test('events are handled once all followers have done their work', async () => {
  const bus = embeddedBus(createVirtualClock(), silentLog)
  const works = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  for (const { promise } of works) bus.follow({ deliver: () => promise, lost: () => expect.unreachable() })
  await bus.handled?.()
  await bus.publish({ type: 'settled', feed: feedKey('BROKERA', 'ZERO') }, 1)
  let handled = 0
  void bus.handled?.().then(() => (handled += 1))
  for (const { resolve } of works) {
    await new Promise<void>((passed) => void setImmediate(passed))
    expect(handled).toBe(0)
    resolve()
  }
  await expect.poll(() => handled).toBe(1)
})
