import { type ServiceError, status } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CertificateFixture } from '../../../test/support/fixtures/certificate-fixture.ts'
import { openStreamFixture, type StreamFixture } from '../../../test/support/fixtures/stream-fixture.ts'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { watchTls } from '../../platform/credentials/tls.ts'
import { silentLog } from '../../platform/log/log.ts'
import { type ClientIdentity, callMetadata, channelCredentials } from '../../wire/client.ts'
import { Shard } from '../../wire/load.ts'
import { createShardServer, type ShardServer } from './server.ts'

const token = 'an-administration-token'
const certificates = new CertificateFixture()
const ca = certificates.authority('ours')
const { cert, key } = certificates.certificate('shard')

let fixture: StreamFixture
let server: ShardServer
let port: number
let tls: ReturnType<typeof watchTls>
beforeAll(async () => {
  fixture = await openStreamFixture()
  tls = watchTls({ tlsCert: cert, tlsKey: key, tlsCa: ca }, createVirtualClock(), silentLog)
  const { stream } = fixture
  server = createShardServer({
    stream,
    notReady: () => stream.notReady(),
    tokens: () => [token],
    tls,
    log: silentLog,
  })
  port = await server.listen('127.0.0.1', 0)
})
afterAll(async () => {
  server.close()
  tls?.close()
  await fixture.close()
  certificates.remove()
})

function load(who: ClientIdentity): Promise<string> {
  const client = new Shard(`127.0.0.1:${port}`, channelCredentials(who))
  return new Promise<string>((resolve) => {
    const done = (error: ServiceError | null): void => resolve(status[error?.code ?? status.OK] ?? '')
    client.GetLoad({}, callMetadata(who), done)
  }).finally(() => client.close())
}

test('the administration token is never sent in plain text to a shard with TLS', async () => {
  const trusted = { ca: certificates.read(ca) }
  expect(await load({ token, tls: trusted })).toBe('OK')
  expect(await load({ token })).toBe('UNAVAILABLE')
  expect(await load({ token: 'another', tls: trusted })).toBe('UNAUTHENTICATED')
})

test('a shard that is called by its address must have a certificate of its name and authority', async () => {
  const named = certificates.certificate('named', { names: ['DNS:fxd-stream'] })
  const files = watchTls(
    { tlsCert: named.cert, tlsKey: named.key, tlsCa: ca },
    createVirtualClock(),
    silentLog,
  )
  const { stream } = fixture
  const other = createShardServer({
    stream,
    notReady: () => stream.notReady(),
    tokens: () => [token],
    tls: files,
    log: silentLog,
  })
  const ours = port
  port = await other.listen('127.0.0.1', 0)
  const trusted = { ca: certificates.read(ca) }
  const stranger = { ca: certificates.read(certificates.authority('stranger')) }
  const seen = [
    await load({ token, tls: trusted }),
    await load({ token, tls: { ...trusted, serverName: 'fxd-stream' } }),
    await load({ token, tls: { ...trusted, serverName: 'fxd-ingest' } }),
    await load({ token, tls: { ...stranger, serverName: 'fxd-stream' } }),
  ]
  port = ours
  other.close()
  files?.close()
  expect(seen).toEqual(['UNAVAILABLE', 'OK', 'UNAVAILABLE', 'UNAVAILABLE'])
})
