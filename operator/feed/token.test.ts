import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLog } from '../../services/platform/log/log.ts'
import { systemClock } from '../../services/platform/system-clock.ts'
import { RawSession } from '../../test/support/clients/raw-session.ts'
import {
  type IngestFixture,
  openIngestFixture,
  testToken,
} from '../../test/support/fixtures/ingest-fixture.ts'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import type { FeedObject, Secret } from '../kube/resources.ts'
import { Registry } from '../registry.ts'
import { FeedController } from './controller.ts'

const feed: FeedObject = {
  metadata: { name: 'zero', uid: 'u', generation: 1 },
  spec: {
    broker: 'BROKERA',
    account: 'ZERO',
    clock: { mode: 'UTC' },
    quoteBasis: 'Bid',
    resolutions: ['1'],
    symbols: { list: [{ raw: 'EURUSD', type: 'forex', digits: 5 }] },
    source: { type: 'Push' },
  },
}
/** Tokens have whole seconds; gRPC uses the machine's clock. */
const clock = createVirtualClock({ start: Date.now() })
const key = (letter: string): string => letter.repeat(32)

let signingKeys = [key('k')]
let stored: Secret | undefined
let fixture: IngestFixture
let registry: Registry
let controller: FeedController
beforeAll(async () => {
  fixture = await openIngestFixture([], { clock, signingKeys: () => signingKeys })
  registry = new Registry({
    addresses: [fixture.address],
    identity: () => ({ token: testToken }),
    clock: systemClock,
    beforeWrite: () => undefined,
  })
  const deps = {
    api: {
      get: async () => stored,
      apply: async (_: unknown, object: Secret) => {
        stored = object
      },
      applyStatus: async () => undefined,
    },
    caches: {
      feeds: { all: () => [feed], get: () => feed },
      secrets: { get: (name: string) => (stored?.metadata.name === name ? stored : undefined) },
      configmaps: { get: () => undefined },
      statefulsets: { get: () => undefined },
      services: { get: () => undefined },
    },
    registry,
    events: { record: () => undefined },
    clock,
    log: silentLog,
    held: () => 0,
    template: undefined,
    registered: () => undefined,
  }
  controller = new FeedController(deps as never)
})
afterAll(() => {
  registry.close()
  return fixture.remove()
})

/** Reconciles the feed a second later, so that another token differs. Returns the token in its Secret. */
async function reconciled(): Promise<string> {
  await clock.advance(1_000)
  await controller.reconcile(feed.metadata.name)
  return Buffer.from(stored?.data?.['token'] ?? '', 'base64')
    .toString()
    .trim()
}

async function swept(): Promise<string> {
  await registry.feeds.refresh()
  return reconciled()
}

test('a token is renewed once ingest does not accept its signing key, and not while it does', async () => {
  const first = await swept()
  signingKeys = [key('l'), key('k')]
  expect(await swept()).toBe(first)
  signingKeys = [key('l')]
  const next = await swept()
  expect(next).not.toBe(first)
  const session = new RawSession(fixture.address, { token: next })
  await session.hello('BROKERA:ZERO')
  await session.close()
  expect(await swept()).toBe(next)
})

test('a token of a key that is newer than the list of feeds is not renewed again', async () => {
  await swept()
  signingKeys = [key('m')]
  stored = undefined
  const made = await reconciled()
  expect(await reconciled()).toBe(made)
})
