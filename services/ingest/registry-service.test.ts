import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { credentials, Server, ServerCredentials, type ServiceError, status } from '@grpc/grpc-js'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createVirtualClock } from '../../test/support/virtual-clock.ts'
import { authenticate } from '../access/authenticate.ts'
import { type AnswerOf, type RegistryCall, type RequestOf, unary } from '../cli/registry-client.ts'
import { barsOf } from '../core/bar.ts'
import { compoundKey } from '../core/compound-key.ts'
import type { FeedDefinition } from '../core/feed.ts'
import { feedSeconds } from '../core/feed-clock.ts'
import { parseManifest } from '../core/manifest.ts'
import { followRegistry } from '../platform/follow-registry.ts'
import { silentLog } from '../platform/log.ts'
import type { Stores } from '../ports/stores.ts'
import { openEmbeddedStores } from '../stores/embedded/open.ts'
import type { CreateKeyRequest } from '../wire/fxd/v1/CreateKeyRequest.ts'
import { channelOptions } from '../wire/limits.ts'
import { Registry } from '../wire/load.ts'
import { applyFeeds } from './apply-feeds.ts'
import { registryService } from './registry-service.ts'
import { createRegistryWriter } from './registry-writer.ts'

const definitionOf = (broker: string, account: string, symbols: readonly string[] = []): FeedDefinition => {
  const parsed = parseManifest({
    apiVersion: 'marketdata.fxd.dev/v1alpha1',
    kind: 'Feed',
    metadata: { name: `${broker}-${account}`.toLowerCase() },
    spec: {
      broker,
      account,
      clock: { mode: 'UTC' },
      quoteBasis: 'Bid',
      resolutions: ['1', '60'],
      symbols: { list: symbols.map((raw) => ({ raw, type: 'forex', digits: 5 })) },
      source: { type: 'Push' },
    },
  })
  if ('faults' in parsed) throw new Error(JSON.stringify(parsed.faults))
  return parsed.definition
}

const zero = definitionOf('BROKERA', 'ZERO', ['EURUSD', 'GBPUSD'])
const live = definitionOf('BROKERB', 'LIVE', ['EURUSD'])
const day = 86_400_000

async function start() {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-registry-'))
  const clock = createVirtualClock({ start: Date.UTC(2026, 10, 21, 12) })
  const stores: Stores = await openEmbeddedStores({ folder, clock, log: silentLog })
  const registry = followRegistry(stores.registry, stores.bus, clock, silentLog)
  await registry.refresh()
  const writer = createRegistryWriter(stores.registry, registry, stores.bus)
  await applyFeeds(writer, [zero, live])
  const server = new Server(channelOptions)
  server.addService(Registry.service, registryService({ ...stores, writer, registry, clock, log: silentLog }))
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    )
  })
  const client = new Registry(`127.0.0.1:${port}`, credentials.createInsecure(), channelOptions)
  return {
    folder,
    clock,
    /** Another after the restart. */
    stores,
    registry,
    writer,
    client,
    async stop() {
      client.close()
      server.forceShutdown()
      registry.close()
      await this.stores.close()
      rmSync(folder, { recursive: true })
    },
  }
}

let house: Awaited<ReturnType<typeof start>>
beforeAll(async () => {
  house = await start()
})
afterAll(() => house.stop())
beforeEach(async () => {
  await applyFeeds(house.writer, [zero, live])
})

const call = <Name extends RegistryCall>(name: Name, request: RequestOf<Name>): Promise<AnswerOf<Name>> =>
  unary(house.client, name, request)

/** How a call is refused: its status and sentence. */
async function refusal<Name extends RegistryCall>(
  name: Name,
  request: RequestOf<Name>,
): Promise<[string, string]> {
  const error: ServiceError = await call(name, request).then(
    () => expect.unreachable(`${name} was accepted`),
    (cause: ServiceError) => cause,
  )
  return [status[error.code] ?? '', error.details]
}

const create = async (request: CreateKeyRequest = {}) => {
  await house.clock.advance(1)
  return call('CreateKey', { plan: 'pro', feeds: ['BROKERA:ZERO'], ...request })
}

