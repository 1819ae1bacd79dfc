import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { until } from '../../../test/acceptance/client/until.ts'
import {
  openStreamFixture,
  type StreamFixture,
  symbolBody,
  timeOf,
} from '../../../test/support/fixtures/stream-fixture.ts'
import { definition } from '../../../test/support/samples/samples.ts'
import { compoundKey, feedKey } from '../../core/feeds/compound-key.ts'

const ahead = feedKey('BROKERD', 'AHEAD')
const behind = feedKey('BROKERD', 'BEHIND')

let fixture: StreamFixture
let secret: string
beforeAll(async () => {
  fixture = await openStreamFixture({ start: timeOf(2_000) * 1_000 })
  const feedOf = (key: typeof ahead, account: string) =>
    definition({ key, broker: 'BROKERD', account, clock: { mode: 'Measured' } })
  await fixture.change(
    { kind: 'feed', id: ahead, body: { definition: feedOf(ahead, 'AHEAD'), hidden: false } },
    { kind: 'feed', id: behind, body: { definition: feedOf(behind, 'BEHIND'), hidden: false } },
    symbolBody(ahead, 'SYM0'),
    symbolBody(behind, 'SYM0'),
  )
  ;({ secret } = await fixture.issue({ feeds: [ahead, behind] }))
})
afterAll(() => fixture.close())

test.each([
  [ahead, 3 * 60],
  // Years behind, like a feed whose clock was set wrong.
  [behind, -4_018 * 1_440],
])('while the clock of %s is unknown, bars later than the requested time follow', async (feed, offset) => {
  const now = 2_000 + offset
  const symbol = compoundKey(feed, 'SYM0')
  await fixture.store(symbol, [now - 100, now - 5, now - 4], feed)
  const socket = await fixture.connect(secret)
  socket.send({ action: 'subscribe', symbols: [symbol], since: timeOf(now - 5) })
  expect(await socket.next('subscribed')).toMatchObject({ since: { [symbol]: timeOf(now - 5) } })
  await fixture.publish([symbol], now - 3, feed)
  await until('the bars', () => socket.bars(symbol).length === 2)
  expect(socket.bars(symbol).map(({ bar }) => bar.time)).toEqual([timeOf(now - 4), timeOf(now - 3)])
  expect(socket.messages.filter(({ code }) => code === 'GAP')).toEqual([])
})

test('an outage of the feed board is logged once when it begins, and once with its duration when it ends', async () => {
  let isUnavailable = true
  const own = await openStreamFixture({
    change: ({ board }) => ({
      board: {
        ...board,
        read: (feeds) => (isUnavailable ? Promise.reject(new Error('refused')) : board.read(feeds)),
      },
    }),
  })
  onTestFinished(() => own.close())
  const body = definition({ key: ahead, broker: 'BROKERD', account: 'AHEAD', clock: { mode: 'Measured' } })
  await own.change({ kind: 'feed', id: ahead, body: { definition: body, hidden: false } })
  await own.clock.advance(20_000)
  isUnavailable = false
  await own.clock.advance(20_000)
  const lines = own.logged
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => String(msg).startsWith('feed board'))
  expect(lines).toMatchObject([
    { msg: 'feed board unavailable; `since` uses the last known ticks', err: { message: 'refused' } },
    { msg: 'feed board available again', seconds: 20 },
  ])
})
