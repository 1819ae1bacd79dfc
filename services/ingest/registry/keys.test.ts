import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  openRegistryFixture,
  type RegistryFixture,
  zero,
} from '../../../test/support/fixtures/registry-fixture.ts'
import { applyFeeds } from '../../registry/apply-feeds.ts'
import type { CreateKeyRequest } from '../../wire/gen/fxd/v1/CreateKeyRequest.ts'

const dayMs = 86_400_000
let fixture: RegistryFixture
beforeAll(async () => {
  fixture = await openRegistryFixture()
})
afterAll(() => fixture.remove())
beforeEach(async () => void (await fixture.restore()))

describe('creating a key', () => {
  test('returns the secret once, in the documented form, with the default limits of the plan', async () => {
    const { key, secret } = await fixture.create({ name: 'charts' })
    expect(secret).toMatch(/^fxd_[0-9a-f]{32}$/)
    expect(key).toMatchObject({
      name: 'charts',
      prefix: secret.slice(0, 8),
      plan: 'pro',
      limits: { rpm: 600, rpd: 250_000, wsConnections: 30, wsSymbols: 500 },
      feeds: ['BROKERA:ZERO'],
      allowIps: [],
      state: 'active',
      createdAt: fixture.clock.utcMs(),
    })
    expect(key?.id).toMatch(/^k_[0-9a-f]{10}$/)
    expect(key).not.toHaveProperty('expiresAt')
    expect(fixture.opens(secret)).toBe(key?.id)
    expect(JSON.stringify(await fixture.call('GetKey', { id: key?.id ?? '' }))).not.toContain(secret)
  })

  test('stores only the SHA-256 of the secret', async () => {
    const { secret } = await fixture.create()
    const files = readdirSync(fixture.folder).map((name) => readFileSync(join(fixture.folder, name)))
    expect(files.length).toBeGreaterThan(0)
    expect(files.some((file) => file.includes(secret))).toBe(false)
  })

  test('uses given limits instead of the plan’s, and requires all four for enterprise', async () => {
    const { key } = await fixture.create({ plan: 'basic', limits: { rpm: 7, wsSymbols: 0 } })
    expect(key?.limits).toMatchObject({ rpm: 7, rpd: 10_000, wsConnections: 2, wsSymbols: 0 })
    expect(
      await fixture.refusal('CreateKey', { plan: 'enterprise', feeds: [zero.key], limits: { rpm: 1 } }),
    ).toEqual(['INVALID_ARGUMENT', expect.stringMatching(/rpd, ws_connections, ws_symbols.*all four/)])
    const limits = { rpm: 1, rpd: 2, wsConnections: 3, wsSymbols: 4 }
    expect((await fixture.create({ plan: 'enterprise', limits })).key?.limits).toMatchObject(limits)
  })

  test('an expiry date means the end of that UTC day, a time means that time', async () => {
    expect((await fixture.create({ expires: '2027-01-31' })).key?.expiresAt).toBe(Date.UTC(2027, 1, 1))
    expect((await fixture.create({ expires: '2027-01-31T12:00:00+03:00' })).key?.expiresAt).toBe(
      Date.UTC(2027, 0, 31, 9),
    )
  })

  test('an expired key is shown as expired and is refused', async () => {
    const { key, secret } = await fixture.create({
      expires: new Date(fixture.clock.utcMs()).toISOString().slice(0, 10),
    })
    expect(fixture.opens(secret)).toBe(key?.id)
    await fixture.clock.advance(dayMs)
    expect(fixture.opens(secret)).toBeUndefined()
    expect((await fixture.call('GetKey', { id: key?.id ?? '' })).state).toBe('expired')
  })

  const unknownFeeds: [CreateKeyRequest, RegExp][] = [
    [{ feeds: ['BROKERA:ZER0'] }, /feeds: got "BROKERA:ZER0".*did you mean BROKERA:ZERO\?/],
    [{ feeds: ['brokerb:live'] }, /did you mean BROKERB:LIVE\?/],
    [{ feeds: ['NOBODY:AT:ALL'] }, /there are BROKERA:ZERO, BROKERB:LIVE/],
    [{ feeds: ['__proto__'] }, /"__proto__"/],
  ]
  const invalid: [CreateKeyRequest, RegExp][] = [
    [{ plan: '' }, /plan: got "", wanted one of basic, standard, pro, enterprise/],
    [{ plan: 'prro' }, /did you mean pro\?/],
    [{ feeds: [] }, /feeds: got none, wanted at least one of BROKERA:ZERO, BROKERB:LIVE/],
    [{ limits: { rpm: 0 } }, /limits: rpm: got number 0, wanted a whole number/],
    [{ allowIps: ['10.0.0.0/33'] }, /allow_ips: got "10.0.0.0\/33", wanted an address or a CIDR block/],
    [{ allowIps: ['example.com'] }, /allow_ips: got "example.com"/],
    [{ expires: 'tomorrow' }, /expires: got "tomorrow", wanted a date/],
    [{ expires: '2027-02-30' }, /expires: got "2027-02-30"/],
    [{ name: 'x'.repeat(129) }, /name: got .*at most 128/],
    [{ name: 'a\nb' }, /name: got "a\\nb"/],
  ]
  test.each([
    ...unknownFeeds.map((each) => ['NOT_FOUND', ...each] as const),
    ...invalid.map((each) => ['INVALID_ARGUMENT', ...each] as const),
  ])('%s for %j, with the given and the wanted value', async (code, request, sentence) => {
    const { version } = fixture.registry.view()
    expect(await fixture.refusal('CreateKey', { plan: 'pro', feeds: [zero.key], ...request })).toEqual([
      code,
      expect.stringMatching(sentence),
    ])
    expect(fixture.registry.view().version).toBe(version)
  })

  test('feeds and addresses given twice count once', async () => {
    const { key } = await fixture.create({
      feeds: ['BROKERA:ZERO', 'BROKERA:ZERO'],
      allowIps: ['10.0.0.0/8', '2001:db8::1', '10.0.0.0/8'],
    })
    expect(key?.feeds).toEqual(['BROKERA:ZERO'])
    expect(key?.allowIps).toEqual(['10.0.0.0/8', '2001:db8::1'])
  })
})