const opens = (secret: string): string | undefined => {
  try {
    return authenticate(
      { credential: secret, address: '192.0.2.1' },
      house.registry.view(),
      house.clock.utcMs(),
    ).id
  } catch {
    return undefined
  }
}

describe('creating a key', () => {
  test('gives the secret this once, in the documented form, and the plan its starting values', async () => {
    const { key, secret } = await create({ name: 'charts' })
    expect(secret).toMatch(/^fxd_[0-9a-f]{32}$/)
    expect(key).toMatchObject({
      name: 'charts',
      prefix: secret.slice(0, 8),
      plan: 'pro',
      limits: { rpm: 600, rpd: 250_000, wsConnections: 30, wsSymbols: 500 },
      feeds: ['BROKERA:ZERO'],
      allowIps: [],
      state: 'active',
      createdAt: house.clock.utcMs(),
    })
    expect(key?.id).toMatch(/^k_[0-9a-f]{10}$/)
    expect(key).not.toHaveProperty('expiresAt')
    expect(opens(secret)).toBe(key?.id)
    expect(JSON.stringify(await call('GetKey', { id: key?.id ?? '' }))).not.toContain(secret)
  })

  test('keeps nothing of the secret but its SHA-256', async () => {
    const { secret } = await create()
    const files = readdirSync(house.folder).map((name) => readFileSync(join(house.folder, name)))
    expect(files.length).toBeGreaterThan(0)
    expect(files.some((file) => file.includes(secret))).toBe(false)
  })

  test('takes own limits over the plan’s and requires all four of enterprise', async () => {
    const { key } = await create({ plan: 'basic', limits: { rpm: 7, wsSymbols: 0 } })
    expect(key?.limits).toMatchObject({ rpm: 7, rpd: 10_000, wsConnections: 2, wsSymbols: 0 })
    expect(await refusal('CreateKey', { plan: 'enterprise', feeds: [zero.key], limits: { rpm: 1 } })).toEqual(
      ['INVALID_ARGUMENT', expect.stringMatching(/rpd, ws_connections, ws_symbols.*all four/)],
    )
    const limits = { rpm: 1, rpd: 2, wsConnections: 3, wsSymbols: 4 }
    expect((await create({ plan: 'enterprise', limits })).key?.limits).toMatchObject(limits)
  })

  test('an expiry date means the end of that UTC day, an instant itself', async () => {
    expect((await create({ expires: '2027-01-31' })).key?.expiresAt).toBe(Date.UTC(2027, 1, 1))
    expect((await create({ expires: '2027-01-31T12:00:00+03:00' })).key?.expiresAt).toBe(
      Date.UTC(2027, 0, 31, 9),
    )
  })

  test('an expired key is shown as expired and opens no door', async () => {
    const { key, secret } = await create({
      expires: new Date(house.clock.utcMs()).toISOString().slice(0, 10),
    })
    expect(opens(secret)).toBe(key?.id)
    await house.clock.advance(day)
    expect(opens(secret)).toBeUndefined()
    expect((await call('GetKey', { id: key?.id ?? '' })).state).toBe('expired')
  })

  test.each<[CreateKeyRequest, RegExp]>([
    [{ plan: '' }, /plan: got "", wanted one of basic, standard, pro, enterprise/],
    [{ plan: 'prro' }, /did you mean pro\?/],
    [{ feeds: [] }, /feeds: got none, wanted at least one of BROKERA:ZERO, BROKERB:LIVE/],
    [{ feeds: ['BROKERA:ZER0'] }, /feeds: got "BROKERA:ZER0".*did you mean BROKERA:ZERO\?/],
    [{ feeds: ['brokerb:live'] }, /did you mean BROKERB:LIVE\?/],
    [{ feeds: ['NOBODY:AT:ALL'] }, /there are BROKERA:ZERO, BROKERB:LIVE/],
    [{ feeds: ['__proto__'] }, /"__proto__"/],
    [{ limits: { rpm: 0 } }, /limits: rpm: got number 0, wanted a whole number/],
    [{ allowIps: ['10.0.0.0/33'] }, /allow_ips: got "10.0.0.0\/33", wanted an address or a CIDR block/],
    [{ allowIps: ['example.com'] }, /allow_ips: got "example.com"/],
    [{ expires: 'tomorrow' }, /expires: got "tomorrow", wanted a date/],
    [{ expires: '2027-02-30' }, /expires: got "2027-02-30"/],
    [{ name: 'x'.repeat(129) }, /name: got .*at most 128/],
    [{ name: 'a\nb' }, /name: got "a\\nb"/],
  ])('%j is refused with what it got and what it wants', async (request, sentence) => {
    const { version } = house.registry.view()
    expect(await refusal('CreateKey', { plan: 'pro', feeds: [zero.key], ...request })).toEqual([
      'INVALID_ARGUMENT',
      expect.stringMatching(sentence),
    ])
    expect(house.registry.view().version).toBe(version)
  })

  test('feeds and addresses given twice count once', async () => {
    const { key } = await create({
      feeds: ['BROKERA:ZERO', 'BROKERA:ZERO'],
      allowIps: ['10.0.0.0/8', '2001:db8::1', '10.0.0.0/8'],
    })
    expect(key?.feeds).toEqual(['BROKERA:ZERO'])
    expect(key?.allowIps).toEqual(['10.0.0.0/8', '2001:db8::1'])
  })
})

