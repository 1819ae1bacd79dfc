import { expect, onTestFinished, test } from 'vitest'
import { live, openRegistryFixture, zero } from '../../test/support/fixtures/registry-fixture.ts'
import { Unavailable } from '../core/failure.ts'
import { silentLog } from '../platform/log/log.ts'
import { systemClock } from '../platform/system-clock.ts'
import type { RegistryStore } from '../ports/registry.ts'
import { createRegistryWriter } from '../registry/writer.ts'
import { issueFirstKey } from './feeds.ts'

test('a first key that was stored without an answer is issued once, and its secret opens it', async () => {
  const fixture = await openRegistryFixture()
  onTestFinished(async () => {
    await fixture.stop()
    fixture.discard()
  })
  const { registry: store, bus } = fixture.stores
  let calls = 0
  const losingFirstAnswer: RegistryStore = {
    ...store,
    async append(basedOn, rows) {
      const appended = await store.append(basedOn, rows)
      calls += 1
      if (calls === 1) throw new Unavailable('registry')
      return appended
    },
  }
  const writer = createRegistryWriter(losingFirstAnswer, fixture.registry, bus)
  const secret = await issueFirstKey(writer, [zero, live], { clock: systemClock, log: silentLog })
  const ids = fixture.registry
    .view()
    .keys.all()
    .map(({ id }) => id)
  expect(ids).toEqual([fixture.opens(secret)])
})
