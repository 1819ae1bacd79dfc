import { afterEach, expect, test } from 'vitest'
import { Fxd } from '../../clients/typescript/src/index.ts'
import { minutesAgo } from '../acceptance/client/clocks.ts'
import { issueKey, revokeKey } from '../acceptance/client/keys.ts'
import { until } from '../acceptance/client/until.ts'
import { symbolOf, useService } from './one-service.ts'
import { endStreams, Taken } from './taken.ts'

const service = useService()
const { prepare } = service
afterEach(endStreams)

const client = (more: object = {}) => new Fxd({ url: service.url, key: service.key, ...more })

test('bars from years ago run into the present, each once and in order', async () => {
  const { symbol, file, stored, next } = await prepare('EURUSD', 25_000)
  const taken = new Taken(client().bars(symbol, { from: 0 }))
  await taken.untilBars(symbol, stored.length)
  file.append(...next)
  expect(await taken.untilBars(symbol, stored.length + next.length)).toEqual([...stored, ...next])
  expect(taken.stream.position).toEqual({ [symbol]: next.at(-1)?.time })
})

test('without a start the next bar that closes is the first', { timeout: 120_000 }, async () => {
  const { symbol, file, stored } = await prepare('GBPUSD')
  const taken = new Taken(client().bars(symbol))
  const closed = await until('the start', () => taken.stream.position[symbol])
  const [before, next] = [closed, closed + 60].map((time) => ({ ...stored[0]!, time }))
  file.append(before!, next!)
  expect(await taken.untilBars(symbol, 1, 90_000)).toEqual([next])
})

test('a program that takes nothing while the buffer is small gets every bar once it reads', async () => {
  const { symbol, file, stored, next } = await prepare('NZDUSD', 3_000)
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message) }
  const stream = client({ buffer: 20, logger }).bars(symbol, { from: stored[3_000]!.time })
  const first = await stream.next()
  expect(first.value).toMatchObject({ type: 'bar', time: stored[3_000]?.time })
  await until('the full buffer', () => warnings.length > 0)
  expect(warnings).toEqual(['buffer is full; the socket is closed until it is empty'])
  file.append(...next)
  const taken = new Taken(stream)
  expect(await taken.untilBars(symbol, 79)).toEqual([...stored.slice(3_001), ...next])
})

test('history that is longer than the buffer waits for the program and is whole', async () => {
  const { symbol, stored } = await prepare('USDCAD', 12_000)
  const stream = client({ buffer: 50 }).bars(symbol, { from: 0 })
  await stream.next()
  const taken = new Taken(stream)
  expect(await taken.untilBars(symbol, stored.length - 1)).toEqual(stored.slice(1))
})

test('a stream that begins with a stored position goes on behind it', async () => {
  const { symbol, file, stored, next } = await prepare('USDCHF', 2_000)
  const before = client().bars([symbol, symbolOf('EURGBP')], { from: 0 })
  for (let i = 0; i < 1_500; i++) await before.next()
  const stored1500 = JSON.parse(JSON.stringify(before.position)) as Record<string, number>
  await before.return()
  expect(stored1500[symbol]).toBe(stored[1_499]?.time)
  const taken = new Taken(client().bars([symbol, symbolOf('EURGBP')], { after: stored1500 }))
  file.append(...next)
  const rest = [...stored.slice(1_500), ...next]
  expect(await taken.untilBars(symbol, rest.length)).toEqual(rest)
})

test('a revoked key ends the stream with its code and the close code', async () => {
  const { symbol, stored } = await prepare('EURJPY')
  const issued = await issueKey()
  const taken = new Taken(client({ key: issued.key }).bars(symbol, { from: stored[0]!.time }))
  await taken.untilBars(symbol, stored.length)
  await revokeKey(issued.id)
  expect(await taken.ended).toMatchObject({ code: 'KEY_INACTIVE', closeCode: 4500 })
  const later = new Taken(client({ key: issued.key }).bars(symbol))
  expect(await later.ended).toMatchObject({ code: 'KEY_INACTIVE', status: 401 })
})

test('an upgrade that is refused because all connections are in use is retried until one is free', async () => {
  const { symbol, stored } = await prepare('EURCHF')
  const issued = await issueKey({ wsConnections: 1 })
  const holder = new Taken(client({ key: issued.key }).bars(symbol, { from: stored[0]!.time }))
  await holder.untilBars(symbol, stored.length)
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message) }
  const second = new Taken(client({ key: issued.key, logger }).bars(symbol, { from: stored[0]!.time }))
  await until('the refusal', () => warnings.some((text) => text.startsWith('TOO_MANY_CONNECTIONS')))
  await holder.end()
  expect(await second.untilBars(symbol, stored.length)).toEqual(stored)
})