describe('changing a key', () => {
  test('leaves everything that is not given as it was', async () => {
    const { key } = await create({
      name: 'a',
      limits: { rpm: 7 },
      allowIps: ['10.0.0.1'],
      expires: '2027-01-31',
    })
    const id = key?.id ?? ''
    const updated = await call('UpdateKey', { id, name: 'b' })
    expect(updated).toEqual({ ...key, name: 'b', version: updated.version })
    expect(updated.version).toBeGreaterThan(key?.version ?? 0)
  })

  test('gives feeds, addresses and limits in place of the old ones, and can take lists and expiry away', async () => {
    const { key } = await create({
      limits: { rpm: 7, rpd: 8 },
      allowIps: ['10.0.0.1'],
      expires: '2027-01-31',
    })
    const updated = await call('UpdateKey', {
      id: key?.id ?? '',
      feeds: { values: ['BROKERB:LIVE'] },
      allowIps: { values: [] },
      limits: { rpm: 9 },
      expires: 'never',
    })
    expect(updated).toMatchObject({ feeds: ['BROKERB:LIVE'], allowIps: [], limits: { rpm: 9, rpd: 8 } })
    expect(updated).not.toHaveProperty('expiresAt')
  })

  test('another plan brings its own starting values', async () => {
    const { key } = await create({ limits: { rpm: 7 } })
    const id = key?.id ?? ''
    expect(await call('UpdateKey', { id, plan: 'pro', limits: { rpd: 9 } })).toMatchObject({
      limits: { rpm: 7, rpd: 9 },
    })
    expect(await call('UpdateKey', { id, plan: 'basic' })).toMatchObject({ limits: { rpm: 30, rpd: 10_000 } })
    expect(await refusal('UpdateKey', { id, plan: 'enterprise' })).toMatchObject(['INVALID_ARGUMENT', /.*/])
  })

  test('a grant of a feed that is hidden meanwhile may stay, a new one is refused', async () => {
    const { key } = await create({ feeds: ['BROKERA:ZERO', 'BROKERB:LIVE'] })
    const other = await create()
    await applyFeeds(house.writer, [zero])
    const feeds = { values: ['BROKERB:LIVE'] }
    expect(await call('UpdateKey', { id: key?.id ?? '', feeds })).toMatchObject({ feeds: ['BROKERB:LIVE'] })
    expect((await refusal('UpdateKey', { id: other.key?.id ?? '', feeds }))[0]).toBe('INVALID_ARGUMENT')
  })

  test('a change based on an older version is ABORTED, on the present one accepted', async () => {
    const { key } = await create()
    const id = key?.id ?? ''
    const based = { id, basedOn: key?.version ?? 0 }
    const second = await call('UpdateKey', { ...based, name: 'first' })
    expect((await refusal('UpdateKey', { ...based, name: 'second' }))[0]).toBe('ABORTED')
    expect((await refusal('RotateKey', based))[0]).toBe('ABORTED')
    expect(await call('UpdateKey', { id, basedOn: second.version, name: 'third' })).toMatchObject({
      name: 'third',
    })
  })

  test('of changes at the same moment none is lost', async () => {
    const { key } = await create()
    const id = key?.id ?? ''
    const before = house.registry.view().keys().length
    await Promise.all([
      call('UpdateKey', { id, name: 'new name' }),
      call('UpdateKey', { id, limits: { rpm: 5 } }),
      call('UpdateKey', { id, limits: { rpd: 6 } }),
      call('UpdateKey', { id, allowIps: { values: ['10.0.0.1'] } }),
      ...Array.from({ length: 10 }, () => create()),
    ])
    expect(await call('GetKey', { id })).toMatchObject({
      name: 'new name',
      limits: { rpm: 5, rpd: 6 },
      allowIps: ['10.0.0.1'],
    })
    expect(house.registry.view().keys()).toHaveLength(before + 10)
  })

  test.each(['GetKey', 'UpdateKey', 'RotateKey', 'RevokeKey'] as const)(
    '%s of an unknown id is NOT_FOUND with the id it might have meant',
    async (name) => {
      const { key } = await create()
      const id = `${key?.id.slice(0, -1)}x`
      expect(await refusal(name, { id })).toEqual([
        'NOT_FOUND',
        expect.stringContaining(`did you mean ${key?.id}?`),
      ])
    },
  )
})

