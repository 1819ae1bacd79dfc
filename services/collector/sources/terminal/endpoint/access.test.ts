import { writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request as requestTls } from 'node:https'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CertificateFixture, type Pair } from '../../../../../test/support/fixtures/certificate-fixture.ts'
import { temporaryFolder } from '../../../../../test/support/fixtures/temporary-folder.ts'
import {
  helloText,
  openEndpoint,
  RecordedFeed,
  terminalToken,
  zero,
} from '../../../../../test/support/fixtures/terminal-fixture.ts'
import { createVirtualClock } from '../../../../../test/support/fixtures/virtual-clock.ts'
import { terminalTokenDigest } from '../../../../platform/credentials/terminal-token.ts'
import { watchTls } from '../../../../platform/credentials/tls.ts'
import { reloadMs } from '../../../../platform/credentials/watch.ts'
import { silentLog } from '../../../../platform/log/log.ts'
import { systemClock } from '../../../../platform/system-clock.ts'
import { TerminalPosts } from './terminal-posts.ts'
import { feedOfToken, readTerminalTokens, watchTerminalTokens } from './terminal-tokens.ts'

describe('a post without a good token', () => {
  test.each([
    ['no header', {}],
    ['another token', { authorization: `Bearer fxt_${'f'.repeat(32)}` }],
    ['an API key', { authorization: `Bearer fxd_${'0123456789abcdef'.repeat(2)}` }],
    ['the digest of the token', { authorization: `Bearer ${terminalTokenDigest(terminalToken)}` }],
    ['Basic', { authorization: `Basic ${terminalToken}` }],
    ['the token in capitals', { authorization: `Bearer ${terminalToken.toUpperCase()}` }],
  ])('is TOKEN_INVALID: %s', async (_what, headers) => {
    const { post, feed } = await openEndpoint()
    const { status, text, headers: answered } = await post(helloText(), { headers })
    expect({ status, text }).toEqual({
      status: 401,
      text: 'error\tTOKEN_INVALID\tThe token is missing or unknown here; "fxd terminal token FEED" makes one, and on Kubernetes the Secret NAME-terminal has it. The header is Authorization: Bearer fxt_….\n',
    })
    expect(answered.get('www-authenticate')).toBe('Bearer')
    expect(feed.begun).toEqual([])
  })

  test('is refused before its body is read', async () => {
    const { post } = await openEndpoint()
    const noise = Buffer.alloc(10 * 1_048_576, 0xff)
    expect((await post(noise, { headers: { authorization: 'Bearer x' } })).status).toBe(401)
  })
})

test('a post for a feed that this process does not collect is NOT_TAKEN', async () => {
  const { post } = await openEndpoint({ terminalOf: () => undefined })
  expect(await post(helloText())).toMatchObject({
    status: 503,
    text: 'error\tNOT_TAKEN\tThis process does not collect BROKERA:ZERO now; post the same again.\n',
  })
})

test.each([
  ['GET', '/v1/terminal', 405, 'METHOD_NOT_ALLOWED\t/v1/terminal takes POST only.'],
  ['PUT', '/v1/terminal?x=1', 405, 'METHOD_NOT_ALLOWED'],
  ['GET', '/zero/0/v1/terminal', 405, 'METHOD_NOT_ALLOWED'],
  ['POST', '/zero/v1/terminal/x', 404, 'NOT_FOUND'],
  ['POST', '/v1/terminals', 404, 'NOT_FOUND\tTerminals post to /v1/terminal'],
  ['POST', '/%zz', 404, 'NOT_FOUND'],
  ['GET', '/metrics', 404, 'NOT_FOUND'],
])('%s %s is %i', async (method, path, status, text) => {
  const { url } = await openEndpoint()
  const response = await fetch(new URL(path, url), { method })
  expect(response.status).toBe(status)
  expect(await response.text()).toContain(`error\t${text}`)
  if (status === 405) expect(response.headers.get('allow')).toBe('POST')
})

test('the path may have any prefix: the token decides the feed', async () => {
  const { url, feed } = await openEndpoint()
  const headers = { authorization: `Bearer ${terminalToken}` }
  const path = new URL('/zero/0/v1/terminal', url)
  expect((await fetch(path, { method: 'POST', headers, body: helloText() })).status).toBe(200)
  expect(feed.begun).toHaveLength(1)
})

describe('without TLS', () => {
  const any = { host: '0.0.0.0', port: 0 }

  test('the endpoint does not start on an address that is not loopback, and names the cures', async () => {
    await expect(openEndpoint({ address: any })).rejects.toThrow(
      'FXD_TERMINAL_ADDR is 0.0.0.0:0, and tokens of terminals would cross the network without TLS: ' +
        'set FXD_TERMINAL_TLS_CERT and FXD_TERMINAL_TLS_KEY, or FXD_TRUSTED_PROXIES to the proxy in front, or FXD_TERMINAL_PLAIN=true.',
    )
  })

  test.each([
    ['a trusted proxy', { trustedProxies: ['10.0.0.0/8'] }],
    ['FXD_TERMINAL_PLAIN', { isPlainAllowed: true }],
  ])('it starts there with %s', async (_what, options) => {
    const { greet } = await openEndpoint({ address: any, ...options })
    expect(await greet()).toBeGreaterThan(0)
  })

  test.each([
    ['198.51.100.7', undefined, 'TOKEN_INVALID\tThe token came without TLS'],
    ['198.51.100.7', '10.1.2.3', 'TOKEN_INVALID\tThe token came without TLS'],
    ['10.1.2.3', '198.51.100.7', undefined],
    ['::ffff:127.0.0.1', undefined, undefined],
  ])('behind trusted proxies a post of the peer %s for %s is %s', async (peer, forwarded, refusal) => {
    const feed = new RecordedFeed()
    feed.pin.isKnown = false
    const digests = new Map([[zero, [terminalTokenDigest(terminalToken)]]])
    const posts = new TerminalPosts({
      isPlainAllowed: false,
      trustedProxies: ['10.0.0.0/8'],
      feedOf: (token) => feedOfToken(token, digests),
      terminalOf: () => undefined,
      clock: systemClock,
    })
    const request = {
      socket: { remoteAddress: peer },
      headers: {
        authorization: `Bearer ${terminalToken}`,
        ...(forwarded && { 'x-forwarded-for': forwarded }),
      },
    } as unknown as IncomingMessage
    const origin = posts.originOf(request)
    expect(origin.address).toBe(peer.startsWith('10.') ? forwarded : peer.replace('::ffff:', ''))
    const [code, sentence = ''] = refusal?.split('\t') ?? ['NOT_TAKEN']
    await expect(posts.answer(request, origin)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(sentence) as string,
    })
  })
})

