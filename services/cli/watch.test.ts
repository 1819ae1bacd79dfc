import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { fxd } from '../../test/support/fixtures/cli-fixture.ts'
import { startHttpServer } from '../../test/support/fixtures/http-server.ts'
import { printItem } from './watch.ts'

const hasIpv6 = networkInterfaces()['lo']?.some(({ address }) => address === '::1')

test('fxd watch without a key names FXD_API_KEY and the command that makes one', async () => {
  expect(await fxd('watch A:B:C', {})).toEqual({
    code: 64,
    out: '',
    err: expect.stringContaining('FXD_API_KEY is not set; "fxd keys create" makes a key.') as unknown,
  })
})

test.skipIf(!hasIpv6)('fxd watch asks loopback if the service listens on all addresses of IPv6', async () => {
  const { port } = await startHttpServer({
    address: { host: '::1', port: 0 },
    handle: (_, response) =>
      void response.writeHead(401).end('{"error":{"code":"KEY_INVALID","message":"the key is unknown"}}'),
  })
  const outcome = await fxd('watch A:B:C', { FXD_API_KEY: 'fxd_x', FXD_HTTP_ADDR: `[::]:${port}` })
  expect(outcome.err).toContain('KEY_INVALID: the key is unknown')
})

test('a gap is printed with its symbol, its range and its reason to stderr', () => {
  let text = ''
  const [from, to] = [Date.UTC(2026, 0, 5, 9) / 1_000, Date.UTC(2026, 0, 5, 9, 59) / 1_000]
  const terminal = { out: expect.unreachable, err: (line: string) => void (text += line) }
  printItem({ type: 'gap', symbol: 'A:B:C', from, to, reason: 'clock' }, {}, terminal)
  expect(text).toBe('fxd: A:B:C: bars from 2026-01-05 09:00 to 2026-01-05 09:59 may be missing (clock)\n')
})