describe('changing a key', () => {
  test('leaves all fields that are not given unchanged', async () => {
    const { key } = await fixture.create({
      name: 'a',
      limits: { rpm: 7 },
      allowIps: ['10.0.0.1'],
      expires: '2027-01-31',
    })
    const id = key?.id ?? ''
    const updated = await fixture.call('UpdateKey', { id, name: 'b' })
    expect(updated).toEqual({ ...key, name: 'b', version: updated.version })
    expect(updated.version).toBeGreaterThan(key?.version ?? 0)
  })

  test('replaces feeds, addresses and limits, and can remove addresses and expiry', async () => {
    const { key } = await fixture.create({
      limits: { rpm: 7, rpd: 8 },
      allowIps: ['10.0.0.1'],
      expires: '2027-01-31',
    })
    const updated = await fixture.call('UpdateKey', {
      id: key?.id ?? '',
      feeds: { values: ['BROKERB:LIVE'] },
      allowIps: { values: [] },
      limits: { rpm: 9 },
      expires: 'never',
    })
    expect(updated).toMatchObject({ feeds: ['BROKERB:LIVE'], allowIps: [], limits: { rpm: 9, rpd: 8 } })
    expect(updated).not.toHaveProperty('expiresAt')
  })

  test('another plan sets its default limits', async () => {
    const { key } = await fixture.create({ limits: { rpm: 7 } })
    const id = key?.id ?? ''
    expect(await fixture.call('UpdateKey', { id, plan: 'pro', limits: { rpd: 9 } })).toMatchObject({
      limits: { rpm: 7, rpd: 9 },
    })
    expect(await fixture.call('UpdateKey', { id, plan: 'basic' })).toMatchObject({
      limits: { rpm: 30, rpd: 10_000 },
    })
    expect(await fixture.refusal('UpdateKey', { id, plan: 'enterprise' })).toMatchObject([
      'INVALID_ARGUMENT',
      /.*/,
    ])
  })

  test('a grant of a feed that was hidden meanwhile may stay, but a new grant is refused', async () => {
    const { key } = await fixture.create({ feeds: ['BROKERA:ZERO', 'BROKERB:LIVE'] })
    const other = await fixture.create()
    await applyFeeds(fixture.writer, [zero])
    const feeds = { values: ['BROKERB:LIVE'] }
    expect(await fixture.call('UpdateKey', { id: key?.id ?? '', feeds })).toMatchObject({
      feeds: ['BROKERB:LIVE'],
    })
    expect((await fixture.refusal('UpdateKey', { id: other.key?.id ?? '', feeds }))[0]).toBe('NOT_FOUND')
  })

  test('a change based on an older version is ABORTED, and on the current version accepted', async () => {
    const { key } = await fixture.create()
    const id = key?.id ?? ''
    const based = { id, basedOn: key?.version ?? 0 }
    const second = await fixture.call('UpdateKey', { ...based, name: 'first' })
    expect((await fixture.refusal('UpdateKey', { ...based, name: 'second' }))[0]).toBe('ABORTED')
    expect((await fixture.refusal('RotateKey', based))[0]).toBe('ABORTED')
    expect(await fixture.call('UpdateKey', { id, basedOn: second.version, name: 'third' })).toMatchObject({
      name: 'third',
    })
  })

  test('no change is lost when changes are made at the same time', async () => {
    const { key } = await fixture.create()
    const id = key?.id ?? ''
    const before = fixture.registry.view().keys.all().length
    await Promise.all([
      fixture.call('UpdateKey', { id, name: 'new name' }),
      fixture.call('UpdateKey', { id, limits: { rpm: 5 } }),
      fixture.call('UpdateKey', { id, limits: { rpd: 6 } }),
      fixture.call('UpdateKey', { id, allowIps: { values: ['10.0.0.1'] } }),
      ...Array.from({ length: 10 }, () => fixture.create()),
    ])
    expect(await fixture.call('GetKey', { id })).toMatchObject({
      name: 'new name',
      limits: { rpm: 5, rpd: 6 },
      allowIps: ['10.0.0.1'],
    })
    expect(fixture.registry.view().keys.all()).toHaveLength(before + 10)
  })

  test.each(['GetKey', 'UpdateKey', 'RotateKey', 'RevokeKey'] as const)(
    '%s of an unknown id is NOT_FOUND with a suggestion',
    async (name) => {
      const { key } = await fixture.create()
      const id = `${key?.id.slice(0, -1)}x`
      expect(await fixture.refusal(name, { id })).toEqual([
        'NOT_FOUND',
        expect.stringContaining(`did you mean ${key?.id}?`),
      ])
    },
  )
})
