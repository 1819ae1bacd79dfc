import { readFileSync } from 'node:fs'
import tls from 'node:tls'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { CertificateFixture } from '../../support/fixtures/certificate-fixture.ts'
import { startSentinel } from '../../support/redis/sentinels.ts'
import {
  type RedisServer,
  type RedisServerOptions,
  type ServerTls,
  startRedis,
} from '../../support/redis/server.ts'
import { openInTest } from '../../support/redis/stores.ts'

const limits = { rpm: 10, rpd: 100 }
const admitted = async (url: string): Promise<unknown> => {
  const { stores } = await openInTest({ url })
  return (await stores.limits.admit('key', limits, 'status')).outcome
}

async function started(options: RedisServerOptions): Promise<RedisServer> {
  const server = await startRedis(options)
  onTestFinished(() => server.stop())
  return server
}

/** The whole chain of causes, as in the log. */
const reasons = (cause: unknown): string => {
  const messages: string[] = []
  for (let each = cause; each instanceof Error; each = each.cause) messages.push(each.message)
  return messages.join(' ← ')
}
const refused = async (url: string): Promise<string> =>
  openInTest({ url }).then(
    () => 'accepted',
    (cause: unknown) => reasons(cause),
  )

describe('a Redis with a password', () => {
  // Characters with a meaning in URLs.
  const password = 'a/b:c@d?e#f%g'
  const encoded = encodeURIComponent(password)

  test('is opened with the percent-encoded password of the URL; without it the error has the text of the server', async () => {
    const { host, port } = await started({ settings: [`requirepass ${password}`] })
    expect(await admitted(`redis://:${encoded}@${host}:${port}`)).toBe('admitted')
    expect(await refused(`redis://:wrong@${host}:${port}`)).toMatch(/WRONGPASS/)
    expect(await refused(`redis://${host}:${port}`)).toMatch(/NOAUTH/)
  })

  test('is opened as the user of the URL, in the database of its path', async () => {
    const user = `user fxd on >${password} ~* &* +@all`
    const { host, port, command } = await started({ settings: [user] })
    expect(await admitted(`redis://fxd:${encoded}@${host}:${port}/3`)).toBe('admitted')
    expect(await command('INFO keyspace')).toMatch(/db3:keys=[1-9]/)
    expect(await refused(`redis://nobody:${encoded}@${host}:${port}`)).toMatch(/WRONGPASS/)
  })
})

describe('rediss://', () => {
  const fixture = new CertificateFixture()
  afterAll(() => fixture.remove())
  let url = ''
  let server: RedisServer
  let tlsFiles: ServerTls
  beforeAll(async () => {
    const ca = fixture.authority('ours')
    tlsFiles = { ca, ...fixture.certificate('redis') }
    server = await startRedis({ tls: tlsFiles, settings: ['requirepass secret'] })
    url = `rediss://:secret@${server.host}:${server.tlsPort}`
  })
  afterAll(() => server?.stop())

  test('fails if no trusted authority signed the certificate of the server', async () => {
    expect(await refused(url)).toMatch(/certificate/)
  })

  /** The effect of NODE_EXTRA_CA_CERTS for a process, until the test ends. */
  const trustAuthority = (): void => {
    const before = tls.getCACertificates()
    onTestFinished(() => tls.setDefaultCACertificates(before))
    tls.setDefaultCACertificates([...before, readFileSync(tlsFiles.ca, 'utf8')])
  }

  test('succeeds if this process trusts the authority of the server', async () => {
    trustAuthority()
    expect(await admitted(url)).toBe('admitted')
    expect(await refused(url.replace('secret', 'wrong'))).toMatch(/WRONGPASS/)
    expect(await refused(url.replace('127.0.0.1', 'localhost'))).toMatch(/altnames/)
  })

  test('Sentinels with TLS are asked over TLS if the configuration says so, and not otherwise', async () => {
    trustAuthority()
    const sentinel = await startSentinel(server, ['requirepass other'], { tls: tlsFiles })
    onTestFinished(() => sentinel.stop())
    const sentinels = [{ host: sentinel.host, port: sentinel.tlsPort ?? 0 }]
    const at = { url, sentinels, master: 'fxd', sentinelPassword: 'other' }
    const { stores } = await openInTest({ ...at, sentinelTls: true })
    expect(await stores.limits.admit('key', limits, 'status')).toMatchObject({ outcome: 'admitted' })
    await expect(openInTest(at)).rejects.toThrow('Redis is unavailable')
  })
})