test('a symbol that is unknown ends the stream and is named', async () => {
  const error = await new Taken(client().bars(['BROKERA:ZERO:EURUSD', 'BROKERA:ZERO:NOSUCH'])).ended
  expect(error?.code).toBe('SYMBOL_REJECTED')
  expect(error?.message).toContain('NOSUCH')
  expect(error?.message).not.toContain('EURUSD')
})

test('the calls answer what REST has, and throw its codes', async () => {
  const fxd = client()
  const { symbol, stored } = await prepare('AUDNZD', 100)
  const read = await Array.fromAsync(fxd.history(symbol))
  expect(read).toEqual(stored)
  const some = await Array.fromAsync(
    fxd.history(symbol, { from: new Date(stored[5]!.time * 1_000), to: stored[9]!.time }),
  )
  expect(some).toEqual(stored.slice(5, 10))
  expect(await Array.fromAsync(fxd.history('BROKERA:ZERO:NOSUCH'))).toEqual([])
  const found = await Array.fromAsync(fxd.symbols({ search: 'audnzd' }))
  expect(found.map((each) => each.symbol)).toEqual([symbol])
  expect(await fxd.symbol(symbol)).toMatchObject({ symbol, digits: 5 })
  expect((await fxd.coverage(symbol)).at(-1)?.to).toBe(stored.at(-1)?.time)
  expect((await fxd.coverage())[symbol]).toEqual(await fxd.coverage(symbol))
  const minutes = await fxd.coverage(symbol, { resolution: '1' })
  expect(minutes.at(-1)?.to).toBe(stored.at(-1)?.time)
  expect(await fxd.coverage(symbol, { resolution: '1D' })).not.toEqual(minutes)
  expect((await fxd.coverage(undefined, { resolution: '1' }))[symbol]).toEqual(minutes)
  expect((await fxd.status()).feeds['BROKERA:ZERO']?.clock_offset_seconds).toBe(-10_800)
  expect((await fxd.usage(1)).limits.ws_symbols).toBe(500)
  expect((await fxd.config()).supported_resolutions).toContain('1D')
  await expect(fxd.symbol('BROKERA:ZERO:NOSUCH')).rejects.toMatchObject({
    code: 'SYMBOL_NOT_FOUND',
    status: 404,
  })
  await expect(client({ key: 'fxd_0' }).status()).rejects.toMatchObject({ code: 'KEY_INVALID' })
  await expect(client({ url: 'http://127.0.0.1:1' }).status()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
})

test('a whole feed gives stored and live bars of its symbols, also over a kill', async () => {
  const [one, other] = [await prepare('EURAUD'), await prepare('AUDCAD')] as const
  const from = Math.min(one.stored[0]!.time, other.stored[0]!.time)
  const taken = new Taken(client().bars('BROKERA:ZERO', { from }))
  for (const { symbol, stored } of [one, other]) await taken.untilBars(symbol, stored.length)
  one.file.append(...one.next.slice(0, 10))
  await taken.untilBars(one.symbol, 70)
  await service.kill()
  for (const { file, next } of [one, other]) file.append(...next.slice(10))
  await service.start()
  expect(await taken.untilBars(one.symbol, 80)).toEqual([...one.stored, ...one.next])
  expect(await taken.untilBars(other.symbol, 70)).toEqual([...other.stored, ...other.next.slice(10)])
})

test('a feed with heartbeats is live or quiet, dead while the service is killed, and one without is unknown', async () => {
  const stream = client().bars(['BROKERG:SIM:BTCUSD', symbolOf('EURUSD')], {
    from: minutesAgo('BROKERB:LIVE', 5),
  })
  const taken = new Taken(stream)
  const verdict = () => stream.liveness['BROKERG:SIM']
  await until('a verdict', () => verdict() === 'live' || verdict() === 'quiet', 40_000)
  expect(stream.liveness['BROKERA:ZERO']).toBe('unknown')
  await service.kill()
  await until('death', () => verdict() === 'dead')
  await service.start()
  await until('life', () => verdict() === 'live' || verdict() === 'quiet', 40_000)
  await taken.end()
})
