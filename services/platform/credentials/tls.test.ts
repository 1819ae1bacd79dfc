import { renameSync, writeFileSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { CertificateFixture } from '../../../test/support/fixtures/certificate-fixture.ts'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { silentLog } from '../log/log.ts'
import { readTls, type TlsPlace, watchTls } from './tls.ts'
import { reloadMs } from './watch.ts'

const fixture = new CertificateFixture()
const ca = fixture.authority('ours')
const one = fixture.certificate('one')
const other = fixture.certificate('other')
afterAll(() => fixture.remove())

const none: TlsPlace = { tlsCert: undefined, tlsKey: undefined, tlsCa: undefined }

test('without a variable there is no TLS', () => {
  expect(readTls(none)).toBeUndefined()
  expect(watchTls(none, createVirtualClock(), silentLog)).toBeUndefined()
})

test.each([
  ['a certificate without its key', { tlsCert: one.cert }, /FXD_TLS_CERT and FXD_TLS_KEY go together/],
  [
    'a file that is not there',
    { tlsCa: '/nowhere/ca.crt' },
    /FXD_TLS_CA \(\/nowhere\/ca.crt\) cannot be read/,
  ],
  ['the key of another certificate', { tlsCert: one.cert, tlsKey: other.key }, /not a certificate and its/],
  ['an authority that is a key', { tlsCa: one.key }, /FXD_TLS_CA .* holds no certificate/],
] as const)('%s is refused by name', (_what, given, wanted) => {
  expect(() => readTls({ ...none, ...given })).toThrow(wanted)
})

test('a replaced certificate and key are used within ten seconds, a half replaced pair never', async () => {
  const clock = createVirtualClock()
  const [cert, key] = [fixture.path('live.crt'), fixture.path('live.key')]
  const put = (path: string, from: string): void => {
    writeFileSync(`${path}.new`, fixture.read(from))
    renameSync(`${path}.new`, path)
  }
  put(cert, one.cert)
  put(key, one.key)
  const watched = watchTls({ tlsCert: cert, tlsKey: key, tlsCa: ca }, clock, silentLog)
  const changes: (Buffer | undefined)[] = []
  watched?.onChange(({ pair }) => void changes.push(pair?.cert))
  await clock.advance(reloadMs)
  put(cert, other.cert)
  await clock.advance(reloadMs)
  expect(changes).toEqual([])
  expect(watched?.value.pair?.cert).toEqual(fixture.read(one.cert))
  put(key, other.key)
  await clock.advance(reloadMs)
  expect(changes).toEqual([fixture.read(other.cert)])
  expect(watched?.value.pair?.cert).toEqual(fixture.read(other.cert))
  watched?.close()
  expect(clock.pending).toBe(0)
})
