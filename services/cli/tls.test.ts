import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CertificateFixture } from '../../test/support/fixtures/certificate-fixture.ts'
import { fxd } from '../../test/support/fixtures/cli-fixture.ts'
import { feedManifest } from '../../test/support/samples/feed-manifest.ts'
import { parseConfig } from '../platform/config.ts'
import { silentLog } from '../platform/log/log.ts'
import { type RunningAll, startAll } from '../roles/all.ts'

const manifest = feedManifest({
  resolutions: ['1D'],
  depth: { '1D': '30d' },
  symbols: { list: [{ raw: 'EURUSD', type: 'forex', digits: 5 }] },
  source: { type: 'Simulator', seed: 1 },
})

const home = mkdtempSync(join(tmpdir(), 'fxd-tls-'))
const certificates = new CertificateFixture()
const ca = certificates.authority('ours')
// No client on this machine uses this name: the service's own collectors do not need it.
const server = certificates.certificate('server', { names: ['DNS:ingest.example', 'IP:127.0.0.1'] })
const admin = certificates.certificate('admin', { names: ['URI:fxd://admin'] })

let service: RunningAll
let environment: Readonly<Record<string, string>>
beforeAll(async () => {
  writeFileSync(join(home, 'feeds.yaml'), JSON.stringify(manifest))
  const asked = {
    FXD_HTTP_ADDR: '127.0.0.1:0',
    FXD_GRPC_ADDR: '127.0.0.1:0',
    FXD_OPS_ADDR: '127.0.0.1:0',
    FXD_DATA_DIR: join(home, 'data'),
    FXD_FEEDS: join(home, 'feeds.yaml'),
  }
  const tls = { FXD_TLS_CERT: server.cert, FXD_TLS_KEY: server.key, FXD_TLS_CA: ca }
  service = await startAll(parseConfig({ ...asked, ...tls }), { log: silentLog })
  environment = { ...asked, FXD_GRPC_ADDR: `127.0.0.1:${service.grpcPort}` }
})
afterAll(async () => {
  await service.stop()
  certificates.remove()
  rmSync(home, { recursive: true })
})

test('collectors in the same process send their bars over TLS', async () => {
  await expect.poll(() => service.backfilled(), { timeout: 15_000 }).toBeGreaterThan(0)
})

test('the command line trusts the authority of FXD_TLS_CA, and identifies itself by token or certificate', async () => {
  expect((await fxd('feeds list', { ...environment, FXD_TLS_CA: ca })).code).toBe(0)
  const nowhere = { ...environment, FXD_TLS_CA: ca, FXD_DATA_DIR: join(home, 'nowhere') }
  expect((await fxd('feeds list', nowhere)).err).toMatch(/There is no token/)
  const certified = { ...nowhere, FXD_TLS_CERT: admin.cert, FXD_TLS_KEY: admin.key }
  expect(await fxd('feeds list', certified)).toMatchObject({ code: 0, err: '' })
})

test('beside the service the command line needs no authority: it trusts the certificate of the service', async () => {
  const beside = { ...environment, FXD_TLS_CERT: server.cert, FXD_TLS_KEY: server.key }
  expect(await fxd('feeds list', beside)).toMatchObject({ code: 0, err: '' })
  const other = { ...beside, FXD_TLS_CERT: admin.cert, FXD_TLS_KEY: admin.key }
  expect((await fxd('feeds list', other)).err).toContain('cannot be trusted')
})

test('with FXD_INGEST the command line uses a remote service, with the token of FXD_TOKEN_FILE', async () => {
  const elsewhere = {
    FXD_INGEST: environment['FXD_GRPC_ADDR'] ?? '',
    FXD_TOKEN_FILE: join(home, 'data', 'token'),
    FXD_TLS_CA: ca,
  }
  expect(await fxd('feeds list', elsewhere)).toMatchObject({ code: 0, err: '' })
  const unreachable = await fxd('feeds list', { ...elsewhere, FXD_INGEST: '127.0.0.1:1' })
  expect(unreachable.err).toMatch(/127\.0\.0\.1:1 \(FXD_INGEST\) does not answer/)
})

test('a service with an untrusted certificate gets another message than an unavailable one', async () => {
  const foreign = certificates.authority('another')
  const outcome = await fxd('feeds list', { ...environment, FXD_TLS_CA: foreign })
  expect(outcome.code).toBe(69)
  expect(outcome.err).toMatch(/cannot be trusted over TLS \(FXD_TLS_CA\)/)
})
