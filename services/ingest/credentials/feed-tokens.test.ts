import { Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RawSession, seriesAt } from '../../../test/support/clients/raw-session.ts'
import {
  defineFeed,
  type IngestFixture,
  openIngestFixture,
  testToken,
} from '../../../test/support/fixtures/ingest-fixture.ts'
import { createVirtualClock, type VirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { channelCredentials } from '../../wire/client.ts'
import type { IssueFeedTokenRequest } from '../../wire/gen/fxd/v1/IssueFeedTokenRequest.ts'
import { Registry } from '../../wire/load.ts'

const symbols = { list: [{ raw: 'EURUSD', type: 'forex', digits: 5 }] }
const ours = defineFeed({ symbols })
const theirs = defineFeed({ account: 'VIP', symbols })
const noon = Date.UTC(2026, 0, 5, 12)

let clock: VirtualClock
let fixture: IngestFixture
beforeAll(async () => {
  clock = createVirtualClock({ start: noon })
  fixture = await openIngestFixture([ours, theirs], { clock })
})
afterAll(() => fixture.remove())

/** Calls the Registry; rejects with the `ServiceError`. */
function call<Answer>(
  token: string,
  act: (client: InstanceType<typeof Registry>, metadata: Metadata, done: Done<Answer>) => void,
): Promise<Answer> {
  const client = new Registry(fixture.address, channelCredentials({}))
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${token}`)
  return new Promise<Answer>((resolve, reject) =>
    act(client, metadata, (error, answer) => (error ? reject(error) : resolve(answer as Answer))),
  ).finally(() => client.close())
}
type Done<Answer> = (error: ServiceError | null, answer?: Answer) => void

const issue = (
  request: IssueFeedTokenRequest,
  by = testToken,
): Promise<{ token: string; expiresAt: number }> =>
  call(by, (client, metadata, done) => void client.IssueFeedToken(request, metadata, done))
const tokenOf = async (...feeds: string[]): Promise<string> => (await issue({ feeds, expires: '90d' })).token
const refused = (reason: string): Promise<number> =>
  fixture.metrics.total('fxd_ingest_refused_calls_total', { reason })

/** The status with which a session for the feed with this token ends. */
async function endOf(token: string, feed: string): Promise<{ code: string; details: string }> {
  const session = new RawSession(fixture.address, token)
  session.hello(feed).catch(() => undefined)
  return session.ended
}

describe('a token of a feed', () => {
  test('pushes the feeds it names', async () => {
    const session = new RawSession(fixture.address, await tokenOf(ours.key, theirs.key))
    await session.hello(ours.key)
    const { ack } = await session.bars('LIVE', [seriesAt('EURUSD', [noon / 1_000 - 120])])
    expect(ack.accepted).toBe(1)
    await session.close()
  })

  test('pushes no other feed, and does not show whether that feed exists', async () => {
    const before = await refused('foreign_feed')
    const token = await tokenOf(ours.key)
    for (const feed of [theirs.key, 'BROKERX:NONE']) {
      expect(await endOf(token, feed)).toEqual({
        code: 'PERMISSION_DENIED',
        details: `FOREIGN_FEED: this credential may push ${ours.key}; got "${feed}"`,
      })
    }
    expect(await refused('foreign_feed')).toBe(before + 2)
  })

  test('cannot write bars of another feed through a symbol name', async () => {
    const session = new RawSession(fixture.address, await tokenOf(ours.key))
    await session.hello(ours.key)
    const { ack, refused: bars } = await session.bars('LIVE', [
      seriesAt(`${theirs.key}:EURUSD`, [noon / 1_000 - 60]),
    ])
    expect(ack.accepted).toBe(0)
    expect(bars).toMatchObject([{ reason: 'REFUSAL_REASON_FOREIGN_FEED', count: 1 }])
    await session.close()
  })

  test('may call nothing of the Registry', async () => {
    const before = await refused('not_administration')
    const token = await tokenOf(ours.key)
    await expect(issue({ feeds: [theirs.key], expires: '90d' }, token)).rejects.toMatchObject({
      code: status.PERMISSION_DENIED,
    })
    await expect(
      call(token, (client, metadata, done) => void client.ListKeys({}, metadata, done)),
    ).rejects.toThrow(/PERMISSION_DENIED/)
    expect(await refused('not_administration')).toBe(before + 2)
  })

  test('ends active and standby sessions at its expiry', async () => {
    const { token, expiresAt } = await issue({ feeds: [theirs.key], expires: '30m' })
    expect(expiresAt).toBe(clock.utcMs() + 30 * 60_000)
    const active = new RawSession(fixture.address, token)
    await active.hello(theirs.key)
    const standby = new RawSession(fixture.address, token)
    standby.hello(theirs.key, { id: 'collector-2' }).catch(() => undefined)
    await standby.find(({ welcome }) => welcome?.active === false)
    await clock.advance(30 * 60_000 - 1)
    expect(active.stream.destroyed || standby.stream.destroyed).toBe(false)
    await clock.advance(1)
    expect((await active.ended).code).toBe('UNAUTHENTICATED')
    expect((await standby.ended).code).toBe('UNAUTHENTICATED')
    expect(await endOf(token, theirs.key)).toMatchObject({
      code: 'UNAUTHENTICATED',
      details: 'the credential has expired; "fxd feeds token" issues another',
    })
  })
})

describe('an invalid token', () => {
  const secret = new TextEncoder().encode(testToken)
  const exp = noon / 1_000 + 86_400
  const typ = 'fxd-feed+jwt'
  const sign = (
    payload: JWTPayload,
    header: { alg?: string; typ?: string } = {},
    key = secret,
  ): Promise<string> => new SignJWT(payload).setProtectedHeader({ alg: 'HS256', typ, ...header }).sign(key)

  test.each([
    [
      'with another key',
      () => sign({ feeds: [ours.key], exp }, {}, new TextEncoder().encode('x'.repeat(40))),
    ],
    ['with another algorithm', () => sign({ feeds: [ours.key], exp }, { alg: 'HS512' })],
    ['without a signature', () => new UnsecuredJWT({ feeds: [ours.key], exp }).encode()],
    ['without an expiry', () => sign({ feeds: [ours.key] })],
    ['without feeds', () => sign({ exp })],
    ['with feeds that are text', () => sign({ feeds: ours.key, exp })],
    ['with an invalid feed', () => sign({ feeds: [ours.key, '*'], exp })],
    ['of another type', () => sign({ feeds: [ours.key], exp }, { typ: 'JWT' })],
    ['above the maximum length', async () => sign({ feeds: [ours.key], exp, more: 'x'.repeat(5_000) })],
  ] as const)('%s is refused', async (_what, make) => {
    const before = await refused('unknown')
    expect((await endOf(await make(), ours.key)).code).toBe('UNAUTHENTICATED')
    expect(await refused('unknown')).toBe(before + 1)
  })

  test('a call without a token is refused', async () => {
    const before = await refused('missing')
    expect((await endOf('', ours.key)).code).toBe('UNAUTHENTICATED')
    expect(await refused('missing')).toBe(before + 1)
  })
})

describe('issuing', () => {
  test.each([
    [{ feeds: [], expires: '90d' }, /feeds: got none/],
    [{ feeds: ['BROKERA:ZER0'], expires: '90d' }, /did you mean BROKERA:ZERO/],
    [{ feeds: [ours.key], expires: '' }, /expires: got "", wanted a time such as 15m, 90d or 2w, a date/],
    [{ feeds: [ours.key], expires: '20y' }, /expires: got "20y", wanted a time such as/],
    [{ feeds: [ours.key], expires: '2026-01-04' }, /got "2026-01-04", wanted a time in the future/],
    [{ feeds: [ours.key], expires: '5000d' }, /got "5000d", .*within ten years/],
  ] as const)('%j is refused with a sentence', async (request, wanted) => {
    await expect(issue({ ...request, feeds: [...request.feeds] })).rejects.toThrow(wanted)
  })
})
