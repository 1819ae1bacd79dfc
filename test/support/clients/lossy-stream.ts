import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { Unavailable } from '../../../services/core/failure.ts'
import { type CompoundKey, compoundKey, type FeedKey } from '../../../services/core/feeds/compound-key.ts'
import type { BarStore } from '../../../services/ports/bars.ts'
import { type Bus, feedOfEvent } from '../../../services/ports/bus.ts'
import type { StreamSocket } from '../../acceptance/client/socket.ts'
import { until } from '../../acceptance/client/until.ts'
import { live, minuteBar, type OpenedStream, openStream, zero } from './open-stream.ts'

/** For the tests of a file: a stream whose bus can lose events, and whose store can be unavailable. */

/** `losing`: the bus loses all events of feeds; `away`: the store is unavailable. */
export const faults = { losing: false, away: false }

export const losing = (bus: Bus): Bus => ({
  ...bus,
  follow(follower) {
    const lost = new Map<FeedKey, number>()
    return bus.follow({
      deliver(delivered) {
        const feed = feedOfEvent(delivered.event)
        if (faults.losing && feed) return void lost.set(feed, delivered.position)
        const upTo = feed && lost.get(feed)
        if (feed && upTo !== undefined) follower.lost(feed, upTo)
        if (feed) lost.delete(feed)
        follower.deliver(delivered)
      },
      lost: follower.lost,
    })
  },
})
const failing = (bars: BarStore): BarStore => ({
  ...bars,
  read: (query) => (faults.away ? Promise.reject(new Unavailable('bars')) : bars.read(query)),
})

export let fixture: OpenedStream
let secret: string
let next = 0
/** Symbols that no other test uses. */
export let a: CompoundKey
export let b: CompoundKey
beforeAll(async () => {
  fixture = await openStream({ change: ({ bus, bars }) => ({ bus: losing(bus), bars: failing(bars) }) })
  ;({ secret } = await fixture.issue({ feeds: [zero, live] }))
})
beforeEach(() => {
  faults.losing = false
  faults.away = false
  ;[a, b] = [compoundKey(zero, `SYM${next++}`), compoundKey(zero, `SYM${next++}`)]
})
const sockets: StreamSocket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.raw.terminate()
  await until('all sockets to be closed', () => fixture.stream.connections() === 0)
})
afterAll(() => fixture.close())

export async function subscribed(...symbols: CompoundKey[]): Promise<StreamSocket> {
  const socket = await fixture.connect(secret)
  sockets.push(socket)
  await socket.subscribe(symbols)
  return socket
}
export const minutesOf = (socket: StreamSocket, symbol: CompoundKey) =>
  socket.bars(symbol).map(({ bar }) => bar.volume)
export const gapsOf = (socket: StreamSocket) => socket.messages.filter(({ code }) => code === 'GAP')
export const applied = (position: number) =>
  fixture.stores.bus.publish({ type: 'applied', feed: zero, position }, 1)
export async function lose<T>(publish: () => Promise<T>): Promise<T> {
  faults.losing = true
  const outcome = await publish()
  faults.losing = false
  return outcome
}
export const timeOf = (minute: number) => minuteBar(minute).time
