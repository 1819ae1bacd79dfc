import { copyFileSync } from 'node:fs'
import { connect as connectTls } from 'node:tls'
import { type ServiceError, status } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RawSession, seriesAt } from '../../../test/support/clients/raw-session.ts'
import { CertificateFixture, type Pair } from '../../../test/support/fixtures/certificate-fixture.ts'
import {
  defineFeed,
  type IngestFixture,
  openIngestFixture,
  testToken,
} from '../../../test/support/fixtures/ingest-fixture.ts'
import { createVirtualClock, type VirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { watchTls } from '../../platform/credentials/tls.ts'
import { reloadMs } from '../../platform/credentials/watch.ts'
import { silentLog } from '../../platform/log/log.ts'
import { type ClientIdentity, callMetadata, channelCredentials } from '../../wire/client.ts'
import { Registry } from '../../wire/load.ts'

const symbols = { list: [{ raw: 'EURUSD', type: 'forex', digits: 5 }] }
const ours = defineFeed({ symbols })
const theirs = defineFeed({ account: 'VIP', symbols })
/** TLS uses the machine's clock, ingest the virtual one; both start at the same time. */
const start = Date.now()
const hourMs = 3_600_000

const certificates = new CertificateFixture()
const ca = certificates.authority('ours')
certificates.authority('another')
const feedUri = (feed: string): string => `URI:fxd://feed/${feed}`
const server = certificates.certificate('server')
const collector = certificates.certificate('collector', { names: [feedUri(ours.key)] })

let clock: VirtualClock
let fixture: IngestFixture
let tls: ReturnType<typeof watchTls>
const [cert, key] = [certificates.path('live.crt'), certificates.path('live.key')]
beforeAll(async () => {
  clock = createVirtualClock({ start })
  use(server)
  tls = watchTls({ tlsCert: cert, tlsKey: key, tlsCa: ca }, clock, silentLog)
  fixture = await openIngestFixture([ours, theirs], { clock, tls })
})
afterAll(async () => {
  await fixture.remove()
  tls?.close()
  certificates.remove()
})

function use(pair: Pair): void {
  copyFileSync(pair.cert, cert)
  copyFileSync(pair.key, key)
}

const identity = (pair: Pair | undefined, token?: string): ClientIdentity => ({
  token,
  tls: {
    ca: certificates.read(ca),
    pair: pair && { cert: certificates.read(pair.cert), key: certificates.read(pair.key) },
  },
})
const refused = (reason: string): Promise<number> =>
  fixture.metrics.total('fxd_ingest_refused_calls_total', { reason })

async function endOf(who: ClientIdentity, feed: string): Promise<{ code: string; details: string }> {
  const session = new RawSession(fixture.address, who)
  session.hello(feed).catch(() => undefined)
  return session.ended
}

/** The status with which `ListFeeds` ends. */
function administer(who: ClientIdentity): Promise<string> {
  const client = new Registry(fixture.address, channelCredentials(who))
  return new Promise<string>((resolve) => {
    const done = (error: ServiceError | null): void => resolve(status[error?.code ?? status.OK] ?? '')
    client.ListFeeds({}, callMetadata(who), done)
  }).finally(() => client.close())
}

describe('a client certificate', () => {
  test('pushes the feeds it names, and may call nothing of the Registry', async () => {
    const session = new RawSession(fixture.address, identity(collector))
    await session.hello(ours.key)
    const minute = Math.floor(clock.utcMs() / 60_000) * 60 - 120
    expect((await session.bars('LIVE', [seriesAt('EURUSD', [minute])])).ack.accepted).toBe(1)
    await session.close()
    expect(await administer(identity(collector))).toBe('PERMISSION_DENIED')
  })

  test('of administration may make every call', async () => {
    const admin = certificates.certificate('admin', { names: ['URI:fxd://admin'] })
    expect(await administer(identity(admin))).toBe('OK')
    const session = new RawSession(fixture.address, identity(admin))
    await session.hello(theirs.key)
    await session.close()
  })

  test('pushes no feed that it does not name', async () => {
    expect(await endOf(identity(collector), theirs.key)).toEqual({
      code: 'PERMISSION_DENIED',
      details: `FOREIGN_FEED: this credential may push ${ours.key}; got "${theirs.key}"`,
    })
  })

  test.each([
    [
      'a name that only contains a valid one',
      [`URI:http://x/${ours.key}`, `URI:fxd://feed/${ours.key}/more`],
    ],
    ['names of another type', ['DNS:fxd.admin', 'email:fxd@admin']],
    [
      'a name that imitates a list of names',
      ['URI:http://x, URI:fxd://admin, URI:fxd://feed/BROKERA:ZERO, y'],
    ],
  ])('with %s pushes nothing', async (what, names) => {
    const pair = certificates.certificate(`invalid-${what.length}`, { names })
    expect((await endOf(identity(pair), ours.key)).code).toBe('PERMISSION_DENIED')
    expect(await administer(identity(pair))).toBe('PERMISSION_DENIED')
  })

  test.each([
    ['that has expired', { endsAt: new Date(start - hourMs) }],
    ['of another authority', { by: 'another' }],
  ])('%s is refused', async (what, wanted) => {
    const before = await refused('missing')
    const pair = certificates.certificate(`bad-${what.length}`, { names: [feedUri(ours.key)], ...wanted })
    expect((await endOf(identity(pair), ours.key)).code).toBe('UNAUTHENTICATED')
    expect(await refused('missing')).toBe(before + 1)
  })

  test('ends its session at its expiry', async () => {
    const endsAt = new Date(start + hourMs)
    const pair = certificates.certificate('short', { names: [feedUri(theirs.key)], endsAt })
    const session = new RawSession(fixture.address, identity(pair))
    await session.hello(theirs.key)
    await clock.advance(hourMs)
    expect((await session.ended).code).toBe('UNAUTHENTICATED')
    expect(await endOf(identity(pair), theirs.key)).toMatchObject({
      code: 'UNAUTHENTICATED',
      details: 'the credential has expired; "fxd feeds token" issues another',
    })
  })
})

test('a call without a certificate is refused, unless it has a token', async () => {
  expect((await endOf(identity(undefined), ours.key)).code).toBe('UNAUTHENTICATED')
  expect(await administer(identity(undefined, testToken))).toBe('OK')
})

test('a token has priority over the certificate, with fewer or more rights', async () => {
  expect(await administer(identity(collector, testToken))).toBe('OK')
  expect(await administer(identity(collector, 'another'))).toBe('UNAUTHENTICATED')
})

test('a client that does not trust the server, or does not encrypt, cannot make a call', async () => {
  const foreign = { tls: { ca: certificates.read(certificates.path('another-ca.crt')) } }
  for (const who of [foreign, {}]) {
    expect((await endOf({ ...who, token: testToken }, ours.key)).code).toBe('UNAVAILABLE')
  }
})

test('a replaced certificate is used for the next connection, and open sessions stay', async () => {
  const shown = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port: fixture.port,
        ca: certificates.read(ca),
        ALPNProtocols: ['h2'],
      }
      const socket = connectTls(options, () => {
        resolve(String(socket.getPeerCertificate().subject.CN))
        socket.destroy()
      })
      socket.on('error', reject)
    })
  const session = new RawSession(fixture.address, identity(collector))
  await session.hello(ours.key)
  expect(await shown()).toBe('server')
  use(certificates.certificate('next-server'))
  await clock.advance(reloadMs)
  expect(await shown()).toBe('next-server')
  await session.close()
})

test('a process that calls itself trusts only its own certificate', async () => {
  const pinned = certificates.read(cert)
  expect(await administer({ token: testToken, tls: { pinned } })).toBe('OK')
  const other = certificates.read(collector.cert)
  expect(await administer({ token: testToken, tls: { pinned: other } })).toBe('UNAVAILABLE')
})
