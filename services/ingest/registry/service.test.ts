import { type ServiceError, status } from '@grpc/grpc-js'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  openRegistryFixture,
  type RegistryFixture,
  serveRegistry,
} from '../../../test/support/fixtures/registry-fixture.ts'
import { silentLog } from '../../platform/log/log.ts'
import { followRegistry } from '../../registry/follow.ts'
import { openEmbeddedStores } from '../../stores/embedded/open.ts'

let fixture: RegistryFixture
beforeAll(async () => {
  fixture = await openRegistryFixture()
})
afterAll(() => fixture.remove())

test('an unavailable store is answered with UNAVAILABLE, never with an empty answer', async () => {
  const unloaded = followRegistry(fixture.stores.registry, fixture.stores.bus, fixture.clock, silentLog)
  const service = await serveRegistry(fixture.stores, unloaded, fixture.clock)
  const error = await service.call('ListKeys', {}).catch((cause: ServiceError) => cause)
  service.close()
  unloaded.close()
  expect(error).toMatchObject({ code: status.UNAVAILABLE })
})

const randomText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    '__proto__',
    'constructor',
    'BROKERA:ZERO',
    'pro',
    'enterprise',
    '2026-02-30',
    'never',
    '::1/129',
  ),
)
const randomCount = fc.oneof(fc.nat(), fc.constantFrom(0, 1, 2 ** 31, 2 ** 32 - 1))
const randomLimits = fc.record(
  { rpm: randomCount, rpd: randomCount, wsConnections: randomCount, wsSymbols: randomCount },
  { requiredKeys: [] },
)
const randomTexts = fc.array(randomText, { maxLength: 5 })
const randomKey = fc.record(
  {
    name: randomText,
    plan: randomText,
    feeds: randomTexts,
    limits: randomLimits,
    allowIps: randomTexts,
    expires: randomText,
  },
  { requiredKeys: [] },
)

test('no random request causes a defect, or leaves a key that breaks the rules', async () => {
  const { key } = await fixture.create()
  const id = key?.id ?? ''
  const sound = /^(INVALID_ARGUMENT|NOT_FOUND|FAILED_PRECONDITION|ABORTED)$/
  const outcome = (answer: Promise<unknown>): Promise<string> =>
    answer.then(
      () => 'OK',
      (error: ServiceError) => status[error.code] ?? '',
    )
  await fc.assert(
    fc.asyncProperty(randomKey, randomText, randomCount, async (random, text, count) => {
      const { feeds, allowIps, ...rest } = random
      const change = {
        ...rest,
        ...(feeds && { feeds: { values: feeds } }),
        ...(allowIps && { allowIps: { values: allowIps } }),
      }
      const outcomes = await Promise.all([
        outcome(fixture.call('CreateKey', random)),
        outcome(fixture.call('UpdateKey', { id, basedOn: count, ...change })),
        outcome(fixture.call('RotateKey', { id: text, basedOn: count, overlapMs: count })),
        outcome(fixture.call('RevokeKey', { id: text })),
        outcome(fixture.call('GetKey', { id: text })),
        outcome(fixture.call('GetFeed', { key: text, afterSymbol: text })),
        outcome(fixture.call('ListKeys', { after: text })),
        outcome(fixture.call('PurgeFeed', { key: text })),
      ])
      for (const each of outcomes) expect(each).toMatch(each === 'OK' ? /OK/ : sound)
    }),
  )
  for (const each of fixture.registry.view().keys.all()) {
    expect(each.feeds.length).toBeGreaterThan(0)
    expect(each.limits.rpm).toBeGreaterThan(0)
  }
})

test('keys survive a restart, and revoked keys stay revoked', async () => {
  const own = await openRegistryFixture()
  const kept = await own.create({ expires: '2027-01-31' })
  const gone = await own.create()
  await own.call('RevokeKey', { id: gone.key?.id ?? '' })
  await own.stop()
  const { folder, clock } = own
  const stores = await openEmbeddedStores({ folder, clock, log: silentLog })
  const again = followRegistry(stores.registry, stores.bus, clock, silentLog)
  await again.refresh()
  const keys = again.view().keys.all()
  again.close()
  await stores.close()
  own.discard()
  expect(keys).toMatchObject([
    { id: kept.key?.id, revoked: false, expiresAt: Date.UTC(2027, 1, 1), feeds: ['BROKERA:ZERO'] },
    { id: gone.key?.id, revoked: true },
  ])
})
