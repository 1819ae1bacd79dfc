import { readFileSync } from 'node:fs'
import tls from 'node:tls'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { CertificateFixture } from '../../support/fixtures/certificate-fixture.ts'
import { freePorts } from '../../support/free-ports.ts'
import { type RedisServer, type RedisServerOptions, startRedis } from '../../support/redis/server.ts'
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

/** What a person finds in the log: the whole chain of causes. */
const reasons = (cause: unknown): string => {
  const said: string[] = []
  for (let each = cause; each instanceof Error; each = each.cause) said.push(each.message)
  return said.join(' ← ')
}
const refused = async (url: string): Promise<string> =>
  openInTest({ url }).then(
    () => 'let in',
    (cause: unknown) => reasons(cause),
  )

describe('a Redis with a password', () => {
  // Signs of a URL's own grammar.
  const password = 'a/b:c@d?e#f%g'
  const encoded = encodeURIComponent(password)

  test('is used with the one of the URL, percent-encoded, and refused without, by the words of the server', async () => {
    const { host, port } = await started({ settings: [`requirepass ${password}`] })
    expect(await admitted(`redis://:${encoded}@${host}:${port}`)).toBe('admitted')
    expect(await refused(`redis://:wrong@${host}:${port}`)).toMatch(/WRONGPASS/)
    expect(await refused(`redis://${host}:${port}`)).toMatch(/NOAUTH/)
  })

  test('is used as the user of the URL, in the database of its path', async () => {
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
  let server: RedisServer | undefined
  beforeAll(async () => {
    const authority = fixture.authority('ours')
    const { cert, key } = fixture.certificate('redis')
    const [port = 0] = await freePorts(1)
    const files = [`tls-cert-file ${cert}`, `tls-key-file ${key}`, `tls-ca-cert-file ${authority}`]
    const settings = [`tls-port ${port}`, ...files, 'tls-auth-clients no', 'requirepass hush']
    server = await startRedis({ settings })
    url = `rediss://:hush@${server.host}:${port}`
  })
  afterAll(() => server?.stop())

  test('is refused where no trusted authority signed its certificate', async () => {
    expect(await refused(url)).toMatch(/certificate/)
  })

  test('is spoken with a server whose authority this process believes', async () => {
    const before = tls.getCACertificates()
    onTestFinished(() => tls.setDefaultCACertificates(before))
    // As NODE_EXTRA_CA_CERTS does for a process.
    tls.setDefaultCACertificates([...before, readFileSync(fixture.path('ours-ca.crt'), 'utf8')])
    expect(await admitted(url)).toBe('admitted')
    expect(await refused(url.replace('hush', 'wrong'))).toMatch(/WRONGPASS/)
    expect(await refused(url.replace('127.0.0.1', 'localhost'))).toMatch(/altnames/)
  })
})
