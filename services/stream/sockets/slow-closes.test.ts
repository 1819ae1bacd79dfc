import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { StreamSocket } from '../../../test/acceptance/client/socket.ts'
import {
  minuteBar,
  openStreamFixture,
  type StreamFixture,
  zero,
} from '../../../test/support/fixtures/stream-fixture.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import { closings } from '../connection/close-codes.ts'
import { Connection } from '../connection/connection.ts'
import { MinuteMarkers } from '../live/minute-markers.ts'

const [a, b] = [compoundKey(zero, 'SYM0'), compoundKey(zero, 'SYM1')]

let fixture: StreamFixture
let minute = 0
beforeAll(async () => {
  fixture = await openStreamFixture({ start: minuteBar(20).time * 1000 })
})
afterEach(() => void vi.restoreAllMocks())
afterAll(() => fixture.close())

const connect = async (): Promise<StreamSocket> => fixture.connect((await fixture.issue()).secret)

/** The next write to a socket closes it, as if a megabyte was queued for its client. */
const closeAtNextFrame = () =>
  vi.spyOn(Connection.prototype, 'write').mockImplementationOnce(function (this: Connection) {
    this.end(closings.tooSlow)
    return true
  })

/** A socket that the next bar of `a` will close. */
async function aboutToClose(slow: StreamSocket): Promise<StreamSocket> {
  await slow.subscribe([a])
  fixture.turns.hold()
  await fixture.publish([a], ++minute)
  closeAtNextFrame()
  return slow
}

async function expectNothingForNewcomer(): Promise<void> {
  const next = await connect()
  await fixture.publish([a, b], ++minute)
  await next.settled()
  expect(next.messages.map(({ type }) => type)).toEqual(['connected', 'pong'])
  next.raw.terminate()
  await expect.poll(() => fixture.stream.load().connections).toBe(0)
}

test('a socket that is closed as too slow while it subscribes leaves no subscription for the next socket of its row', async () => {
  const slow = await aboutToClose(await connect())
  slow.send({ action: 'subscribe', symbols: [b] })
  expect(await slow.closed).toMatchObject({ code: 4001 })
  fixture.turns.release()
  await expectNothingForNewcomer()
  expect(fixture.stream.load().subscriptions).toBe(0)
})

test('a socket that is closed as too slow when its grant is withdrawn leaves nothing for the next socket of its row', async () => {
  const key = await fixture.issue()
  const slow = await aboutToClose(await fixture.connect(key.secret))
  await key.update({ feeds: [] })
  expect(await slow.closed).toMatchObject({ code: 4001 })
  fixture.turns.release()
  await expectNothingForNewcomer()
  expect(fixture.stream.load().subscriptions).toBe(0)
})

test('a socket that is closed by the answer to its subscription gets no markers', async () => {
  const listens = vi.spyOn(MinuteMarkers.prototype, 'listen')
  const slow = await connect()
  closeAtNextFrame()
  slow.send({ action: 'subscribe', symbols: [a], markers: true })
  expect(await slow.closed).toMatchObject({ code: 4001 })
  const [[connection] = []] = listens.mock.calls
  const [markers] = listens.mock.contexts as unknown as readonly MinuteMarkers[]
  expect(connection && markers?.has(connection)).toBe(false)
})
