import { afterEach, beforeAll, expect, test } from 'vitest'
import { type Bar, minutes } from './client/bars.ts'
import { minutesAgo } from './client/clocks.ts'
import { ask } from './client/http.ts'
import { FollowedFile } from './client/input.ts'
import { issueKey, ungrantedFeed } from './client/keys.ts'
import { closeSockets, connect, type Message } from './client/socket.ts'
import { until } from './client/until.ts'

const feed = 'BROKERA:ZERO'
const name = 'NZDCHF'
const symbol = `${feed}:${name}`

let key = ''
beforeAll(async () => {
  key = (await issueKey()).key
})
afterEach(closeSockets)

const rowOf = ({ open, high, low, close, volume }: Bar) => [name, open, high, low, close, volume]

test('a socket of a whole feed gets rows, the feed’s status, symbols that join later, and corrections as events', async () => {
  const bars = minutes(minutesAgo(feed, 100), 12, 0.53, 5)
  const coming = bars.slice(10) as [Bar, Bar]
  const socket = await connect(key)
  socket.send({
    action: 'subscribe',
    feeds: [feed, ungrantedFeed],
    format: 'rows',
    events: ['feed', 'revised'],
  })
  const subscribed = await socket.next('subscribed')
  expect(Object.keys(subscribed)).toEqual(['type', 'symbols', 'rejected', 'rejected_feeds', 'last'])
  expect(subscribed).toMatchObject({ rejected: [], rejected_feeds: [ungrantedFeed], last: true })
  expect(subscribed['symbols']).toContain(`${feed}:EURUSD`)
  const text = expect.any(String) as string
  expect(await socket.next('feed')).toEqual({
    type: 'feed',
    feed,
    status: text,
    changed_at: expect.any(Number) as number,
    liveness_source: text,
  })
  // Other tests change the status of the feed; a frame follows within 5 s.
  await until('a frame with the status of the feed', async () => {
    const { body } = await ask<{ feeds: Record<string, Record<string, unknown>> }>('/v1/status', { key })
    const shown = socket.messages.findLast(({ type }) => type === 'feed')
    return (['status', 'liveness_source'] as const).every(
      (field) => shown?.[field] === body.feeds[feed]?.[field],
    )
  })

  const file = new FollowedFile('brokera-zero', `${name}.z_M1.csv`)
  file.write(bars.slice(0, 10))
  await until('the new symbol', () =>
    socket.messages.find(
      (frame) => frame['reason'] === 'joined' && (frame['symbols'] as string[]).includes(symbol),
    ),
  )
  const rows = () =>
    socket.messages
      .filter(({ type, time }) => type === 'bars' && Number(time) >= coming[0].time)
      .flatMap((frame) =>
        (frame['bars'] as unknown[][])
          .filter(([each]) => each === name)
          .map((row) => ({ time: frame['time'], row })),
      )
  const corrected = { ...coming[0], volume: 9 }
  file.append(coming[0])
  await until('the first row', () => rows().length > 0)
  file.append(corrected, coming[1])
  await until('the second row', () => rows().length > 1)
  expect(rows()).toEqual(coming.map((bar) => ({ time: bar.time, row: rowOf(bar) })))
  const { time } = coming[0]
  const isRevision = (frame: Message): boolean =>
    frame.type === 'revised' && frame['symbol'] === symbol && frame['resolution'] === '1'
  const revised = await until('the correction', () =>
    socket.messages.find((frame) => isRevision(frame) && frame['to'] === time),
  )
  expect(revised).toEqual({ type: 'revised', symbol, resolution: '1', from: time, to: time })
})