describe('with TLS', () => {
  const files = new CertificateFixture()
  let ca = ''
  let first: Pair
  let second: Pair
  beforeAll(() => {
    ca = files.authority('ours')
    first = files.certificate('first')
    second = files.certificate('second')
  })
  afterAll(() => files.remove())

  const subjectOf = (port: number): Promise<string> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${terminalToken}` }
      const options = { host: '127.0.0.1', port, path: '/v1/terminal', method: 'POST', headers, agent: false }
      const sent = requestTls({ ...options, ca: files.read(ca) }, (response) => {
        const { socket } = response as IncomingMessage & {
          socket: { getPeerCertificate(): { subject: { CN: string } } }
        }
        const { CN } = socket.getPeerCertificate().subject
        readText(response).then((text) => resolve(`${CN} ${response.statusCode} ${text.slice(0, 5)}`), reject)
      })
      sent.on('error', reject)
      sent.end(helloText())
    })

  test('a terminal is served on any address, and a replaced certificate is used by new connections', async () => {
    const clock = createVirtualClock()
    const folder = temporaryFolder()
    const place = { tlsCert: join(folder, 'tls.crt'), tlsKey: join(folder, 'tls.key') }
    const use = ({ cert, key }: Pair): void => {
      writeFileSync(place.tlsCert, files.read(cert))
      writeFileSync(place.tlsKey, files.read(key))
    }
    use(first)
    const tls = watchTls(place, clock, silentLog, 'FXD_TERMINAL_TLS')
    const { endpoint } = await openEndpoint({ address: { host: '0.0.0.0', port: 0 }, tls })
    expect(await subjectOf(endpoint.port)).toBe('first 200 fxd\t1')
    use(second)
    await clock.advance(reloadMs)
    expect(await subjectOf(endpoint.port)).toBe('second 200 fxd\t1')
  })

  test('one file without the other is refused by the names of its variables', () => {
    expect(() =>
      watchTls({ tlsCert: first.cert, tlsKey: undefined }, systemClock, silentLog, 'FXD_TERMINAL_TLS'),
    ).toThrow('FXD_TERMINAL_TLS_CERT and FXD_TERMINAL_TLS_KEY go together: set both, or none.')
  })
})

describe('the file of digests', () => {
  const digest = terminalTokenDigest(terminalToken)
  const fileOf = (text: string): string => {
    const path = join(temporaryFolder(), 'terminal-tokens')
    writeFileSync(path, text)
    return path
  }

  test('names the feeds of tokens; comments and empty lines are skipped', () => {
    const other = `fxt_${'1'.repeat(32)}`
    const path = fileOf(
      `# terminals\n\n${zero} ${digest}\n${zero}\t${terminalTokenDigest(other)} # the new one\r\nBROKERB:MAIN ${'0'.repeat(64)}\n`,
    )
    const digests = readTerminalTokens(path)
    expect(feedOfToken(terminalToken, digests)).toBe(zero)
    expect(feedOfToken(other, digests)).toBe(zero)
    expect(feedOfToken(`fxt_${'2'.repeat(32)}`, digests)).toBeUndefined()
  })

  test('that does not exist has no digests, and is used once it is there', async () => {
    const clock = createVirtualClock()
    const path = join(temporaryFolder(), 'terminal-tokens')
    const watched = watchTerminalTokens(path, clock, silentLog)
    expect(feedOfToken(terminalToken, watched.value)).toBeUndefined()
    writeFileSync(path, `${zero} ${digest}\n`)
    await clock.advance(reloadMs)
    expect(feedOfToken(terminalToken, watched.value)).toBe(zero)
    writeFileSync(path, 'half a li')
    await clock.advance(reloadMs)
    expect(feedOfToken(terminalToken, watched.value)).toBe(zero)
    watched.close()
  })

  test.each([
    ['a key in place of a feed', `${terminalToken} ${digest}`, 'line 1: got "fxt_…", wanted BROKER:ACCOUNT'],
    [
      'a token in place of its digest',
      `${zero} ${terminalToken}`,
      'line 1: BROKERA:ZERO needs one SHA-256 of a token',
    ],
    ['two digests on a line', `${zero} ${digest} ${digest}`, 'line 1: BROKERA:ZERO needs one SHA-256'],
    ['three digests', `${zero} ${digest}\n`.repeat(3), 'line 3: BROKERA:ZERO has more than 2 digests'],
    ['too many lines', '\n'.repeat(10_000), 'line 10001: at most 10000 lines are read'],
  ])('with %s is refused by its line', (_what, text, expected) => {
    expect(() => readTerminalTokens(fileOf(text))).toThrow(expected)
  })
})
