import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { Unavailable } from '../../../services/core/failure.ts'
import { type CompoundKey, compoundKey } from '../../../services/core/feeds/compound-key.ts'
import type { BarStore } from '../../../services/ports/bars.ts'
import type { StreamSocket } from '../../acceptance/client/socket.ts'
import { until } from '../../acceptance/client/until.ts'
import { live, minuteBar, type OpenedStream, openStream, zero } from './open-stream.ts'

/** For the tests of a file: a stream whose store can be unavailable or slow. */

/** The present minute: far enough from minute 0 to test bars older than a day. */
export const nowMinute = 2_000
export const day = 1_440
export const timeOf = (minute: number) => minuteBar(minute).time

/** `away`: the store is unavailable; `gate`: reads wait for this promise. */
export const store = { away: false, gate: undefined as Promise<void> | undefined }
export const gated = (bars: BarStore): BarStore => ({
  ...bars,
  async read(query) {
    await store.gate
    if (store.away) throw new Unavailable('bars')
    return bars.read(query)
  },
})

export let fixture: OpenedStream
let secret: string
let next = 0
export let [a, b] = [compoundKey(zero, 'SYM0'), compoundKey(zero, 'SYM1')]
export const foreign = compoundKey(live, 'SYM0')
beforeAll(async () => {
  fixture = await openStream({
    start: (timeOf(nowMinute) + 30) * 1000,
    change: ({ bars }) => ({ bars: gated(bars) }),
  })
  ;({ secret } = await fixture.issue({ feeds: [zero, live] }))
})
beforeEach(() => {
  store.away = false
  store.gate = undefined
  ;[a, b] = [compoundKey(zero, `SYM${next++ % 38}`), compoundKey(zero, `SYM${next++ % 38}`)]
})
const sockets: StreamSocket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.raw.terminate()
  await until('all sockets to be closed', async () => (await fixture.metric('fxd_stream_connections')) === 0)
  await fixture.stores.bars.purge(zero)
})
afterAll(() => fixture.close())

export async function opened(): Promise<StreamSocket> {
  const socket = await fixture.connect(secret)
  sockets.push(socket)
  return socket
}
export async function ask(socket: StreamSocket, more: object) {
  socket.send({ action: 'subscribe', ...more })
  return socket.next('subscribed')
}
export async function resumed(symbol: CompoundKey, minute: number): Promise<StreamSocket> {
  const socket = await opened()
  await ask(socket, { symbols: [symbol], since: timeOf(minute) })
  return socket
}
export const minutesOf = (socket: StreamSocket, symbol: CompoundKey) =>
  socket.bars(symbol).map(({ bar }) => bar.volume)
export const gapsOf = (socket: StreamSocket) => socket.messages.filter(({ code }) => code === 'GAP')
export const settledGaps = async (socket: StreamSocket) => {
  await socket.settled()
  return gapsOf(socket)
}

/** Publishes and stores minutes, like ingest. */
export async function close(symbol: CompoundKey, ...minutes: number[]): Promise<void> {
  for (const minute of minutes) {
    await fixture.publish([symbol], minute)
    await fixture.store(symbol, [minute])
  }
}
