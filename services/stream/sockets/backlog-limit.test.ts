import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  openStreamFixture,
  type StreamFixture,
  symbolNames,
  zero,
} from '../../../test/support/fixtures/stream-fixture.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import { backlogBytesMax as oneBacklogBytesMax } from '../connection/connection.ts'

const backlogBytesMax = 4 * oneBacklogBytesMax
const slowSockets = 12
const symbols = symbolNames.map((name) => compoundKey(zero, name))

let fixture: StreamFixture
let secret: string
beforeAll(async () => {
  fixture = await openStreamFixture({ backlogBytesMax })
  ;({ secret } = await fixture.issue())
})
afterAll(() => fixture.close())

const connect = async () => {
  const socket = await fixture.connect(secret)
  await socket.subscribe(symbols)
  return socket
}

test('when many clients stop reading, the sockets with most queued bytes are cut, and others get every bar', async () => {
  const slow = await Promise.all(Array.from({ length: slowSockets }, connect))
  const good = await connect()
  for (const { raw } of slow) raw.pause()

  const minutesPerBurst = 20
  let minutes = 0
  let most = 0
  while ((await fixture.metric('fxd_stream_closes_total{code="4001"}')) === 0) {
    for (let n = 0; n < minutesPerBurst; n++) await fixture.publish(symbols, minutes++)
    await good.settled()
    most = Math.max(most, fixture.stream.load().backlogBytes)
  }

  const burstBytes = minutesPerBurst * symbols.length * 200 * slowSockets
  expect(most).toBeLessThan(backlogBytesMax + burstBytes)
  expect(fixture.stream.load().backlogBytes).toBeLessThan(backlogBytesMax / 2 + burstBytes)
  expect(fixture.logged.filter((line) => line.includes('sockets with the most bytes were cut'))).toHaveLength(
    1,
  )
  const cut = await fixture.metric('fxd_stream_closes_total{code="4001"}')
  expect(cut).toBeLessThan(slowSockets)
  expect(fixture.stream.load().connections).toBe(slowSockets + 1 - cut)
  expect(good.bars()).toHaveLength(minutes * symbols.length)

  for (const { raw } of slow) raw.resume()
  const ends = await Promise.all(
    slow.map((socket) =>
      Promise.race([
        socket.closed.then(({ code }) => `closed with ${code}`),
        socket.settled().then(() => `${socket.bars().length} bars`),
      ]),
    ),
  )
  // A close frame would be queued behind the bars, so there is none.
  expect(ends.filter((end) => end === 'closed with 1006')).toHaveLength(cut)
  expect(ends.filter((end) => end === `${minutes * symbols.length} bars`)).toHaveLength(slowSockets - cut)
}, 60_000)

test('a client that sends protocol pings and does not read is closed with 4001 at the limit of queued bytes', async () => {
  const closes = (): Promise<number> => fixture.metric('fxd_stream_closes_total{code="4001"}')
  const before = await closes()
  const backlog = fixture.stream.load().backlogBytes
  const socket = await connect()
  socket.raw.pause()
  // The system accepts a few megabytes before anything is queued.
  for (let minute = 50_000; fixture.stream.load().backlogBytes - backlog < 0.9 * oneBacklogBytesMax; minute++)
    await fixture.publish(symbols, minute)
  expect(await closes()).toBe(before)

  const pingsPerSecond = 50
  const payload = Buffer.alloc(125, 'x')
  for (let second = 0; second < 25 && (await closes()) === before; second++) {
    for (let n = 0; n < pingsPerSecond; n++) {
      socket.raw.ping(payload)
      await new Promise(setImmediate)
    }
    await fixture.clock.advance(1_000)
  }
  expect(await closes()).toBe(before + 1)
  socket.raw.terminate()
}, 60_000)