describe('rotating a key', () => {
  test('without overlap the old secret is shut at once; id, limits and grants stay', async () => {
    const { key, secret } = await create({ name: 'a', limits: { rpm: 7 } })
    const rotated = await call('RotateKey', { id: key?.id ?? '' })
    expect(rotated.secret).toMatch(/^fxd_[0-9a-f]{32}$/)
    expect(rotated.secret).not.toBe(secret)
    expect(rotated.key).toEqual({
      ...key,
      prefix: rotated.secret.slice(0, 8),
      version: rotated.key?.version,
    })
    expect([opens(secret), opens(rotated.secret)]).toEqual([undefined, key?.id])
  })

  test('with overlap both secrets open until it ends', async () => {
    const { key, secret } = await create()
    const rotated = await call('RotateKey', { id: key?.id ?? '', overlapMs: 3_600_000 })
    expect(rotated.key?.oldSecretUntil).toBe(house.clock.utcMs() + 3_600_000)
    await house.clock.advance(3_599_999)
    expect([opens(secret), opens(rotated.secret)]).toEqual([key?.id, key?.id])
    await house.clock.advance(1)
    expect([opens(secret), opens(rotated.secret)]).toEqual([undefined, key?.id])
    expect(await call('GetKey', { id: key?.id ?? '' })).not.toHaveProperty('oldSecretUntil')
  })

  test('an earlier overlap keeps its own end, and their number is bounded', async () => {
    const { key, secret } = await create()
    const id = key?.id ?? ''
    await call('RotateKey', { id, overlapMs: 1_000 })
    for (let i = 0; i < 3; i += 1) await call('RotateKey', { id, overlapMs: day })
    await house.clock.advance(999)
    expect(opens(secret)).toBe(id)
    expect((await refusal('RotateKey', { id, overlapMs: day }))[0]).toBe('FAILED_PRECONDITION')
    await house.clock.advance(1)
    expect(opens(secret)).toBeUndefined()
    await call('RotateKey', { id, overlapMs: day })
  })

  test('an overlap beyond its bound is refused', async () => {
    const { key } = await create()
    expect(await refusal('RotateKey', { id: key?.id ?? '', overlapMs: 91 * day })).toEqual([
      'INVALID_ARGUMENT',
      expect.stringContaining('90d'),
    ])
  })
})

