import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { read } from './client/http.ts'
import { issueKey, ungrantedFeed } from './client/keys.ts'
import { closeSockets, connect, type StreamSocket } from './client/socket.ts'

const euro = 'BROKERA:ZERO:EURUSD'
const pound = 'BROKERA:ZERO:GBPUSD'
const share = 'BROKERB:LIVE:BRKb_CFD.US'

let key = ''
let narrow = ''
beforeAll(async () => {
  key = (await issueKey()).key
  narrow = (await issueKey({ plan: 'basic', wsSymbols: 3 })).key
})
afterEach(closeSockets)

describe('subscribe', () => {
  test('subscribe is answered with the accepted and the rejected symbols', async () => {
    const socket = await connect(key)
    const reply = await socket.subscribe([euro, `${ungrantedFeed}:EURUSD`])
    expect(Object.keys(reply)).toEqual(['type', 'symbols', 'rejected'])
    expect(reply).toEqual({ type: 'subscribed', symbols: [euro], rejected: [`${ungrantedFeed}:EURUSD`] })
  })

  test('a subscribe without a type means bar', async () => {
    const socket = await connect(key)
    socket.send({ action: 'subscribe', symbols: [euro] })
    expect(await socket.next('subscribed')).toMatchObject({ symbols: [euro], rejected: [] })
  })

  test('a symbol of a feed that is not granted is rejected', async () => {
    const reply = await (await connect(key)).subscribe([`${ungrantedFeed}:EURUSD`])
    expect(reply).toMatchObject({ symbols: [], rejected: [`${ungrantedFeed}:EURUSD`] })
  })

  test('an unknown symbol is rejected', async () => {
    const unknown = [
      'BROKERA:ZERO:NOPE',
      'BROKERX:LIVE:EURUSD',
      'EURUSD',
      '',
      '__proto__',
      'BROKERA:ZERO:__proto__',
    ]
    const reply = await (await connect(key)).subscribe(unknown)
    expect(reply).toMatchObject({ symbols: [], rejected: unknown })
  })

  test('compound keys match exactly, including letter case', async () => {
    const wrong = [
      'BROKERA:ZERO:eurusd',
      'brokera:ZERO:EURUSD',
      'BROKERB:LIVE:brkb_CFD.US',
      'BROKERA:ZERO:EURUSD.z',
    ]
    const reply = await (await connect(key)).subscribe([...wrong, share])
    expect(reply).toMatchObject({ symbols: [share], rejected: wrong })
  })

  test('both lists keep the order of the request', async () => {
    const unknown = ['BROKERA:ZERO:B', 'BROKERA:ZERO:A']
    const [first = '', second = ''] = unknown
    const reply = await (await connect(key)).subscribe([pound, first, share, second, euro])
    expect(reply).toMatchObject({ symbols: [pound, share, euro], rejected: unknown })
  })

  test('subscribing again is idempotent and duplicates count once', async () => {
    const socket = await connect(narrow)
    expect(await socket.subscribe([euro, euro, euro])).toMatchObject({ symbols: [euro], rejected: [] })
    expect(await socket.subscribe([euro, pound])).toMatchObject({ symbols: [euro, pound], rejected: [] })
    expect(await socket.subscribe([share])).toMatchObject({ symbols: [share], rejected: [] })
  })

  test('one socket carries symbols of any granted feeds', async () => {
    const symbols = [euro, share, 'BROKERD:LIVE:EURUSD', 'BROKERG:SIM:BTCUSD']
    expect(await (await connect(key)).subscribe(symbols)).toMatchObject({ symbols, rejected: [] })
  })

  test('a symbol of a feed without minutes is accepted', async () => {
    const reply = await (await connect(key)).subscribe(['BROKERC:TADIL:BTCUSD'])
    expect(reply).toMatchObject({ symbols: ['BROKERC:TADIL:BTCUSD'], rejected: [] })
  })

  test('an empty list is answered with two empty lists', async () => {
    expect(await (await connect(key)).subscribe([])).toMatchObject({ symbols: [], rejected: [] })
  })
})

describe('the cap on symbols', () => {
  const four = [euro, share, 'BROKERD:LIVE:EURUSD', pound]

  test('symbols up to the cap are accepted, whatever their feed, and the rest are rejected', async () => {
    const reply = await (await connect(narrow)).subscribe(four)
    expect(reply).toMatchObject({ symbols: four.slice(0, 3), rejected: [pound] })
  })

  test('the cap holds over several subscribes', async () => {
    const socket = await connect(narrow)
    await socket.subscribe(four.slice(0, 2))
    expect(await socket.subscribe(four.slice(2))).toMatchObject({
      symbols: four.slice(2, 3),
      rejected: [pound],
    })
  })

  test('a rejected symbol does not count towards the cap', async () => {
    const reply = await (await connect(narrow)).subscribe([
      'BROKERA:ZERO:NOPE',
      `${ungrantedFeed}:EURUSD`,
      ...four,
    ])
    expect(reply.symbols).toEqual(four.slice(0, 3))
  })

  test('an unsubscribed symbol no longer counts towards the cap', async () => {
    const socket = await connect(narrow)
    await socket.subscribe(four)
    socket.send({ action: 'unsubscribe', symbols: [euro] })
    await socket.next('unsubscribed')
    expect(await socket.subscribe([pound])).toMatchObject({ symbols: [pound], rejected: [] })
  })

  test('the cap is per connection: another socket of the key has a separate cap', async () => {
    const first = await connect(narrow)
    await first.subscribe(four)
    const second = await connect(narrow)
    expect((await second.subscribe(four.slice(0, 3))).symbols).toEqual(four.slice(0, 3))
  })

  test('connected and /v1/usage report the cap', async () => {
    const { limits } = (await (await connect(narrow)).next('connected')) as unknown as { limits: object }
    expect(limits).toMatchObject({ max_symbols: 3 })
    const usage = await read<{ limits: object }>('/v1/usage', narrow)
    expect(usage.limits).toMatchObject({ ws_symbols: 3 })
  })
})

describe('long lists', () => {
  test('a list above 5,000 entries is refused as a whole, one of 5,000 is accepted', async () => {
    const socket = await connect(key)
    const names = Array.from({ length: 5_001 }, (_, n) => `x${n}`)
    socket.send({ action: 'subscribe', symbols: [...names.slice(1), euro] })
    const error = await socket.next('error')
    expect(error['code']).toBe('BAD_MESSAGE')
    expect(error['message']).toContain('a list of 5001')
    expect(await socket.subscribe([...names.slice(2), euro])).toMatchObject({ symbols: [euro] })
  })
})

describe('unsubscribe', () => {
  const unsubscribe = async (socket: StreamSocket, symbols: string[]) => {
    socket.send({ action: 'unsubscribe', symbols })
    return socket.next('unsubscribed')
  }

  test('unsubscribe is answered with its symbols', async () => {
    const socket = await connect(key)
    await socket.subscribe([euro, pound])
    expect(await unsubscribe(socket, [euro])).toEqual({ type: 'unsubscribed', symbols: [euro] })
  })

  test('unsubscribing a symbol that was never subscribed is not an error', async () => {
    const socket = await connect(key)
    await socket.subscribe([euro])
    await unsubscribe(socket, [pound, 'nonsense', '__proto__'])
    await socket.settled()
  })
})
