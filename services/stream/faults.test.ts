import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { StreamSocket } from '../../test/acceptance/client/socket.ts'
import { openStreamFixture, type StreamFixture } from '../../test/support/fixtures/stream-fixture.ts'
import { Subscriptions } from './fan-out/subscriptions.ts'
import { RecentBars } from './live/recent-bars.ts'

let fixture: StreamFixture
beforeAll(async () => {
  fixture = await openStreamFixture()
})
afterEach(() => void vi.restoreAllMocks())
afterAll(() => fixture.close())

const secretWord = 'what-the-client-sent'
/** A defect whose message quotes client data, as errors of parsers do. */
const defect = (): never => {
  throw new SyntaxError(`unexpected ${secretWord}`)
}
const connect = async (): Promise<StreamSocket> => fixture.connect((await fixture.issue()).secret)
const faults = (place: string): Promise<number> => fixture.metric(`fxd_stream_faults_total{place="${place}"}`)

async function expectOneSocketClosed(broken: StreamSocket, beside: StreamSocket): Promise<void> {
  expect(await broken.closed).toEqual({ code: 1011, reason: 'the service failed' })
  await beside.settled()
  const lines = fixture.logged.splice(0).filter((line) => line.includes('defect in fxd'))
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 50, place: 'socket', fault: 'SyntaxError' })
  expect(lines[0]).not.toContain(secretWord)
}

test('a defect in the handling of a message closes that socket with 1011, is logged and counted', async () => {
  const [broken, beside] = [await connect(), await connect()]
  const before = await faults('socket')
  vi.spyOn(fixture.registry, 'view').mockImplementationOnce(defect)
  broken.send({ action: 'subscribe', symbols: [secretWord] })
  await expectOneSocketClosed(broken, beside)
  expect(await faults('socket')).toBe(before + 1)
})

test('a defect in the handling of a queued message closes that socket with 1011', async () => {
  const [broken, beside] = [await connect(), await connect()]
  for (let n = 0; n < 50; n++) broken.send({ action: 'ping' })
  broken.send({ action: 'subscribe', symbols: [secretWord] })
  await expect.poll(() => broken.frames.length).toBe(51)
  vi.spyOn(fixture.registry, 'view').mockImplementationOnce(defect)
  await fixture.clock.advance(100)
  await expectOneSocketClosed(broken, beside)
})

test('a defect in a replay closes that socket with 1011', async () => {
  const [broken, beside] = [await connect(), await connect()]
  vi.spyOn(RecentBars.prototype, 'covers').mockImplementationOnce(defect)
  const since = Math.floor(fixture.clock.utcMs() / 1000) - 600
  broken.send({ action: 'subscribe', symbols: ['BROKERA:ZERO:SYM0'], since })
  await expectOneSocketClosed(broken, beside)
})

test('after a defect while a socket leaves, its slot is free and other sockets work', async () => {
  const { secret, inUse } = await fixture.issue()
  const [broken, beside] = [await fixture.connect(secret), await connect()]
  vi.spyOn(Subscriptions.prototype, 'closeRow').mockImplementationOnce(defect)
  broken.raw.close(1000)
  expect((await broken.closed).code).toBe(1000)
  expect(await inUse()).toBe(0)
  await beside.settled()
  expect(fixture.logged.splice(0).filter((line) => line.includes('defect in fxd'))).toHaveLength(1)
})

test('a defect in the check of an upgrade answers 500 and is counted', async () => {
  const { secret } = await fixture.issue()
  const before = await faults('upgrade')
  vi.spyOn(fixture.registry, 'view').mockImplementationOnce(defect)
  await expect(fixture.connect(secret)).rejects.toThrow('500')
  expect(await faults('upgrade')).toBe(before + 1)
})