describe('revoking a key', () => {
  test('is final: no secret opens, nothing can be changed, and saying it again is harmless', async () => {
    const { key, secret } = await create()
    const id = key?.id ?? ''
    const revoked = await call('RevokeKey', { id })
    expect(revoked.state).toBe('inactive')
    expect(opens(secret)).toBeUndefined()
    expect(await call('RevokeKey', { id })).toEqual(revoked)
    expect(await refusal('UpdateKey', { id, name: 'again' })).toEqual([
      'FAILED_PRECONDITION',
      expect.stringContaining('revoked'),
    ])
    expect((await refusal('RotateKey', { id }))[0]).toBe('FAILED_PRECONDITION')
    expect(await call('GetKey', { id })).toEqual(revoked)
  })
})

describe('listing keys', () => {
  test('comes oldest first in pages that fit a message, without any secret', async () => {
    const allowIps = Array.from(
      { length: 200 },
      (_, i) => `2001:db8:1111:2222:3333:4444:5555:${i.toString(16)}`,
    )
    const issued = []
    for (let i = 0; i < 40; i += 1) {
      issued.push(await create({ name: `key ${i}`, allowIps }))
    }
    const listed: AnswerOf<'GetKey'>[] = []
    let pages = 0
    for (let after = ''; pages === 0 || after !== ''; pages += 1) {
      const { keys, next } = await call('ListKeys', { after })
      listed.push(...keys)
      after = next
    }
    expect(pages).toBeGreaterThan(1)
    expect(listed.slice(-issued.length)).toEqual(issued.map(({ key }) => key))
    expect(listed).toHaveLength(house.registry.view().keys().length)
    expect(issued.some(({ secret }) => JSON.stringify(listed).includes(secret))).toBe(false)
  })
})

describe('feeds', () => {
  const eurusd = compoundKey(zero.key, 'EURUSD')

  async function storeBar(minutesAgo: number): Promise<number> {
    const time = feedSeconds(Math.floor(house.clock.utcMs() / 60_000) * 60 - minutesAgo * 60)
    const bars = barsOf([{ time, open: 1, high: 1, low: 1, close: 1, volume: 1, revision: 1 }])
    const series = { feed: zero.key, symbol: eurusd, resolution: '1' as const }
    await house.stores.bars.write([{ series, bars }], 'backfill')
    await house.stores.windows.add([
      { feed: zero.key, symbol: eurusd, resolution: '1', from: time, to: feedSeconds(time + 60) },
    ])
    return time
  }

  test('are listed with their status, hidden ones too', async () => {
    const time = await storeBar(2)
    await applyFeeds(house.writer, [zero])
    const { feeds } = await call('ListFeeds', {})
    expect(feeds).toEqual([
      expect.objectContaining({
        key: 'BROKERA:ZERO',
        hidden: false,
        symbolCount: 2,
        status: 'live',
        livenessSource: 'candle',
        lastBarTime: time,
        source: 'Push',
      }),
      expect.objectContaining({
        key: 'BROKERB:LIVE',
        hidden: true,
        status: 'offline',
        livenessSource: 'none',
      }),
    ])
  })

  test('one is shown with its symbols and its definition in the manifest’s words', async () => {
    const feed = await call('GetFeed', { key: zero.key })
    expect(feed.symbols).toEqual(['BROKERA:ZERO:EURUSD', 'BROKERA:ZERO:GBPUSD'])
    expect(parseManifest(JSON.parse(feed.definitionJson))).toEqual({ definition: zero })
  })

  test('an unknown one is NOT_FOUND with the one it might have meant', async () => {
    expect(await refusal('GetFeed', { key: 'BROKERA:ZER' })).toEqual([
      'NOT_FOUND',
      expect.stringContaining('did you mean BROKERA:ZERO?'),
    ])
  })

  test('purging removes bars and windows of a feed that no manifest names, and of no other', async () => {
    await storeBar(2)
    expect((await refusal('PurgeFeed', { key: zero.key }))[0]).toBe('FAILED_PRECONDITION')
    expect((await house.stores.bars.lastTimes(zero.key)).size).toBe(1)
    await applyFeeds(house.writer, [live])
    expect(await call('PurgeFeed', { key: zero.key })).toEqual({ series: 1 })
    expect((await house.stores.bars.lastTimes(zero.key)).size).toBe(0)
    expect(await house.stores.windows.of(zero.key)).toEqual([])
    expect(await call('PurgeFeed', { key: zero.key })).toEqual({ series: 0 })
    expect((await refusal('PurgeFeed', { key: 'BROKERX:NONE' }))[0]).toBe('NOT_FOUND')
  })
})

