import { expect, onTestFinished, test } from 'vitest'
import { feedBody, zero } from '../../test/support/fixtures/stream-fixture.ts'
import { temporaryFolder } from '../../test/support/fixtures/temporary-folder.ts'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { Unavailable } from '../core/failure.ts'
import { silentLog } from '../platform/log/log.ts'
import { openEmbeddedStores } from '../stores/embedded/open.ts'
import { followRegistry } from './follow.ts'
import { createRegistryWriter } from './writer.ts'

test('a change that is stored succeeds, is visible and is notified, although the registry cannot be read after it', async () => {
  const clock = createVirtualClock()
  const folder = temporaryFolder()
  const stores = await openEmbeddedStores({ folder, clock, log: silentLog })
  onTestFinished(() => stores.close())
  let isUnavailable = false
  const store = {
    ...stores.registry,
    since: (version: number) =>
      isUnavailable ? Promise.reject(new Unavailable('registry')) : stores.registry.since(version),
  }
  const followed = followRegistry(store, stores.bus, clock, silentLog)
  await followed.refresh()
  const notified: unknown[] = []
  stores.bus.follow({ deliver: ({ event }) => void notified.push(event), lost: () => undefined })
  isUnavailable = true
  await createRegistryWriter(store, followed, stores.bus).change(() => ({
    rows: [feedBody(zero)],
    result: undefined,
  }))
  const view = followed.view()
  expect(view.versionOf(zero)).toBe(1)
  await expect.poll(() => notified).toEqual([{ type: 'registry', version: 1 }])
  const stored = (await stores.registry.since(0)).map(({ body }) => body)
  expect(view.allFeeds()).toEqual(stored)
  followed.close()
})
