import { expect, test } from 'vitest'
import { fxd } from '../../test/support/fixtures/cli-fixture.ts'
import { printItem, urlOf } from './watch.ts'

test('fxd watch without a key names FXD_API_KEY and the command that makes one', async () => {
  expect(await fxd('watch A:B:C', {})).toEqual({
    code: 64,
    out: '',
    err: expect.stringContaining('FXD_API_KEY is not set; "fxd keys create" makes a key.') as unknown,
  })
})

test.each([
  ['::', 'http://[::1]:8080'],
  ['0.0.0.0', 'http://127.0.0.1:8080'],
  ['localhost', 'http://localhost:8080'],
])('fxd watch asks a service that listens on %s at %s', (host, url) => {
  expect(urlOf({ host, port: 8080 })).toBe(url)
})

test('a gap is printed with its symbol, its range and its reason to stderr', () => {
  let text = ''
  const [from, to] = [Date.UTC(2026, 0, 5, 9) / 1_000, Date.UTC(2026, 0, 5, 9, 59) / 1_000]
  const terminal = { out: expect.unreachable, err: (line: string) => void (text += line) }
  printItem({ type: 'gap', symbol: 'A:B:C', from, to, reason: 'clock' }, {}, terminal)
  expect(text).toBe('fxd: A:B:C: bars from 2026-01-05 09:00 to 2026-01-05 09:59 may be missing (clock)\n')
})
