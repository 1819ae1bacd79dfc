import { describe, expect, test } from 'vitest'
import type { StreamSocket } from '../../../test/acceptance/client/socket.ts'
import { until } from '../../../test/acceptance/client/until.ts'
import {
  a,
  ask,
  b,
  close,
  fixture,
  foreign,
  opened,
  store,
  useResumableStream,
} from '../../../test/support/fixtures/resumable-stream-fixture.ts'
import { live, timeOf, zero } from '../../../test/support/fixtures/stream-fixture.ts'

useResumableStream()

describe('a client that asks for markers', () => {
  const complete = (from: number, to = from, feed = zero) =>
    fixture.stores.bus.publish({ type: 'minutes', feed, from: timeOf(from), to: timeOf(to) }, 1)
  const markersOf = (socket: StreamSocket) =>
    socket.messages
      .filter(({ type }) => type === 'minute' || type === 'bar')
      .map((each) => each.time ?? 'bar')

  test('gets a marker for each complete minute after its bars, for the requested feeds only', async () => {
    const socket = await opened()
    await ask(socket, { symbols: [a], markers: true })
    await ask(socket, { symbols: [foreign] })
    await close(a, 1998)
    await complete(2010)
    await close(a, 1999)
    await complete(2011, 2012)
    await complete(2011, 2011, live)
    await socket.settled()
    expect(markersOf(socket)).toEqual(['bar', timeOf(2010), 'bar', timeOf(2011), timeOf(2012)])
    expect(socket.messages.find(({ type }) => type === 'minute')).toEqual({
      type: 'minute',
      feed: zero,
      time: timeOf(2010),
    })
  })

  test('gets the marker of a minute after the replay of its bars', async () => {
    await fixture.store(a, [1997])
    let open = (): void => undefined
    store.gate = new Promise((resolve) => (open = resolve))
    const socket = await opened()
    await ask(socket, { symbols: [a], since: timeOf(1996), markers: true })
    await close(a, 1998)
    await complete(2013)
    await socket.settled()
    expect(markersOf(socket)).toEqual([])
    open()
    await until('the marker', () => markersOf(socket).length === 3)
    expect(markersOf(socket)).toEqual(['bar', 'bar', timeOf(2013)])
  })

  test('gets no markers of a feed after it unsubscribed from the last symbol of the feed', async () => {
    const socket = await opened()
    await ask(socket, { symbols: [a], markers: true })
    socket.send({ action: 'unsubscribe', symbols: [a] })
    await socket.next('unsubscribed')
    await complete(2014)
    await socket.settled()
    expect(markersOf(socket)).toEqual([])
  })

  test('gets no markers of a feed after it subscribed with `markers` false, until it asks again', async () => {
    const socket = await opened()
    await ask(socket, { symbols: [a, foreign], markers: true })
    await ask(socket, { symbols: [a], markers: false })
    await ask(socket, { symbols: [b] })
    await complete(2015)
    await complete(2015, 2015, live)
    await ask(socket, { symbols: [b], markers: true })
    await complete(2016)
    await socket.settled()
    const frames = socket.messages.filter(({ type }) => type === 'minute')
    expect(frames.map(({ feed, time }) => [feed, time])).toEqual([
      [live, timeOf(2015)],
      [zero, timeOf(2016)],
    ])
  })

  test('gets no marker of a minute that was complete before, as in the repeated hour of a clock that is set back', async () => {
    const [first, socket] = [await opened(), await opened()]
    await complete(2020)
    await first.settled()
    await ask(socket, { symbols: [a], markers: true })
    await complete(2019)
    await complete(2020, 2021)
    await socket.settled()
    expect(markersOf(socket)).toEqual([timeOf(2021)])
  })

  test('a `markers` value other than true and false is refused', async () => {
    const socket = await opened()
    socket.send({ action: 'subscribe', symbols: [a], markers: 'yes' })
    expect(await socket.next('error')).toMatchObject({ code: 'BAD_MESSAGE' })
  })
})
