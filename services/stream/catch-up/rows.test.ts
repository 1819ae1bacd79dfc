import { describe, expect, test } from 'vitest'
import type { StreamSocket } from '../../../test/acceptance/client/socket.ts'
import { until } from '../../../test/acceptance/client/until.ts'
import {
  a,
  ask,
  b,
  close,
  fixture,
  opened,
  store,
  useResumableStream,
} from '../../../test/support/fixtures/resumable-stream-fixture.ts'
import { minuteBar, timeOf, zero } from '../../../test/support/fixtures/stream-fixture.ts'
import type { CompoundKey } from '../../core/feeds/compound-key.ts'

useResumableStream()

const rowOf = (symbol: CompoundKey, minute: number) => {
  const { open, high, low, close: last, volume } = minuteBar(minute)
  return [symbol.slice(zero.length + 1), open, high, low, last, volume]
}
/** The frames after the answer to the last subscribe. */
const framesOf = (socket: StreamSocket) =>
  socket.messages.filter(({ type }) => ['bar', 'bars', 'minute'].includes(type))
const barsFrame = (minute: number, ...symbols: CompoundKey[]) => ({
  type: 'bars',
  feed: zero,
  time: timeOf(minute),
  bars: symbols.map((symbol) => rowOf(symbol, minute)),
})

describe('a socket whose first subscribe has `format: "rows"`', () => {
  test('gets all bars of a minute in one frame, then the marker; other sockets get single frames', async () => {
    const [rows, single] = [await opened(), await opened()]
    await ask(rows, { symbols: [a, b], format: 'rows', markers: true })
    await ask(single, { symbols: [a, b] })
    await fixture.publish([a, b], 2100)
    await fixture.stores.bus.publish({ type: 'minutes', feed: zero, from: timeOf(2100), to: timeOf(2100) }, 1)
    await rows.next('minute')
    await single.settled()
    expect(framesOf(rows)).toEqual([
      barsFrame(2100, a, b),
      { type: 'minute', feed: zero, time: timeOf(2100) },
    ])
    const { revision: _, ...bar } = minuteBar(2100)
    const singles = [a, b].map((symbol) => JSON.stringify({ type: 'bar', symbol, bar }))
    expect(single.frames.filter((frame) => frame.includes('"type":"bar'))).toEqual(singles)
  })

  test('gets replayed bars as rows, from the store and from memory, before the live ones', async () => {
    await fixture.store(a, [1993, 1994])
    const socket = await opened()
    await ask(socket, { symbols: [a], format: 'rows', since: timeOf(1992) })
    await until('the stored ones', () => framesOf(socket).length === 2)
    await close(a, 1995, 1996)
    await until('the live ones', () => framesOf(socket).length === 4)
    store.away = true
    const later = await opened()
    await ask(later, { symbols: [a], format: 'rows', since: timeOf(1995) })
    await until('the remembered one', () => framesOf(later).length === 1)
    expect(framesOf(socket)).toEqual([1993, 1994, 1995, 1996].map((minute) => barsFrame(minute, a)))
    expect(framesOf(later)).toEqual([barsFrame(1996, a)])
  })

  test('keeps its format in later subscribes, and another socket its single frames', async () => {
    const [rows, single] = [await opened(), await opened()]
    await ask(rows, { symbols: [a], format: 'rows' })
    await ask(rows, { symbols: [b] })
    await ask(single, { symbols: [a] })
    await ask(single, { symbols: [b], format: 'rows' })
    await fixture.publish([b], 2101)
    await Promise.all([rows.next('bars'), single.next('bar')])
    await Promise.all([rows.settled(), single.settled()])
    expect(framesOf(rows)).toEqual([barsFrame(2101, b)])
    expect(framesOf(single).map(({ type }) => type)).toEqual(['bar'])
  })

  test('a first `format` of bar decides for single frames', async () => {
    const socket = await opened()
    expect(await ask(socket, { symbols: [a], format: 'bar' })).toMatchObject({ symbols: [a] })
    await ask(socket, { symbols: [b], format: 'rows' })
    await fixture.publish([b], 2103)
    expect(await socket.next('bar')).toMatchObject({ symbol: b })
  })

  test('a socket that takes the place of one with rows gets single frames', async () => {
    const first = await opened()
    await ask(first, { symbols: [a], format: 'rows' })
    await first.close()
    await until('the socket to be gone', async () => (await fixture.metric('fxd_stream_connections')) === 0)
    const second = await opened()
    await ask(second, { symbols: [a] })
    await fixture.publish([a], 2102)
    expect(await second.next('bar')).toMatchObject({ symbol: a })
  })

  test.each(['"bars"', '""', '1', 'null', '["rows"]'])('a `format` of %s is refused', async (format) => {
    const socket = await opened()
    socket.send(`{"action":"subscribe","symbols":["${a}"],"format":${format}}`)
    expect(await socket.next('error')).toMatchObject({
      code: 'BAD_MESSAGE',
      message: expect.stringMatching(/^format is .*; it must be bar or rows\.$/) as string,
    })
  })
})