test('a store that is away is UNAVAILABLE, never an empty answer', async () => {
  const fresh = followRegistry(house.stores.registry, house.stores.bus, house.clock, silentLog)
  const service = registryService({
    ...house.stores,
    writer: house.writer,
    registry: fresh,
    clock: house.clock,
    log: silentLog,
  })
  const server = new Server(channelOptions)
  server.addService(Registry.service, service)
  const port = await new Promise<number>((resolve) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (_error, bound) => resolve(bound))
  })
  const client = new Registry(`127.0.0.1:${port}`, credentials.createInsecure())
  const error = await new Promise<ServiceError | null>((resolve) =>
    client.ListKeys({}, (cause) => resolve(cause)),
  )
  client.close()
  server.forceShutdown()
  fresh.close()
  expect(error?.code).toBe(status.UNAVAILABLE)
})

const oddText = fc.oneof(
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
const oddCount = fc.oneof(fc.nat(), fc.constantFrom(0, 1, 2 ** 31, 2 ** 32 - 1))
const oddLimits = fc.record(
  { rpm: oddCount, rpd: oddCount, wsConnections: oddCount, wsSymbols: oddCount },
  { requiredKeys: [] },
)
const oddTexts = fc.array(oddText, { maxLength: 5 })
const oddKey = fc.record(
  { name: oddText, plan: oddText, feeds: oddTexts, limits: oddLimits, allowIps: oddTexts, expires: oddText },
  { requiredKeys: [] },
)

test('no request is answered by a defect, and none leaves a key that breaks the rules', async () => {
  const { key } = await create()
  const id = key?.id ?? ''
  const sound = /^(INVALID_ARGUMENT|NOT_FOUND|FAILED_PRECONDITION|ABORTED)$/
  const outcome = (answer: Promise<unknown>): Promise<string> =>
    answer.then(
      () => 'OK',
      (error: ServiceError) => status[error.code] ?? '',
    )
  await fc.assert(
    fc.asyncProperty(oddKey, oddText, oddCount, async (odd, text, count) => {
      const { feeds, allowIps, ...rest } = odd
      const change = {
        ...rest,
        ...(feeds && { feeds: { values: feeds } }),
        ...(allowIps && { allowIps: { values: allowIps } }),
      }
      const outcomes = await Promise.all([
        outcome(call('CreateKey', odd)),
        outcome(call('UpdateKey', { id, basedOn: count, ...change })),
        outcome(call('RotateKey', { id: text, basedOn: count, overlapMs: count })),
        outcome(call('RevokeKey', { id: text })),
        outcome(call('GetKey', { id: text })),
        outcome(call('GetFeed', { key: text, afterSymbol: text })),
        outcome(call('ListKeys', { after: text })),
        outcome(call('PurgeFeed', { key: text })),
      ])
      for (const each of outcomes) expect(each).toMatch(each === 'OK' ? /OK/ : sound)
    }),
  )
  for (const each of house.registry.view().keys()) {
    expect(each.feeds.length).toBeGreaterThan(0)
    expect(each.limits.rpm).toBeGreaterThan(0)
  }
})

test('keys survive a restart, revoked ones stay revoked', async () => {
  const kept = await create({ expires: '2027-01-31' })
  const gone = await create()
  await call('RevokeKey', { id: gone.key?.id ?? '' })
  await house.stores.close()
  house.stores = await openEmbeddedStores({ folder: house.folder, clock: house.clock, log: silentLog })
  const again = followRegistry(house.stores.registry, house.stores.bus, house.clock, silentLog)
  await again.refresh()
  const keys = again.view().keys().slice(-2)
  again.close()
  expect(keys).toMatchObject([
    { id: kept.key?.id, revoked: false, expiresAt: Date.UTC(2027, 1, 1), feeds: ['BROKERA:ZERO'] },
    { id: gone.key?.id, revoked: true },
  ])
})
