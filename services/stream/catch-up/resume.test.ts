import { describe, expect, test } from 'vitest'
import { until } from '../../../test/acceptance/client/until.ts'
import {
  a,
  ask,
  b,
  close,
  day,
  fixture,
  foreign,
  nowMinute,
  opened,
  resumed,
  settledGaps,
  store,
  useResumableStream,
} from '../../../test/support/fixtures/resumable-stream-fixture.ts'
import {
  feedBody,
  gapsOf,
  minuteBar,
  minutesOf,
  timeOf,
  zero,
} from '../../../test/support/fixtures/stream-fixture.ts'
import { symbolRecord } from '../../../test/support/samples/samples.ts'
import { barsOf } from '../../core/bars/bar.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'

useResumableStream()

describe('a client that sends `since`', () => {
  test('gets the stored bars after its time, then the live ones, each once', async () => {
    await fixture.store(a, [1990, 1991, 1992, 1993])
    const socket = await resumed(a, 1991)
    await until('the stored ones', () => minutesOf(socket, a).length === 2)
    await close(a, 1994, 1995)
    await until('the live ones', () => minutesOf(socket, a).length === 4)
    expect(minutesOf(socket, a)).toEqual([1992, 1993, 1994, 1995])
    expect(await settledGaps(socket)).toEqual([])
  })

  test('gets recently pushed bars without a read of the store', async () => {
    const other = await opened()
    await other.subscribe([b])
    await close(b, 1980, 1981, 1982, 1983)
    store.away = true
    const socket = await resumed(b, 1981)
    await until('the bars', () => minutesOf(socket, b).length === 2)
    expect(minutesOf(socket, b)).toEqual([1982, 1983])
  })

  test('gets bars that the broker corrected with the values of history, for any `since`', async () => {
    await close(a, 1980, 1981, 1982, 1983)
    const corrected = { ...minuteBar(1982), volume: 7, revision: 2 }
    const series = { feed: zero, symbol: a, resolution: '1' } as const
    await fixture.stores.bars.write([{ series, bars: barsOf([corrected]) }], 'live')
    const { time } = corrected
    await fixture.stores.bus.publish({ type: 'revised', series, from: time, to: time }, 1)
    for (const [since, volumes] of [
      [1980, [1981, 7, 1983]],
      [1982, [1983]],
    ] as const) {
      const socket = await resumed(a, since)
      await until('the bars', () => minutesOf(socket, a).length === volumes.length)
      expect(minutesOf(socket, a)).toEqual(volumes)
    }
  })

  test('gets no bars that were purged while their feed was out of the registry', async () => {
    await close(a, 1995, 1996, 1997)
    await fixture.stores.bus.publish({ type: 'settled', feed: zero }, 1)
    const shown = feedBody(zero)
    if (shown.kind === 'feed') await fixture.change({ ...shown, body: { ...shown.body, hidden: true } })
    await fixture.stores.bars.purge(zero)
    await fixture.change(shown)
    const socket = await resumed(a, 1995)
    await close(a, 1999)
    await until('the live one', () => minutesOf(socket, a).includes(1999))
    expect(minutesOf(socket, a)).toEqual([1999])
  })

  test('gets in the answer the time after which bars follow, at most a day ago', async () => {
    await fixture.store(a, [nowMinute - day - 5, nowMinute - day + 1, 1999])
    const socket = await opened()
    const asked = timeOf(nowMinute - day - 100)
    const { since, symbols } = await ask(socket, { symbols: [a, b], since: { [a]: asked } })
    const start = Math.floor(fixture.clock.utcMs() / 1000) - 86_400
    expect(symbols).toEqual([a, b])
    expect(since).toEqual({ [a]: start })
    await until('the bars', () => minutesOf(socket, a).length === 2)
    expect(minutesOf(socket, a)).toEqual([nowMinute - day + 1, 1999])
    expect(gapsOf(socket)).toMatchObject([{ gaps: [{ symbol: a, after: asked, until: start }] }])
    expect(await fixture.metric('fxd_stream_gaps_total{cause="asked"}')).toBe(1)
  })

  test.each([0, day])(
    'with the present time gets the bar that closes next, and no replay, at a delay of %i minutes',
    async (delay) => {
      const symbol = compoundKey(zero, `DELAY${delay}`)
      const body = symbolRecord({ symbol, feed: zero, name: `DELAY${delay}`, delaySeconds: delay * 60 })
      await fixture.change({ kind: 'symbol', id: symbol, body })
      const forming = nowMinute - delay
      await fixture.store(symbol, [forming - 1])
      const socket = await opened()
      const { since } = await ask(socket, { symbols: [symbol], since: timeOf(nowMinute) + 30 })
      expect(since).toEqual({ [symbol]: timeOf(forming - 1) + 30 })
      await close(symbol, forming)
      await until('the live one', () => minutesOf(socket, symbol).length === 1)
      expect(minutesOf(socket, symbol)).toEqual([forming])
      expect(await settledGaps(socket)).toEqual([])
    },
  )

  test('with a future time gets all bars after the last live one, late ones too', async () => {
    await close(a, nowMinute - 3)
    const socket = await opened()
    const { since } = await ask(socket, { symbols: [a], since: timeOf(nowMinute + 500) })
    expect(since).toEqual({ [a]: timeOf(nowMinute - 3) })
    await close(a, nowMinute - 1, nowMinute)
    await until('the live ones', () => minutesOf(socket, a).length === 2)
    expect(minutesOf(socket, a)).toEqual([nowMinute - 1, nowMinute])
  })

  test('with the time of a live bar that is later than the feed clock gets only the bars after it', async () => {
    const ahead = nowMinute + 60
    await close(a, ahead - 1, ahead, ahead + 1)
    const socket = await opened()
    const { since } = await ask(socket, { symbols: [a], since: { [a]: timeOf(ahead) } })
    expect(since).toEqual({ [a]: timeOf(ahead) })
    await close(a, ahead + 2)
    await until('the bars', () => minutesOf(socket, a).length === 2)
    expect(minutesOf(socket, a)).toEqual([ahead + 1, ahead + 2])
    const later = await opened()
    expect((await ask(later, { symbols: [a], since: timeOf(ahead + 500) })).since).toEqual({
      [a]: timeOf(ahead + 2),
    })
  })

  test('gets no second replay of a symbol that is subscribed already', async () => {
    await fixture.store(a, [1998])
    const socket = await opened()
    await socket.subscribe([a])
    expect(await ask(socket, { symbols: [a], since: timeOf(1990) })).toMatchObject({ since: {} })
    await close(a, 1999)
    await until('the live one', () => minutesOf(socket, a).length === 1)
    expect(minutesOf(socket, a)).toEqual([1999])
  })

  test('a client without `since` gets no replay and no `since` in the answer', async () => {
    await fixture.store(a, [1998])
    const socket = await opened()
    expect(await ask(socket, { symbols: [a] })).toEqual({ type: 'subscribed', symbols: [a], rejected: [] })
    await close(a, 1999)
    await fixture.stores.bus.publish({ type: 'minutes', feed: zero, from: timeOf(1999), to: timeOf(1999) }, 1)
    await socket.settled()
    expect(socket.messages.map(({ type }) => type)).toEqual(['connected', 'subscribed', 'bar', 'pong'])
  })

  test('one time for symbols of two feeds is refused; for one feed it applies to every symbol', async () => {
    const socket = await opened()
    socket.send({ action: 'subscribe', symbols: [a, foreign], since: timeOf(1) })
    expect(await socket.next('error')).toMatchObject({ code: 'BAD_MESSAGE' })
    const { since } = await ask(socket, { symbols: [a, b], since: timeOf(1999) })
    expect(since).toEqual({ [a]: timeOf(1999), [b]: timeOf(1999) })
  })
})
