import { describe, expect, onTestFinished, test } from 'vitest'
import { feedBody, symbolBody, zero } from '../../test/support/fixtures/stream-fixture.ts'
import { temporaryFolder } from '../../test/support/fixtures/temporary-folder.ts'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { Unavailable } from '../core/failure.ts'
import type { RegistryView } from '../core/registry/registry.ts'
import { silentLog } from '../platform/log/log.ts'
import type { RegistryBody, RegistryStore } from '../ports/registry.ts'
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

describe('a change of 4,500 symbols', () => {
  async function writerOf(onAppend: (rows: readonly RegistryBody[], store: RegistryStore) => Promise<void>) {
    const clock = createVirtualClock()
    const stores = await openEmbeddedStores({ folder: temporaryFolder(), clock, log: silentLog })
    onTestFinished(() => stores.close())
    const { registry } = stores
    const store: RegistryStore = {
      since: (version) => registry.since(version),
      async append(basedOn, rows) {
        await onAppend(rows, registry)
        return registry.append(basedOn, rows)
      },
    }
    const followed = followRegistry(store, stores.bus, clock, silentLog)
    onTestFinished(() => followed.close())
    await followed.refresh()
    return { followed, writer: createRegistryWriter(store, followed, stores.bus) }
  }
  const names = Array.from({ length: 4_500 }, (_, i) => `NAME${i}`)
  const missing = (view: RegistryView) =>
    names.map((name) => symbolBody(zero, name)).filter(({ id }) => view.versionOf(id) === 0)

  test('is stored in parts of at most 2,000 rows', async () => {
    const parts: number[] = []
    const { writer, followed } = await writerOf(async (rows) => void parts.push(rows.length))
    await writer.change((view) => ({ rows: missing(view), result: undefined }))
    expect(parts).toEqual([2_000, 2_000, 500])
    expect(followed.view().symbolCount(zero)).toBe(names.length)
  })

  test('is stored whole if it also changes a feed', async () => {
    const parts: number[] = []
    const { writer } = await writerOf(async (rows) => void parts.push(rows.length))
    await writer.change((view) => ({ rows: [feedBody(zero), ...missing(view)], result: undefined }))
    expect(parts).toEqual([names.length + 1])
  })

  test('is decided again for the rest if another writer changes the registry between two parts', async () => {
    const parts: number[] = []
    const { writer, followed } = await writerOf(async (rows, store) => {
      parts.push(rows.length)
      if (parts.length === 2) await store.append(2_000, [feedBody(zero)])
    })
    await writer.change((view) => ({ rows: missing(view), result: undefined }))
    expect(parts).toEqual([2_000, 2_000, 2_000, 500])
    expect(followed.view().symbolCount(zero)).toBe(names.length)
    expect(followed.view().feed(zero)).toBeDefined()
  })
})
