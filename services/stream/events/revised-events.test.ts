import { expect, test } from 'vitest'
import { until } from '../../../test/acceptance/client/until.ts'
import { zero } from '../../../test/support/fixtures/stream-fixture.ts'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import type { Connection } from '../connection/connection.ts'
import { Subscriptions } from '../fan-out/subscriptions.ts'
import { RevisedEvents } from './revised-events.ts'

test('frames for many sockets take several turns of the event loop, and each socket gets all of its frames at once', async () => {
  const clock = createVirtualClock()
  const subscriptions = new Subscriptions()
  const writesByTurn = [0]
  const soon = (run: () => void): void =>
    clock.soon(() => {
      writesByTurn.push(0)
      run()
    })
  const events = new RevisedEvents({ clock: { ...clock, soon }, subscriptions })
  const symbols = ['SYM0', 'SYM1'].map((name) => compoundKey(zero, name))
  const written: string[] = []
  for (let i = 0; i < 5; i++) {
    const row = subscriptions.openRow()
    for (const symbol of symbols) subscriptions.add(row, subscriptions.symbols.idOf(symbol))
    const write = (frames: string): void => {
      written.push(frames)
      writesByTurn.push((writesByTurn.pop() ?? 0) + 1)
      // Frames for one socket take 3 ms.
      clock.freezeFor(3)
    }
    events.listen({ row, write } as unknown as Connection, [zero], true)
  }
  const at = 60 as FeedSeconds
  for (const symbol of symbols)
    events.revised({ series: { feed: zero, symbol, resolution: '1' }, from: at, to: at })
  await clock.advance(2_000)
  await until('all sockets to have their frames', () => written.length >= 5)
  expect(writesByTurn.filter((count) => count > 0)).toEqual([2, 2, 1])
  expect(new Set(written).size).toBe(1)
  for (const symbol of symbols) expect(written[0]).toContain(symbol)
  events.close()
})
