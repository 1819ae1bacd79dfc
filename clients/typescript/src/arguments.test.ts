import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Fxd } from './fxd.ts'

const fxd = new Fxd({ key: 'fxd_x' })
const bars = (options: object) => () => fxd.bars('A:B:C', options)
const symbols = (names: string | readonly string[]) => () => fxd.bars(names)
const next = (options: object, key: () => string = () => 'fxd_x') =>
  new Fxd({ url: 'http://127.0.0.1:1', key }).history('A:B:C', options).next()

test.each([
  ['no symbol', symbols([]), 'symbols: got none, wanted BROKER:ACCOUNT:NAME or BROKER:ACCOUNT'],
  ['a name without a colon', symbols('EURUSD'), 'symbols: got EURUSD, wanted '],
  [
    'milliseconds',
    bars({ from: 1_795_176_120_000 }),
    'from: got 1795176120000 in milliseconds; pass new Date() or seconds',
  ],
  ['an ISO date', bars({ from: '2026-11-28' }), 'from: got 2026-11-28, wanted a Date or whole epoch seconds'],
  ['a date that is none', bars({ from: new Date('x') }), 'from: got Invalid Date, wanted '],
  ['a negative time', bars({ from: -60 }), 'from: got -60, wanted '],
  [
    'a position in milliseconds',
    bars({ after: { 'A:B:C': 2e12 } }),
    'after: A:B:C: got 2000000000000 in milliseconds',
  ],
  ['a position that is text', bars({ after: '{"A:B:C":60}' }), 'after: 0: got {, wanted '],
  [
    'an address without a scheme',
    () => new Fxd({ url: 'localhost:8080' }),
    'url: got localhost:8080, wanted http',
  ],
])('%s is refused at once with INVALID_PARAMS and the name of the argument', (_, call, message) => {
  expect(call).toThrow(expect.objectContaining({ code: 'INVALID_PARAMS' }))
  expect(call).toThrow(message)
})

test('history refuses milliseconds and an unknown resolution before it asks the service', async () => {
  await expect(next({ to: Date.UTC(2026, 0, 5) })).rejects.toMatchObject({
    code: 'INVALID_PARAMS',
    message: 'to: got 1767571200000 in milliseconds; pass new Date() or seconds',
  })
  await expect(next({ resolution: '2' })).rejects.toMatchObject({ message: 'resolution: got 2' })
})

test('a key with a line break, and an error of the function that gives the key, end a call as they are', async () => {
  await expect(next({}, () => 'fxd_x\n')).rejects.toMatchObject({
    code: 'INVALID_PARAMS',
    message: expect.stringContaining('key: ') as unknown,
  })
  const mine = new Error('no such file')
  const key = (): string => {
    throw mine
  }
  await expect(next({}, key)).rejects.toBe(mine)
  await expect(new Fxd({ key }).bars('A:B:C').next()).rejects.toBe(mine)
})

test('null counts as absent in from, to and after', async () => {
  const asked: string[] = []
  const server = createServer(({ url }, response) => {
    asked.push(url ?? '')
    response.writeHead(401).end('{"error":{"code":"KEY_INVALID","message":"no"}}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const client = new Fxd({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: 'fxd_x' })
  const refused = { code: 'KEY_INVALID' }
  await expect(client.bars('A:B:C', { from: null, after: null }).next()).rejects.toMatchObject(refused)
  await expect(client.history('A:B:C', { from: null, to: null }).next()).rejects.toMatchObject(refused)
  expect(asked).toEqual(['/v1/status', '/v1/history?symbol=A%3AB%3AC&resolution=1&countback=1'])
})

test('the position begins as the one that was given, so that a symbol which comes later keeps its time', () => {
  const after = { 'A:B:C': 60, 'A:B:D': 120 }
  const stream = fxd.bars('A:B', { after })
  expect(stream.position).toEqual(after)
  expect(stream.position).not.toBe(after)
  expect(fxd.bars('A:B').position).toEqual({})
})
